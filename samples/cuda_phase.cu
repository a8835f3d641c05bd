/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_phase [ROUNDS] - a step on the CPU between two kernels: ROUNDS (20) times a
 * kernel `forward` of 15 ms, then `assemble` on the CPU for 40 ms while the GPU has
 * nothing to do, then a kernel `backward` of 5 ms.
 *
 * The trace must show: the GPU idle for about two thirds of the time; hpct-blame names `assemble`
 * first, for nearly all of it; as many `forward` as `backward`.
 */
#include "cuda.cuh"

__global__ void forward(unsigned long long ns)
{
	work(ns);
}

__global__ void backward(unsigned long long ns)
{
	work(ns);
}

static __attribute__((noinline)) void assemble(void)
{
	burn(40000000);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	cudaStream_t stream;

	CHECK(cudaStreamCreate(&stream));
	for (int i = 0; i < rounds; i++) {
		forward<<<132, 128, 0, stream>>>(15000000);
		CHECK(cudaStreamSynchronize(stream));
		assemble();
		backward<<<132, 128, 0, stream>>>(5000000);
	}
	CHECK(cudaStreamSynchronize(stream));
	printf("kernels %d\n", 2 * rounds);
	return 0;
}
