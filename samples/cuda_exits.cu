/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_exits WAY - ten kernels of 1 ms, waited for; then the program ends by WAY:
 *
 *   return     from main              _exit      without destructors
 *   kill       by SIGKILL, 0.5 s later           abort      by SIGABRT, likewise
 *   reset      ten more after cudaDeviceReset    illegal    a kernel that writes to address 16
 *   fork       a child that uses no CUDA exits first, and one that tries it and fails
 *   running    ten more that nobody waits for, then return
 *
 * The trace must show: the ten kernels, and with `reset` twenty; the program's own
 * exit code or signal; `illegal` and `running` end like without hpct, with at least
 * the ten.
 */
#include "cuda.cuh"

#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

__global__ void step(unsigned long long ns)
{
	work(ns);
}

__global__ void wrong(int *address)
{
	*address = 1;
}

static __attribute__((noinline)) void ten(void)
{
	for (int i = 0; i < 10; i++)
		step<<<1, 32>>>(1000000);
}

static int illegal(void)
{
	wrong<<<1, 1>>>((int *)16);
	cudaError_t error = cudaDeviceSynchronize();

	printf("error %d\n", (int)error);
	return error == cudaErrorIllegalAddress ? 0 : 1;
}

static int child(bool uses_cuda)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		burn(5000000);
		_exit(uses_cuda && cudaDeviceSynchronize() == cudaSuccess ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "return";

	ten();
	CHECK(cudaDeviceSynchronize());
	printf("kernels 10\n");
	fflush(stdout);
	if (!strcmp(way, "_exit"))
		_exit(3);
	if (!strcmp(way, "kill")) {
		usleep(500000);
		raise(SIGKILL);
	}
	if (!strcmp(way, "abort")) {
		usleep(500000);
		abort();
	}
	if (!strcmp(way, "reset")) {
		CHECK(cudaDeviceReset());
		ten();
		CHECK(cudaDeviceSynchronize());
	}
	if (!strcmp(way, "illegal"))
		return illegal();
	if (!strcmp(way, "fork"))
		return child(false) || child(true);
	if (!strcmp(way, "running"))
		ten();
	return 0;
}
