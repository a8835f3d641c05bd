/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_copies [ROUNDS] - copies of each direction and memory of each kind, ROUNDS
 * (5) times.
 *
 * The trace must show, per round: an H2D and a D2H copy of 4 MiB from pinned memory
 * (below main;pinned), the same of 1 MiB from pageable memory (below main;pageable),
 * a D2D copy and a set of 4 MiB (below main;inside); and in all one allocation and
 * one release of 4 MiB of device memory, pinned memory and managed memory each.
 * The pinned copies are the faster ones.
 */
#include "cuda.cuh"

#define BIG (4u << 20)
#define SMALL (1u << 20)

static __attribute__((noinline)) void pinned(char *device, char *host)
{
	CHECK(cudaMemcpyAsync(device, host, BIG, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyAsync(host, device, BIG, cudaMemcpyDeviceToHost));
}

static __attribute__((noinline)) void pageable(char *device, char *host)
{
	CHECK(cudaMemcpy(device, host, SMALL, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(host, device, SMALL, cudaMemcpyDeviceToHost));
}

static __attribute__((noinline)) void inside(char *to, char *from)
{
	CHECK(cudaMemset(from, 1, BIG));
	CHECK(cudaMemcpy(to, from, BIG, cudaMemcpyDeviceToDevice));
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	char *device, *other, *fast, *managed, *slow = (char *)calloc(1, SMALL);

	CHECK(cudaMalloc(&device, BIG));
	CHECK(cudaMalloc(&other, BIG));
	CHECK(cudaMallocHost(&fast, BIG));
	CHECK(cudaMallocManaged(&managed, BIG));
	for (int i = 0; i < rounds; i++) {
		pinned(device, fast);
		pageable(device, slow);
		inside(other, device);
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(managed));
	CHECK(cudaFreeHost(fast));
	CHECK(cudaFree(other));
	CHECK(cudaFree(device));
	printf("copies %d sets %d\n", rounds * 5, rounds);
	return 0;
}
