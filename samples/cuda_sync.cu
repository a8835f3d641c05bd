/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_sync [ROUNDS] - a solver that waits after every kernel although nothing
 * needs the result: ROUNDS (40) kernels of 15 ms, after each cudaDeviceSynchronize
 * and 15 ms of work on the CPU that could have gone on meanwhile.
 *
 * The trace must show: as many synchronizations as kernels; the GPU idle for about
 * half of the time; hpct-blame names `bookkeeping` below main;solve first, for
 * nearly all of the idleness, and among what could be gained the synchronization (`early-sync`).
 */
#include "cuda.cuh"

__global__ void relax(unsigned long long ns)
{
	work(ns);
}

static __attribute__((noinline)) void bookkeeping(void)
{
	burn(15000000);
}

static __attribute__((noinline)) void solve(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		relax<<<132, 128>>>(15000000);
		CHECK(cudaDeviceSynchronize()); /* needless */
		bookkeeping();
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 40;

	CHECK(cudaFree(0));
	solve(rounds);
	printf("kernels %d synchronizations %d\n", rounds, rounds);
	return 0;
}
