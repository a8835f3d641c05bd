/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readers.c - a writer that waits for the last of two readers, and a client that waits for the writer. In
 * each round the threads "early" and "late" read under a read-write lock; "change" takes a mutex, then wants
 * the lock to write; once it sleeps, "client" wants the mutex; once that sleeps, early leaves, then late,
 * after finish(). What the kernel says of a thread makes the order.
 *
 * What the trace must show: change waits for late, never for early; client for change; and both as a chain.
 * Prints the rounds.
 */
#include "samples/burn.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS 10
#define KEEP_NS 20000000

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int reading, wants, asks, left, done; /* threads that are so far, all rounds together */
static atomic_long writer, client;		    /* their numbers */
static volatile int sink;

static void await(atomic_int *what, int count)
{
	while (*what < count)
		syscall(SYS_sched_yield); /* directly: it is no wait of the program's */
}

/* The kernel's word for what the thread does. */
static char state_of(long thread)
{
	char path[64], text[256];
	const char *end;
	size_t size;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
	file = fopen(path, "re");
	if (!file)
		return '?';
	size = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[size] = '\0';
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : '?';
}

static void await_sleep(const atomic_long *thread)
{
	while (state_of(*thread) != 'S')
		syscall(SYS_sched_yield);
}

APART static void finish(void)
{
	BURN(KEEP_NS);
}

static void *early(void *name)
{
	pthread_setname_np(pthread_self(), name);
	for (int round = 0; round < ROUNDS; round++) {
		await(&done, 2 * round);
		pthread_rwlock_rdlock(&lock);
		reading++;
		await(&asks, round + 1);
		await_sleep(&client);
		pthread_rwlock_unlock(&lock);
		left++;
	}
	return NULL;
}

static void *late(void *name)
{
	pthread_setname_np(pthread_self(), name);
	for (int round = 0; round < ROUNDS; round++) {
		await(&done, 2 * round);
		pthread_rwlock_rdlock(&lock);
		reading++;
		await(&left, round + 1);
		finish();
		pthread_rwlock_unlock(&lock);
	}
	return NULL;
}

APART static void *change(void *name)
{
	pthread_setname_np(pthread_self(), name);
	writer = syscall(SYS_gettid);
	for (int round = 0; round < ROUNDS; round++) {
		await(&reading, 2 * (round + 1));
		pthread_mutex_lock(&mutex);
		wants++;
		pthread_rwlock_wrlock(&lock);
		sink = sink + 1;
		pthread_rwlock_unlock(&lock);
		pthread_mutex_unlock(&mutex);
		done++;
	}
	return NULL;
}

APART static void *ask(void *name)
{
	pthread_setname_np(pthread_self(), name);
	client = syscall(SYS_gettid);
	for (int round = 0; round < ROUNDS; round++) {
		await(&wants, round + 1);
		await_sleep(&writer);
		asks++;
		pthread_mutex_lock(&mutex);
		sink = sink + 1;
		pthread_mutex_unlock(&mutex);
		done++;
	}
	return NULL;
}

int main(void)
{
	static char names[4][8] = {"early", "late", "change", "client"};
	static void *(*const runs[4])(void *name) = {early, late, change, ask};
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, runs[i], names[i]))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", ROUNDS);
	return 0;
}
