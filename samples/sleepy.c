/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleepy.c - sleeps much, works little. Arguments: how often (default 20), sleep in ms (default 20),
 * work in ms (default 1).
 *
 * What the trace must show: CPU time of about 5 % of the wall time, all of it in main;nap;work, and a
 * monitored span as long as the program: what lies between is blocked or unknown, never work. No sleep
 * is cut short: the program prints, tab after each, interrupted sleeps (must be 0), wall and CPU
 * nanoseconds.
 */
#include "samples/burn.h"

#include <stdio.h>
#include <stdlib.h>

static int interrupted;

APART static void work(double ms)
{
	BURN(ms * 1e6);
}

APART static void nap(double sleep_ms, double work_ms)
{
	struct timespec pause = {(time_t)(sleep_ms / 1e3), (long)(sleep_ms * 1e6) % 1000000000};

	if (nanosleep(&pause, NULL) != 0)
		interrupted++;
	work(work_ms);
	NO_TAIL_CALL();
}

static double wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 20;
	double sleep_ms = argc > 2 ? atof(argv[2]) : 20, work_ms = argc > 3 ? atof(argv[3]) : 1;
	double begin_ns = wall_ns();

	for (int i = 0; i < times; i++)
		nap(sleep_ms, work_ms);
	printf("interrupted\t%d\nwall\t%.0f\ncpu\t%.0f\n", interrupted, wall_ns() - begin_ns,
		(double)cpu_now_ns());
	return 0;
}
