/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_context [ROUNDS [spin]] - a synchronization that nothing needs, on a GPU that is idle by the time it
 * returns: ROUNDS (400) times a kernel of 20 us, a wait for the whole context, and then a copy of the result,
 * which would have waited by itself. One stream only, as in the case of S0 8.5. The wait sleeps until the driver
 * wakes it (`spin`: it polls, and returns sooner).
 *
 * The trace must show: as many synchronizations as kernels; hpct-blame names the call of cuCtxSynchronize below
 * main;advance;settle first, for more of the idleness than any other path.
 */
#include <cstring>
#include "cuda.cuh"

__global__ void step(float *norm, unsigned long long ns)
{
	work(ns);
	*norm += 1;
}

static __attribute__((noinline)) void settle(void)
{
	CHECK(cudaDeviceSynchronize()); /* needless: the copy behind it waits for the kernel */
}

static __attribute__((noinline)) float advance(float *device_norm)
{
	float norm;

	step<<<1, 1>>>(device_norm, 20000);
	settle();
	CHECK(cudaMemcpy(&norm, device_norm, sizeof(norm), cudaMemcpyDeviceToHost));
	return norm;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 400;
	bool spin = argc > 2 && strcmp(argv[2], "spin") == 0;
	float *device_norm, norm = 0;

	CHECK(cudaSetDeviceFlags(spin ? cudaDeviceScheduleSpin : cudaDeviceScheduleBlockingSync));
	CHECK(cudaMalloc(&device_norm, sizeof(*device_norm)));
	CHECK(cudaMemset(device_norm, 0, sizeof(*device_norm)));
	for (int i = 0; i < rounds; i++)
		norm = advance(device_norm);
	printf("kernels %d synchronizations %d norm %.0f\n", rounds, rounds, norm);
	return 0;
}
