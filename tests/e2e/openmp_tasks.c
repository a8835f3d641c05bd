/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmp_tasks.c - two threads of OpenMP. "tasks": 10 tasks of 20 ms of CPU time each, which the runtime runs
 * in the barrier at the end; "barriers": five rounds, in each of which thread 1 works for 100 ms, thread 0
 * for 10 ms, and both meet; "sleeps": six rounds, in each of which thread 1 sleeps for 400 ms. Compiled by
 * e2e.blame.openmp with each runtime there is, by e2e.record.untold with an archive of GNU's.
 */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void __attribute__((noinline)) burn(double seconds)
{
	double until = now() + seconds;
	volatile double x = 1;

	while (now() < until)
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
}

static void __attribute__((noinline)) piece(void)
{
	burn(0.02);
	__asm__ volatile("");
}

static void __attribute__((noinline)) slow(void)
{
	burn(0.1);
	__asm__ volatile("");
}

static void __attribute__((noinline)) quick(void)
{
	burn(0.01);
	__asm__ volatile("");
}

static void tasks(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < 10; i++) {
#pragma omp task
		piece();
	}
}

static void barriers(void)
{
#pragma omp parallel num_threads(2)
	for (int i = 0; i < 5; i++) {
		if (omp_get_thread_num() == 1)
			slow();
		else
			quick();
#pragma omp barrier
	}
}

static void __attribute__((noinline)) sleepy(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
	__asm__ volatile("");
}

static void sleeps(void)
{
#pragma omp parallel num_threads(2)
	for (int i = 0; i < 6; i++) {
		if (omp_get_thread_num() == 1)
			sleepy();
		else
			quick();
#pragma omp barrier
	}
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "tasks"))
		tasks();
	else if (argc > 1 && !strcmp(argv[1], "sleeps"))
		sleeps();
	else
		barriers();
	printf("done\n");
	return 0;
}
