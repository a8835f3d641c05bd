/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads8.c - eight threads, more than this machine may have cores. Argument: CPU seconds of one unit
 * (default 0.05; thread k burns k units, 36 in all).
 *
 * What the trace must show: nine streams; the weights of `load k` (k = 1 .. 8) add up to k units, all
 * of it in <thread root>;load. At its end each thread prints its name, tab, the reading of its CPU
 * clock in nanoseconds; so does main.
 */
#include "samples/burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8 };

static double unit_ns = 0.05e9;
static uint64_t read_ns[THREADS + 1];

APART static void *load(void *argument)
{
	int k = (int)(intptr_t)argument;
	char name[16];

	snprintf(name, sizeof(name), "load %d", k);
	pthread_setname_np(pthread_self(), name);
	BURN(k * unit_ns);
	read_ns[k] = cpu_now_ns();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc > 1)
		unit_ns = atof(argv[1]) * 1e9;
	for (intptr_t k = 1; k <= THREADS; k++)
		if (pthread_create(&threads[k - 1], NULL, load, (void *)k) != 0)
			return 1;
	for (int k = 1; k <= THREADS; k++) {
		pthread_join(threads[k - 1], NULL);
		printf("load %d\t%llu\n", k, (unsigned long long)read_ns[k]);
	}
	printf("main\t%llu\n", (unsigned long long)cpu_now_ns());
	return 0;
}
