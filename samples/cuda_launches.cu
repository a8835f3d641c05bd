/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_launches [COUNT] - COUNT (20000) launches of an empty kernel, from a call
 * path of six functions, and what one launch took the CPU.
 *
 * The trace must show: COUNT + 100 kernels `nothing`, all launched below
 * main;f1;f2;f3;f4;f5;launch. The program prints its own ns per launch.
 */
#include "cuda.cuh"

__global__ void nothing(void)
{
}

static __attribute__((noinline)) void launch(int count)
{
	for (int i = 0; i < count; i++)
		nothing<<<1, 1>>>();
}

#define LEVEL(name, callee)                                  \
	static __attribute__((noinline)) void name(int count) \
	{                                                    \
		callee(count);                               \
		asm volatile("" ::: "memory");               \
	}
LEVEL(f5, launch)
LEVEL(f4, f5)
LEVEL(f3, f4)
LEVEL(f2, f3)
LEVEL(f1, f2)

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 20000;
	unsigned long long begin, took = 0;

	f1(100);
	CHECK(cudaDeviceSynchronize());
	/* In rounds that fit the driver's queue: the cost of a launch, not of waiting for room. */
	for (int done = 0; done < count; done += 500) {
		begin = now_ns();
		f1(count - done < 500 ? count - done : 500);
		took += now_ns() - begin;
		CHECK(cudaDeviceSynchronize());
	}
	printf("kernels %d ns_per_launch %.1f\n", count + 100, (double)took / count);
	return 0;
}
