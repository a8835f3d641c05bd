/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openmp_paths.c - what call paths of OpenMP must show, by work of a known amount of CPU time (one unit: 20
 * ms). Prints what it did as "path-of-functions units", and who came last at barriers and ends of regions,
 * counted by itself. Compiled by e2e.openmp.paths with each runtime there is.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OUT_OF_LINE __attribute__((noinline))
#define STAY __asm__ volatile("")

static double cpu_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_now(void)
{
	return cpu_of(CLOCK_THREAD_CPUTIME_ID);
}

static void OUT_OF_LINE burn(int units)
{
	double until = cpu_now() + 0.02 * units;
	volatile double x = 1;

	while (cpu_now() < until)
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
}

/* The runtime begins here. Before its first region nothing is known of it, and its frames are the program's.
 */
static void OUT_OF_LINE first(void)
{
#pragma omp parallel num_threads(1)
	STAY;
	STAY;
}

/* ---- two regions in one function, one region from two callers ---- */

static void OUT_OF_LINE twice(void)
{
#pragma omp parallel num_threads(2)
	{
		burn(2);
		STAY;
	}
#pragma omp parallel num_threads(2)
	{
		burn(6);
		STAY;
	}
	STAY;
}

static void OUT_OF_LINE shared(int units)
{
#pragma omp parallel num_threads(2)
	{
		burn(units);
		STAY;
	}
	STAY;
}

static void OUT_OF_LINE caller_a(void)
{
	shared(3);
	STAY;
}

static void OUT_OF_LINE caller_b(void)
{
	shared(5);
	STAY;
}

/* ---- nested ---- */

static void OUT_OF_LINE inner(void)
{
#pragma omp parallel num_threads(2)
	{
		burn(3);
		STAY;
	}
	STAY;
}

static void OUT_OF_LINE nested(void)
{
	omp_set_max_active_levels(3);
#pragma omp parallel num_threads(2)
	{
		inner();
		STAY;
	}
	STAY;
}

/* ---- tasks ---- */

static void OUT_OF_LINE creator_a(void)
{
	for (int i = 0; i < 3; i++) {
#pragma omp task
		{
			burn(1);
			STAY;
		}
	}
	STAY;
}

static void OUT_OF_LINE creator_b(void)
{
	int large[64] = {0};

	for (int i = 0; i < 5; i++) {
#pragma omp task firstprivate(large)
		{
			large[i & 63]++;
			burn(1);
			STAY;
		}
	}
#pragma omp taskwait
	STAY;
}

static void OUT_OF_LINE looped(void)
{
	int sum = 0;

#pragma omp taskloop num_tasks(4) reduction(+ : sum)
	for (int i = 0; i < 8; i++) {
		burn(1);
		sum += i;
	}
	if (sum != 28)
		exit(3);
	STAY;
}

static void OUT_OF_LINE undeferred(void)
{
	int value = 5;

#pragma omp task if (0) shared(value)
	{
		burn(2);
		value = 7;
	}
	if (value != 7)
		exit(4);
	STAY;
}

static void OUT_OF_LINE tasks(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
	{
		creator_a();
		creator_b();
		looped();
		undeferred();
	}
	STAY;
}

/* ---- waiting ---- */

/* In each round one thread takes the lock first, and keeps it until the other has waited for it: it sleeps,
 * or it has spun for some samples, on however few processors. */
static atomic_int held, asked;
static struct {
	pid_t tid;
	clockid_t clock;
	double since;
} asker;

static bool has_waited(void)
{
	char path[64], state = 0;
	FILE *stat;

	if (cpu_of(asker.clock) > asker.since + 0.004)
		return true;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)asker.tid);
	stat = fopen(path, "r");
	if (!stat || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (stat)
		fclose(stat);
	return state == 'S';
}

static void OUT_OF_LINE lock_ask(int round)
{
	if (omp_get_thread_num() == round % 2)
		return;
	while (atomic_load(&held) != round)
		sched_yield();
	asker.tid = gettid();
	pthread_getcpuclockid(pthread_self(), &asker.clock);
	asker.since = cpu_of(asker.clock);
	atomic_store(&asked, round);
}

static void OUT_OF_LINE lock_keep(int round)
{
	if (omp_get_thread_num() != round % 2)
		return;
	atomic_store(&held, round);
	while (atomic_load(&asked) != round || !has_waited())
		sched_yield();
}

static void OUT_OF_LINE locked(void)
{
	omp_lock_t lock;

	omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
	{
		for (int i = 1; i <= 4; i++) {
			lock_ask(i);
#pragma omp critical
			{
				lock_keep(i);
				burn(1);
			}
		}
#pragma omp barrier
		for (int i = 5; i <= 8; i++) {
			lock_ask(i);
			omp_set_lock(&lock);
			lock_keep(i);
			burn(1);
			omp_unset_lock(&lock);
		}
	}
	STAY;
}

static void OUT_OF_LINE alone(void)
{
	shared(1);
	burn(15); /* the worker is idle */
	STAY;
}

/* ---- who is last: thread 1 or thread 0 in turn, at the explicit barrier; thread 1 at the end ---- */

static atomic_int arrived;
static int last[2][2];

static void OUT_OF_LINE arrive(int place)
{
	if (atomic_fetch_add(&arrived, 1) == 1) {
		last[place][omp_get_thread_num()]++;
		atomic_store(&arrived, 0);
	}
}

static void OUT_OF_LINE late(void)
{
	for (int i = 0; i < 10; i++) {
#pragma omp parallel num_threads(2)
		{
			burn(omp_get_thread_num() == i % 2 ? 2 : 0);
			arrive(0);
#pragma omp barrier
			burn(omp_get_thread_num() == 1 ? 1 : 0);
			arrive(1);
		}
	}
	for (int k = 0; k < 2; k++)
		printf("thread %d last %d at barriers %d at ends\n", k, last[0][k], last[1][k]);
	STAY;
}

/* Regions in which nobody waits for long, so that a wait has no record; and another one after them. */
static void OUT_OF_LINE brief(void)
{
	for (int i = 0; i < 2000; i++) {
#pragma omp parallel num_threads(2)
		__asm__ volatile("" ::: "memory");
	}
#pragma omp parallel num_threads(2)
	__asm__ volatile("" ::: "memory");
	STAY;
}

/* ---- all that has an end of its own: nothing to be measured, but the results ---- */

static long OUT_OF_LINE fine(void)
{
	static const int order[] = {0, 1, 2, 3};
	long sum = 0, loop = 0, depends = 0;

#pragma omp parallel num_threads(3) reduction(+ : sum)
	{
		int finals;

#pragma omp for schedule(dynamic, 3) reduction(+ : loop)
		for (int i = 0; i < 100; i++)
			loop += i;
#pragma omp for schedule(guided) nowait
		for (int i = 0; i < 100; i++)
			sum += i;
#pragma omp for ordered schedule(dynamic)
		for (int i = 0; i < 10; i++) {
#pragma omp ordered
			sum += order[i & 3];
		}
#pragma omp sections
		{
#pragma omp section
			sum += 1;
#pragma omp section
			sum += 2;
		}
#pragma omp single copyprivate(finals)
		finals = 4;
#pragma omp atomic
		depends += finals;
	}
#pragma omp parallel for num_threads(2) schedule(dynamic, 5) reduction(+ : sum)
	for (int i = 0; i < 64; i++)
		sum += i;
#pragma omp parallel sections num_threads(2) reduction(+ : sum)
	{
#pragma omp section
		sum += 10;
#pragma omp section
		sum += 20;
	}
#pragma omp parallel for num_threads(2) ordered(1) schedule(static, 1)
	for (int i = 0; i < 16; i++) {
#pragma omp ordered depend(sink : i - 1)
		loop += i;
#pragma omp ordered depend(source)
	}
#pragma omp parallel num_threads(2)
#pragma omp single
	{
		int value = 1;

#pragma omp task depend(out : value) shared(value)
		value = 2;
#pragma omp task depend(in : value) shared(value, depends)
		depends += value;
#pragma omp taskwait
#pragma omp taskgroup
#pragma omp task final(1) shared(depends)
		depends += 100;
#pragma omp taskloop grainsize(2) shared(loop)
		for (unsigned long long i = 0; i < 9; i++)
#pragma omp atomic
			loop += (long)i;
	}
#pragma omp parallel num_threads(2)
	{
#pragma omp for
		for (int i = 0; i < 100; i++) {
#pragma omp cancel for if (i > 200)
			;
		}
	}
	return sum * 1000000 + loop * 1000 + depends;
}

/* One thread waits for the task of the group, which the other one has begun. */
static void OUT_OF_LINE grouped(void)
{
	atomic_bool has_begun = false;

#pragma omp parallel num_threads(2) shared(has_begun)
#pragma omp single
#pragma omp taskgroup
	{
		int creator = omp_get_thread_num();

#pragma omp task firstprivate(creator) shared(has_begun)
		{
			has_begun = true;
			if (omp_get_thread_num() != creator)
				burn(1);
		}
		while (!has_begun)
			sched_yield();
	}
	STAY;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	first();
	if (!strcmp(what, "shares")) {
		twice();
		caller_a();
		caller_b();
	} else if (!strcmp(what, "nested")) {
		nested();
	} else if (!strcmp(what, "tasks")) {
		tasks();
	} else if (!strcmp(what, "waits")) {
		locked();
		grouped();
		alone();
	} else if (!strcmp(what, "late")) {
		late();
	} else if (!strcmp(what, "brief")) {
		brief();
	} else {
		printf("%ld\n", fine());
	}
	return 0;
}
