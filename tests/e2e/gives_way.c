/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gives_way.c - a thread that no CPU timer meets, for it works little and sleeps a while, again and again.
 * Arguments: how, and CPU time in ms (default 200). Prints how many ns lie between two ticks,
 * and, a line each, what it worked from one sleep to the next.
 *
 *   ticks  it works from one of the kernel's ticks to the next, ahead of all others if it may: none meets it
 *   unmet  the same, but it sleeps by a system call, of which nobody knows
 *   lives  as unmet, but it is there until the program has ended
 *   never  it lets no signal come, as if no tick did, busy or not: by a system call, of which nobody knows
 *   yields the same, but it gives its core to whoever wants it, and never sleeps
 *   late   as never, but lets them come for the last third
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone, noipa))

enum { BLOCK, UNBLOCK }; /* as the kernel has them */

static uint64_t tick_ns, wanted_ns;
static volatile uint64_t tick_at_ns;
static uint64_t worked_ns[4096];
static unsigned rounds;
static sem_t is_done;
static const char *how;

static uint64_t ns_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* It is met by no tick, and calls nothing that the agent knows. */
static int is_unmet(void)
{
	return !strcmp(how, "unmet") || !strcmp(how, "lives");
}

APART static void sleeps(void)
{
	uint64_t now = ns_of(CLOCK_MONOTONIC);
	uint64_t until = now - (now - tick_at_ns) % tick_ns + tick_ns + tick_ns / 10;
	struct timespec time = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};

	while (!is_unmet() && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
	while (is_unmet() && syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL))
		;
}

APART static void works(void)
{
	uint64_t begin = ns_of(CLOCK_MONOTONIC);

	while (ns_of(CLOCK_MONOTONIC) - begin < tick_ns / 2)
		;
}

/* On one processor, for each has its own ticks, and ahead of whoever wants it, where that is allowed. */
static void goes_ahead(void)
{
	struct sched_param first = {.sched_priority = 1};
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
	sched_setscheduler(0, SCHED_FIFO, &first);
}

static void tick_met(int signal)
{
	(void)signal;
	tick_at_ns = ns_of(CLOCK_MONOTONIC);
}

/* A CPU timer that is due at once tells of the next tick. */
static void tick_meet(void)
{
	struct itimerval soon = {.it_value.tv_usec = 1};

	signal(SIGPROF, tick_met);
	setitimer(ITIMER_PROF, &soon, NULL);
	while (!tick_at_ns)
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
	uint64_t begin = ns_of(CLOCK_THREAD_CPUTIME_ID), at = begin;

	while (at - begin < ns) {
		uint64_t before = at;

		works();
		at = ns_of(CLOCK_THREAD_CPUTIME_ID);
		worked_ns[rounds++ % (sizeof(worked_ns) / sizeof(*worked_ns))] = at - before;
		if (strcmp(how, "yields") != 0)
			sleeps();
		else
			yields();
	}
}

APART static void *gives_way(void *nothing)
{
	bool keeps_ahead = !strcmp(how, "ticks") || is_unmet();

	if (keeps_ahead)
		goes_ahead();
	tick_meet();
	if (!keeps_ahead)
		signals(BLOCK);
	runs(wanted_ns / 3 * 2);
	if (!strcmp(how, "late"))
		signals(UNBLOCK);
	runs(wanted_ns / 3);
	sem_post(&is_done);
	while (!strcmp(how, "lives"))
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
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
	if (sem_init(&is_done, 0, 0) || pthread_create(&thread, NULL, gives_way, NULL))
		return 1;
	if (!strcmp(how, "lives") ? sem_wait(&is_done) : pthread_join(thread, NULL))
		return 1;
	printf("%llu\n", (unsigned long long)tick_ns);
	for (unsigned i = 0; i < rounds && i < sizeof(worked_ns) / sizeof(*worked_ns); i++)
		printf("%llu\n", (unsigned long long)worked_ns[i]);
	return 0;
}
