/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_graph [LAUNCHES] - one stream captured into a graph of 20 kernels, a set and
 * a copy, launched LAUNCHES (10) times.
 *
 * The trace must show: LAUNCHES x 20 kernels, LAUNCHES sets and copies of 4096
 * bytes, each below main;replay and with the number of its node; the same node
 * numbers in each launch. With `hpct-record --cuda-graphs graph`: LAUNCHES spans
 * `graph` instead. The capture itself runs nothing.
 */
#include "cuda.cuh"

#define NODES 20

__global__ void node(float *data, unsigned long long ns)
{
	work(ns);
	data[threadIdx.x] += 1;
}

static __attribute__((noinline)) void replay(cudaGraphExec_t graph, cudaStream_t stream)
{
	CHECK(cudaGraphLaunch(graph, stream));
}

int main(int argc, char **argv)
{
	int launches = argc > 1 ? atoi(argv[1]) : 10;
	float *data, *host;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaMalloc(&data, 4096));
	CHECK(cudaMallocHost(&host, 4096));
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	CHECK(cudaMemsetAsync(data, 0, 4096, stream));
	for (int i = 0; i < NODES; i++)
		node<<<1, 32, 0, stream>>>(data, 20000);
	CHECK(cudaMemcpyAsync(host, data, 4096, cudaMemcpyDeviceToHost, stream));
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < launches; i++)
		replay(exec, stream);
	CHECK(cudaStreamSynchronize(stream));
	printf("kernels %d sets %d copies %d value %g\n", launches * NODES, launches, launches, (double)host[0]);
	return host[0] == NODES ? 0 : 1;
}
