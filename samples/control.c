/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.c - measured in part, by hpct.h. Argument: CPU seconds of one phase (default 0.2); a second one,
 * `twice`, leaves sampling off at the end.
 *
 * The main thread: read_input | start | solve (three steps) | stop | write_output | start | check. A helper
 * thread burns all the time in `help`, another sleeps all the time, a third one is born and dies while
 * sampling is off.
 *
 * What the trace must show, begun with -ds: no CPU time in read_input and write_output, three `range` spans
 * named step, and a mark `solve` around them, a mark `checked` (a moment); the CPU time of main's clock
 * without what was off; every stream unmonitored in the same two stretches, so long as it lived. Begun
 * without -ds: read_input too. It prints, tab after each, ns of CLOCK_MONOTONIC before and behind the first
 * start, the stop and the second start.
 */
#include "samples/burn.h"
#include <hpct.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double phase_ns = 0.2e9;
static _Atomic int is_over;

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000000ull + (unsigned long long)now.tv_nsec;
}

APART static void read_input(void)
{
	BURN(phase_ns);
}

APART static void solve(void)
{
	hpct_mark_begin("solve");
	for (int i = 0; i < 3; i++) {
		hpct_range_begin("step");
		BURN(phase_ns / 3);
		hpct_range_end();
	}
	hpct_mark_end();
	NO_TAIL_CALL();
}

APART static void write_output(void)
{
	BURN(phase_ns);
}

APART static void check(void)
{
	BURN(phase_ns);
	hpct_mark("checked, \\ = done");
	NO_TAIL_CALL();
}

static void *help(void *nothing)
{
	(void)nothing;
	while (!is_over)
		BURN(1e6);
	return NULL;
}

static void *nap(void *nothing)
{
	struct timespec pause = {0, 10000000};

	(void)nothing;
	while (!is_over)
		nanosleep(&pause, NULL);
	return NULL;
}

static void *shortly(void *nothing)
{
	(void)nothing;
	BURN(20e6);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long long start, started, stop, stopped, again, resumed;
	pthread_t helper, napper, brief;

	if (argc > 1)
		phase_ns = atof(argv[1]) * 1e9;
	pthread_create(&helper, NULL, help, NULL);
	pthread_create(&napper, NULL, nap, NULL);
	read_input();
	start = now_ns();
	hpct_start();
	started = now_ns();
	hpct_start();
	solve();
	stop = now_ns();
	hpct_stop();
	stopped = now_ns();
	hpct_stop();
	pthread_create(&brief, NULL, shortly, NULL);
	write_output();
	pthread_join(brief, NULL);
	again = now_ns();
	hpct_start();
	resumed = now_ns();
	check();
	if (argc > 2 && !strcmp(argv[2], "twice"))
		hpct_stop();
	is_over = 1;
	pthread_join(helper, NULL);
	pthread_join(napper, NULL);
	printf("%llu\t%llu\t%llu\t%llu\t%llu\t%llu\n", start, started, stop, stopped, again, resumed);
	return 0;
}
