/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_streams [ROUNDS] - four streams, each with ROUNDS (10) kernels `step`, 1 ms
 * long each, that run side by side.
 *
 * The trace must show: four GPU queues with ROUNDS kernels each, all launched below
 * main;round; about 1 ms per kernel; nearly all of the busy time with four streams
 * busy; union of busy time ROUNDS ms, not 4 x ROUNDS ms.
 */
#include "cuda.cuh"

#define STREAMS 4

__global__ void step(unsigned long long ns)
{
	work(ns);
}

static __attribute__((noinline)) void round_of(cudaStream_t *streams)
{
	for (int i = 0; i < STREAMS; i++)
		step<<<1, 32, 0, streams[i]>>>(1000000);
	CHECK(cudaGetLastError());
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	cudaStream_t streams[STREAMS];

	for (int i = 0; i < STREAMS; i++)
		CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
	for (int i = 0; i < rounds; i++)
		round_of(streams);
	CHECK(cudaDeviceSynchronize());
	printf("kernels %d\n", rounds * STREAMS);
	return 0;
}
