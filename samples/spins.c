/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spins.c - threads that wait for a flag without sleeping, each in a way of its own, until each has used its
 * argument of CPU milliseconds (default 500); and one that polls for work with a pause in between, which is
 * at work. Prints, tab between, the function and the CPU nanoseconds it took.
 *
 * What the trace must show: time of wait_pause and wait_backoff in <spin>, none of work and poll_work; and
 * all time of wait_yield in sched_yield, or in the loop around it.
 */
#include "samples/burn.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __aarch64__
#define PAUSE() __asm__ volatile("yield")
#else
#define PAUSE() __asm__ volatile("pause")
#endif

static int flags[8];
static uint64_t least_ns = 500000000;

static int flag_is_set(unsigned number)
{
	return __atomic_load_n(&flags[number], __ATOMIC_ACQUIRE);
}

APART static void wait_pause(void)
{
	while (!flag_is_set(0))
		PAUSE();
}

APART static void wait_backoff(void)
{
	while (!flag_is_set(1))
		for (int i = 0; i < 50; i++)
			PAUSE();
}

APART static void wait_yield(void)
{
	while (!flag_is_set(2))
		sched_yield();
}

APART static void work(uint64_t ns)
{
	BURN(ns);
	NO_TAIL_CALL();
}

/* The loop pauses, but what it calls is work. */
APART static void poll_work(void)
{
	for (int i = 0; i < 50; i++) {
		work(least_ns / 50);
		PAUSE();
	}
}

static void worked(void)
{
	work(least_ns);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {{"wait_pause", wait_pause}, {"wait_backoff", wait_backoff}, {"wait_yield", wait_yield},
	{"poll_work", poll_work}, {"work", worked}};
#define KINDS (sizeof kinds / sizeof *kinds)
#define WAITERS 3u

static uint64_t spent_ns[KINDS];

static void *run(void *number)
{
	unsigned kind = (unsigned)(uintptr_t)number;

	kinds[kind].run();
	spent_ns[kind] = cpu_now_ns();
	return NULL;
}

/* Until the waiting thread has waited long enough by its own CPU clock. */
static void release(pthread_t thread, unsigned kind)
{
	struct timespec used, pause = {0, 5000000};
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock))
		abort();
	do {
		nanosleep(&pause, NULL);
		clock_gettime(clock, &used);
	} while ((uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec < least_ns);
	__atomic_store_n(&flags[kind], 1, __ATOMIC_RELEASE);
}

int main(int argc, char **argv)
{
	pthread_t threads[KINDS];

	if (argc > 1)
		least_ns = strtoull(argv[1], NULL, 10) * 1000000;
	/* One after the other: sched_yield() beside others that never sleep takes minutes. */
	for (unsigned i = 0; i < KINDS; i++) {
		if (pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i))
			return 1;
		if (i < WAITERS)
			release(threads[i], i);
		pthread_join(threads[i], NULL);
		printf("%s\t%llu\n", kinds[i].name, (unsigned long long)spent_ns[i]);
	}
	return 0;
}
