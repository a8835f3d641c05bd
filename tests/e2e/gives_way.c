/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gives_way.c - a thread that no CPU timer meets, for it works little and sleeps a while, again and again.
 * Arguments: how, and CPU time in ms (default 200). Prints how many ns lie between two ticks.
 *
 *   ticks  it works from one of the kernel's ticks to the next, so that, on an idle machine, none meets it
 *   never  it lets no signal come, as if no tick did, busy or not: by a system call, of which nobody knows
 *   yields the same, but it gives its core to whoever wants it, and never sleeps
 *   late   as never, but lets them come for the last third
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone, noipa))

enum { BLOCK, UNBLOCK }; /* as the kernel has them */

static uint64_t tick_ns, wanted_ns;
static const char *how;

static uint64_t ns_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The coarse clock stands at the last tick. */
APART static void sleeps(void)
{
	uint64_t until = ns_of(CLOCK_MONOTONIC_COARSE) + tick_ns + tick_ns / 10;
	struct timespec time = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

APART static void works(void)
{
	uint64_t begin = ns_of(CLOCK_MONOTONIC);

	while (ns_of(CLOCK_MONOTONIC) - begin < tick_ns / 2)
		;
}

static void signals(int action)
{
	uint64_t all = UINT64_MAX;

	syscall(SYS_rt_sigprocmask, action, &all, NULL, sizeof(all));
}

/* Others may want it, or not. */
APART static void yields(void)
{
	sched_yield();
}

APART static void runs(uint64_t ns)
{
	uint64_t begin = ns_of(CLOCK_THREAD_CPUTIME_ID);

	while (ns_of(CLOCK_THREAD_CPUTIME_ID) - begin < ns) {
		works();
		if (strcmp(how, "yields") != 0)
			sleeps();
		else
			yields();
	}
}

APART static void *gives_way(void *nothing)
{
	if (strcmp(how, "ticks") != 0)
		signals(BLOCK);
	runs(wanted_ns / 3 * 2);
	if (!strcmp(how, "late"))
		signals(UNBLOCK);
	runs(wanted_ns / 3);
	return nothing;
}

int main(int argc, char **argv)
{
	struct timespec tick;
	pthread_t thread;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	tick_ns = (uint64_t)tick.tv_nsec;
	how = argc > 1 ? argv[1] : "ticks";
	wanted_ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 200) * 1000000;
	if (pthread_create(&thread, NULL, gives_way, NULL))
		return 1;
	printf("%llu\n", (unsigned long long)tick_ns);
	return pthread_join(thread, NULL) ? 1 : 0;
}
