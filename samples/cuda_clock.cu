/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_clock [COUNT] [SECONDS] - COUNT (1000) handshakes over SECONDS (2): a kernel
 * says that it runs, waits for a word from the CPU, and ends. The program prints for
 * each, on CLOCK_MONOTONIC in ns: before the launch, the word seen that it runs,
 * before the word that lets it end, the end seen, which the GPU's front end writes.
 *
 * The trace must show each kernel's begin between the first two, its end between the
 * last two: what lies outside is the error of the common time axis.
 */
#include "cuda.cuh"

#include <cuda.h>
#include <unistd.h>

__global__ void handshake(volatile int *runs, volatile int *go, int turn)
{
	*runs = turn;
	__threadfence_system();
	while (*go != turn)
		;
}

typedef CUresult (*write_function)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

static write_function write_find(void)
{
	cudaDriverEntryPointQueryResult found;
	void *function = NULL;

	CHECK(cudaGetDriverEntryPointByVersion(
		"cuStreamWriteValue32", &function, 12000, cudaEnableDefault, &found));
	return (write_function)function;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1000;
	double seconds = argc > 2 ? atof(argv[2]) : 2;
	volatile int *words;
	write_function write;

	CHECK(cudaHostAlloc((void **)&words, 4096, cudaHostAllocMapped));
	words[0] = words[256] = words[512] = 0;
	write = write_find();
	for (int turn = 1; turn <= count; turn++) {
		unsigned long long launched = now_ns(), running, let, ended;

		handshake<<<1, 1>>>(words, words + 512, turn);
		write(NULL, (CUdeviceptr)(words + 256), (cuuint32_t)turn, 0);
		while (words[0] != turn)
			;
		running = now_ns();
		burn(20000);
		let = now_ns();
		words[512] = turn;
		while (words[256] != turn)
			;
		ended = now_ns();
		printf("%llu %llu %llu %llu\n", launched, running, let, ended);
		usleep((useconds_t)(seconds * 1e6 / count));
	}
	return 0;
}
