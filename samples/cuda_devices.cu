/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_devices [ROUNDS] - a thread per GPU, each with ROUNDS (10) kernels of 1 ms on
 * its own device, and a copy of 4 MiB from each GPU to the next.
 *
 * The trace must show: a queue per GPU with ROUNDS kernels, each GPU by its own
 * UUID; each kernel below its own thread's path <thread root>;...;drive; where there
 * are two or more GPUs, copies between them: one, or two by way of the host.
 */
#include "cuda.cuh"

#include <thread>
#include <vector>

#define BYTES (4u << 20)

__global__ void step(unsigned long long ns)
{
	work(ns);
}

static __attribute__((noinline)) void drive(int device, int rounds)
{
	CHECK(cudaSetDevice(device));
	for (int i = 0; i < rounds; i++)
		step<<<1, 32>>>(1000000);
	CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10, count = 0;
	std::vector<std::thread> threads;
	std::vector<char *> memory;

	CHECK(cudaGetDeviceCount(&count));
	for (int i = 0; i < count; i++)
		threads.emplace_back(drive, i, rounds);
	for (auto &thread : threads)
		thread.join();
	for (int i = 0; i < count; i++) {
		char *data;

		CHECK(cudaSetDevice(i));
		CHECK(cudaMalloc(&data, BYTES));
		memory.push_back(data);
	}
	for (int i = 0; i + 1 < count; i++)
		CHECK(cudaMemcpyPeer(memory[i + 1], i + 1, memory[i], i, BYTES));
	CHECK(cudaDeviceSynchronize());
	printf("devices %d kernels %d copies %d\n", count, count * rounds, count - 1);
	return 0;
}
