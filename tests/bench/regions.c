/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.c BODY_NS REGIONS - parallel regions of OpenMP, of 2 threads that work so long in each (0: not at
 * all): prints nanoseconds of a region, the median of many stretches, so that a busy machine changes little.
 * tests/bench/causes.py runs it bare and recorded, with each runtime there is.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STRETCHES 201 /* each of at least one region */

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void work(double body_ns)
{
	double end_ns = now_ns() + body_ns;

	while (body_ns > 0 && now_ns() < end_ns)
		;
}

static int compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

int main(int argc, char **argv)
{
	double body_ns = argc > 1 ? atof(argv[1]) : 0, took_ns[STRETCHES];
	long regions = argc > 2 ? atol(argv[2]) / STRETCHES + 1 : 1;

	omp_set_dynamic(0);
	omp_set_num_threads(2);
	for (int stretch = 0; stretch < STRETCHES; stretch++) {
		double begin_ns = now_ns();

		for (long i = 0; i < regions; i++) {
#pragma omp parallel
			work(body_ns);
		}
		took_ns[stretch] = (now_ns() - begin_ns) / (double)regions;
	}
	qsort(took_ns, STRETCHES, sizeof *took_ns, compare);
	printf("%.1f\n", took_ns[STRETCHES / 2]);
	return 0;
}
