/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_phase [ROUNDS] - a step on the CPU between two kernels: ROUNDS (20) times a
 * kernel `forward` of 2 ms, then `assemble` on the CPU for 4 ms while the GPU has
 * nothing to do, then a kernel `backward` of 1 ms.
 *
 * The trace must show: the GPU idle for about 4 of 7 ms; hpct-blame names `assemble`
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
	burn(4000000);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	cudaStream_t stream;

	CHECK(cudaStreamCreate(&stream));
	for (int i = 0; i < rounds; i++) {
		forward<<<132, 128, 0, stream>>>(2000000);
		CHECK(cudaStreamSynchronize(stream));
		assemble();
		backward<<<132, 128, 0, stream>>>(1000000);
	}
	CHECK(cudaStreamSynchronize(stream));
	printf("kernels %d\n", 2 * rounds);
	return 0;
}
