/* SPDX-License-Identifier: Apache-2.0 */
/*
 * causes.c KIND ROUNDS - calls whose causes of waiting hpct records, as fast as they can be made: prints
 * nanoseconds of a round. tests/bench/causes.py runs it bare and recorded.
 *
 *   free       4 threads, each locks and unlocks a mutex of its own: nobody waits
 *   own        the same with about 2 us of work for each lock, as a program has
 *   hot        4 threads, one mutex
 *   condition  2 threads hand a token over and back by a condition
 *   pipe       the same by two pipes
 *   stream     one thread writes 64 bytes at a time to a pipe, another reads what there is
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4

static long rounds;
static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static long turn, shared;
static int there[2], back[2];

static void *lock_own(void *unused)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	volatile long own = 0;

	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		own++;
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void *lock_and_work(void *unused)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	volatile double sum = 1;

	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		for (int step = 0; step < 400; step++)
			sum = sum * 0.999 + 1;
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void *lock_hot(void *unused)
{
	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&hot);
		shared++;
		pthread_mutex_unlock(&hot);
	}
	return unused;
}

static void *take_turns(void *which)
{
	long own = which != NULL;

	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&hot);
		while (turn % 2 != own)
			pthread_cond_wait(&turned, &hot);
		turn++;
		pthread_cond_signal(&turned);
		pthread_mutex_unlock(&hot);
	}
	return NULL;
}

static void *answer(void *unused)
{
	char byte;

	for (long i = 0; i < rounds; i++)
		if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
			abort();
	return unused;
}

static void *ask(void *unused)
{
	char byte = 1;

	for (long i = 0; i < rounds; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			abort();
	return unused;
}

static void *pour(void *unused)
{
	char bytes[64] = {0};

	for (long i = 0; i < rounds; i++)
		if (write(there[1], bytes, sizeof bytes) != sizeof bytes)
			abort();
	close(there[1]);
	return unused;
}

static void *drink(void *unused)
{
	static char bytes[65536];

	while (read(there[0], bytes, sizeof bytes) > 0)
		;
	return unused;
}

static const struct kind {
	const char *name;
	void *(*even)(void *), *(*odd)(void *);
	int threads;
} kinds[] = {{"free", lock_own, lock_own, THREADS}, {"own", lock_and_work, lock_and_work, THREADS},
	{"hot", lock_hot, lock_hot, THREADS}, {"condition", take_turns, take_turns, 2},
	{"pipe", ask, answer, 2}, {"stream", pour, drink, 2}};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	double begin_ns = now_ns();

	rounds = argc > 2 ? atol(argv[2]) : 0;
	if (pipe(there) || pipe(back))
		return 1;
	for (size_t k = 0; argc > 2 && k < sizeof kinds / sizeof *kinds; k++) {
		if (strcmp(kinds[k].name, argv[1]))
			continue;
		for (int i = 0; i < kinds[k].threads; i++)
			pthread_create(
				&threads[i], NULL, i % 2 ? kinds[k].odd : kinds[k].even, i % 2 ? "" : NULL);
		for (int i = 0; i < kinds[k].threads; i++)
			pthread_join(threads[i], NULL);
		printf("%.1f\n", (now_ns() - begin_ns) / (double)rounds);
		return 0;
	}
	fprintf(stderr, "causes KIND ROUNDS\n");
	return 1;
}
