/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.cuh - what the CUDA samples share: errors end the program, kernels of a known length. */
#ifndef SAMPLES_CUDA_CUH
#define SAMPLES_CUDA_CUH

#include <cstdio>
#include <cstdlib>
#include <ctime>

#define CHECK(call)                                                                          \
	do {                                                                                 \
		cudaError_t error_ = (call);                                                 \
		if (error_ != cudaSuccess) {                                                 \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));      \
			exit(1);                                                             \
		}                                                                            \
	} while (0)

static inline unsigned long long now_ns(clockid_t clock = CLOCK_MONOTONIC)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

/* Works for so many nanoseconds of the GPU's own clock. */
static __device__ inline void work(unsigned long long ns)
{
	unsigned long long begin, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - begin < ns);
}

/* The same on a processor, of its CPU clock. */
static inline __attribute__((always_inline)) void burn(unsigned long long ns)
{
	unsigned long long until = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	volatile double x = 1;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
}

#endif
