/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_clock [COUNT] [SECONDS] - COUNT (1000) handshakes over SECONDS (2): a kernel
 * says that it runs, exchanges ROUNDS words with the CPU, waits for a last one, and
 * ends. The program prints for each, on CLOCK_MONOTONIC in ns: before the launch, the
 * word seen that it runs, before the word that lets it end, the end seen, which the
 * GPU's front end writes; then on the GPU's own clock: the kernel's first and last
 * instruction; then the least and the most that the exchanges let the CPU's clock be
 * ahead of the GPU's.
 *
 * The trace must show each kernel's begin between the first two, its end between the
 * last two: what lies outside is the error of the common time axis. On the GPU's own
 * clock a kernel begins before its first instruction and ends after its last.
 */
#include "cuda.cuh"

#include <cuda.h>
#include <unistd.h>

#define ROUNDS 8

static __device__ unsigned long long gpu_ns(void)
{
	unsigned long long now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	return now;
}

/* Its own words lie in `said`, the CPU's in `heard`; the times are read when all is over. */
__global__ void handshake(volatile int *said, volatile int *heard, unsigned long long *times, int turn)
{
	times[0] = gpu_ns();
	*said = turn;
	__threadfence_system();
	for (int round = 1; round <= ROUNDS; round++) {
		while (*heard != turn + round)
			;
		times[round + 1] = gpu_ns();
		*said = turn + round;
		__threadfence_system();
	}
	while (*heard != turn + ROUNDS + 1)
		;
	times[1] = gpu_ns();
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

/* One round: the kernel's reading of its clock lies between our two. */
static void exchange(volatile int *words, int turn, int round, unsigned long long said[2])
{
	said[0] = now_ns();
	words[512] = turn + round;
	while (words[0] != turn + round)
		;
	said[1] = now_ns();
}

static void offset_print(unsigned long long said[ROUNDS][2], const volatile unsigned long long *times)
{
	long long least = -(1ll << 62), most = 1ll << 62;

	for (int round = 0; round < ROUNDS; round++) {
		long long low = (long long)(said[round][0] - times[round + 2]);
		long long high = (long long)(said[round][1] - times[round + 2]);

		least = low > least ? low : least;
		most = high < most ? high : most;
	}
	printf("%llu %llu %lld %lld\n", times[0], times[1], least, most);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1000;
	double seconds = argc > 2 ? atof(argv[2]) : 2;
	unsigned long long said[ROUNDS][2], *times;
	volatile int *words;
	write_function write;

	CHECK(cudaHostAlloc((void **)&words, 8192, cudaHostAllocMapped));
	times = (unsigned long long *)(words + 1024);
	words[0] = words[256] = words[512] = 0;
	write = write_find();
	for (int i = 1; i <= count; i++) {
		int turn = i * (ROUNDS + 2);
		unsigned long long launched = now_ns(), running, let, ended;

		handshake<<<1, 1>>>(words, words + 512, times, turn);
		write(NULL, (CUdeviceptr)(words + 256), (cuuint32_t)turn, 0);
		while (words[0] != turn)
			;
		running = now_ns();
		burn(20000);
		for (int round = 1; round <= ROUNDS; round++)
			exchange(words, turn, round, said[round - 1]);
		let = now_ns();
		words[512] = turn + ROUNDS + 1;
		while (words[256] != turn)
			;
		ended = now_ns();
		printf("%llu %llu %llu %llu ", launched, running, let, ended);
		offset_print(said, times);
		usleep((useconds_t)(seconds * 1e6 / count));
	}
	return 0;
}
