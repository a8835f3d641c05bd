// SPDX-License-Identifier: Apache-2.0
// chain.cu - chains of short kernels, launched one by one, as a CUDA graph, and between long kernels that hide the
// launches: way, microseconds a chain.
#include <chrono>
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void step_alone(float *x, int n) { for (int k = 0; k < n; k++) x[threadIdx.x] = x[threadIdx.x] * 0.9f + 1; }
__global__ void step_graph(float *x, int n) { for (int k = 0; k < n; k++) x[threadIdx.x] = x[threadIdx.x] * 0.9f + 1; }
__global__ void step_long(float *x, int n) { for (int k = 0; k < n; k++) x[threadIdx.x] = x[threadIdx.x] * 0.9f + 1; }

template <class F> static void measure(const char *name, F chain)
{
	using clock = std::chrono::steady_clock;
	for (int i = 0; i < 20; i++)
		chain();
	auto from = clock::now();
	for (int i = 0; i < 500; i++)
		chain();
	printf("%s\t%.2f\n", name, std::chrono::duration<double, std::micro>(clock::now() - from).count() / 500);
	fflush(stdout);
}

int main()
{
	float *x;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t whole;
	cudaMalloc(&x, 1 << 20);
	cudaStreamCreate(&stream);
	measure("alone", [&] {
		for (int i = 0; i < 20; i++)
			step_alone<<<8, 128, 0, stream>>>(x, 1);
		cudaStreamSynchronize(stream);
	});
	cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
	for (int i = 0; i < 20; i++)
		step_graph<<<8, 128, 0, stream>>>(x, 1);
	cudaStreamEndCapture(stream, &graph);
	cudaGraphInstantiate(&whole, graph, 0);
	measure("graph", [&] {
		cudaGraphLaunch(whole, stream);
		cudaStreamSynchronize(stream);
	});
	measure("long", [&] {
		for (int i = 0; i < 20; i++)
			step_long<<<8, 128, 0, stream>>>(x, 100);
		cudaStreamSynchronize(stream);
	});
	printf("%s\n", cudaGetErrorString(cudaGetLastError()));
	return 0;
}
