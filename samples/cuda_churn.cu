/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_churn [ROUNDS] - allocates and frees 64 MiB of the GPU's memory around each
 * of ROUNDS (30) short kernels.
 *
 * The trace must show: ROUNDS allocations and releases of 64 MiB of device memory
 * below main;fresh_buffer and main;drop_buffer; the GPU idle most of the time, and
 * hpct-blame naming those two first.
 */
#include "cuda.cuh"

#define BYTES (64u << 20)

__global__ void touch(char *data, unsigned long long ns)
{
	data[threadIdx.x] = 1;
	work(ns);
}

static __attribute__((noinline)) char *fresh_buffer(void)
{
	char *data;

	CHECK(cudaMalloc(&data, BYTES));
	return data;
}

static __attribute__((noinline)) void drop_buffer(char *data)
{
	CHECK(cudaFree(data));
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 30;

	for (int i = 0; i < rounds; i++) {
		char *data = fresh_buffer();

		touch<<<1, 32>>>(data, 50000);
		drop_buffer(data);
	}
	printf("kernels %d allocations %d releases %d\n", rounds, rounds, rounds);
	return 0;
}
