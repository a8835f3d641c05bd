/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_launches [COUNT] - COUNT (20000) launches of an empty kernel, from a call
 * path of six functions, and what one launch took the CPU: the median of rounds of
 * 500.
 *
 * The trace must show: COUNT + 100 kernels `nothing`, all launched below
 * main;f1;f2;f3;f4;f5;launch. The program prints its own ns per launch.
 */
#include "cuda.cuh"

#include <algorithm>
#include <vector>

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
	std::vector<double> took;

	f1(100);
	CHECK(cudaDeviceSynchronize());
	/* In rounds that fit the driver's queue: the cost of a launch, not of waiting for room. */
	for (int done = 0; done < count; done += 500) {
		int now = count - done < 500 ? count - done : 500;
		unsigned long long begin = now_ns();

		f1(now);
		took.push_back((double)(now_ns() - begin) / now);
		CHECK(cudaDeviceSynchronize());
	}
	std::sort(took.begin(), took.end());
	printf("kernels %d ns_per_launch %.1f\n", count + 100, took[took.size() / 2]);
	return 0;
}
