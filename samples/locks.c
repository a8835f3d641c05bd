/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locks.c - who holds the lock that others wait for. A thread "holder" takes a mutex, a read-write lock, a
 * mutex of C11 and a spin lock in turn, ROUNDS times each, and keeps it in rebuild() for PAUSE_US once the
 * others want it; two threads, "reader" and "writer", wait for it in look_up(). The order is made by flags.
 *
 * What the trace must show: spans `lock` of reader and writer below look_up that name the holder; in
 * hpct-blame
 * --of lock-pair the most time for the holder; by --of lock-holder the waits are for rebuild. Prints how
 * often each of the two wants a lock.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 6
#define PAUSE_US 30000
#define APART __attribute__((noinline, noclone))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t plain;
static pthread_spinlock_t spin;
static atomic_int held, wanted, done; /* rounds: the holder has it; others want it; others are through */
static volatile double sink;

static void await(atomic_int *what, int round)
{
	while (*what < round)
		syscall(SYS_sched_yield); /* directly: it is no wait of the program's */
}

static void take(int round)
{
	if (round % 4 == 0)
		pthread_mutex_lock(&mutex);
	else if (round % 4 == 1)
		pthread_rwlock_wrlock(&rwlock);
	else if (round % 4 == 2)
		mtx_lock(&plain);
	else
		pthread_spin_lock(&spin);
}

static void leave(int round)
{
	if (round % 4 == 0)
		pthread_mutex_unlock(&mutex);
	else if (round % 4 == 1)
		pthread_rwlock_unlock(&rwlock);
	else if (round % 4 == 2)
		mtx_unlock(&plain);
	else
		pthread_spin_unlock(&spin);
}

APART static void rebuild(void)
{
	struct timespec begin, now;
	double x = 1;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (int i = 0; i < 10000; i++)
			x = x * 1.0000001 + 1;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < PAUSE_US);
	sink = x;
}

APART static void look_up(int round)
{
	wanted++;
	take(round);
	sink = sink + 1;
	leave(round);
	done++;
}

static void *waiter(void *name)
{
	pthread_setname_np(pthread_self(), name);
	for (int round = 0; round < 4 * ROUNDS; round++) {
		await(&held, round + 1);
		look_up(round);
	}
	return NULL;
}

static void *holder(void *name)
{
	pthread_setname_np(pthread_self(), name);
	for (int round = 0; round < 4 * ROUNDS; round++) {
		take(round);
		held = round + 1;
		await(&wanted, 2 * (round + 1));
		rebuild();
		leave(round);
		await(&done, 2 * (round + 1));
	}
	return NULL;
}

int main(void)
{
	static char names[3][8] = {"holder", "reader", "writer"};
	pthread_t threads[3];

	mtx_init(&plain, mtx_plain);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, i ? waiter : holder, names[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", 4 * ROUNDS);
	return 0;
}
