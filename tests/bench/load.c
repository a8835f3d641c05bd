/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - a fixed amount of work for the benchmark, unlike the samples, whose work is a fixed amount
 * of CPU time: what a profiler costs must show. Arguments: one | many | short, turns in millions (default
 * 1000).
 *
 *   one    one thread, 27 frames deep
 *   many   eight threads that share the turns, a lock each 20,000 turns and a sleep now and then
 *   short  500 threads, one after the other
 *
 * Prints CLOCK_MONOTONIC (ns) as its last act, so that "from the end of the run" has a beginning.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART __attribute__((noinline, noclone, noipa))

enum { THREADS = 8, DEPTH = 24, BLOCK = 20000, SHORT = 500 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t total;
static uint64_t turns = 1000000000;

APART static uint64_t turn(uint64_t seed, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(seed));
	}
	return seed;
}

APART static uint64_t descend(int depth, uint64_t count)
{
	uint64_t sum = depth == 0 ? turn(count, count) : descend(depth - 1, count);

	__asm__ volatile("" : "+r"(sum));
	return sum + 1;
}

static void *share(void *argument)
{
	uint64_t blocks = turns / THREADS / BLOCK;
	struct timespec pause = {0, 500000};

	(void)argument;
	for (uint64_t block = 0; block < blocks; block++) {
		uint64_t sum = descend(DEPTH / 2, BLOCK);

		pthread_mutex_lock(&lock);
		total += sum;
		pthread_mutex_unlock(&lock);
		if (block % 200 == 199)
			nanosleep(&pause, NULL);
	}
	return NULL;
}

static int many(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, share, NULL) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void *little(void *argument)
{
	total += descend(DEPTH / 2, turns / SHORT);
	return argument;
}

static int short_ones(void)
{
	pthread_t thread;

	for (int i = 0; i < SHORT; i++)
		if (pthread_create(&thread, NULL, little, NULL) != 0 || pthread_join(thread, NULL) != 0)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	struct timespec now;
	int failed = 0;

	if (argc > 2)
		turns = strtoull(argv[2], NULL, 10) * 1000000;
	if (argc > 1 && strcmp(argv[1], "many") == 0)
		failed = many();
	else if (argc > 1 && strcmp(argv[1], "short") == 0)
		failed = short_ones();
	else
		total = descend(DEPTH, turns);
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
	return failed;
}
