/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deadlock.c - threads in a circle, each with a mutex that the one before it wants; prints their thread ids,
 * in the order in which they wait for each other, once all of them wait, and exits with 3. deadlock [THREADS]
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 8

static pthread_mutex_t mutexes[MOST];
static pthread_barrier_t barrier;
static atomic_int tids[MOST];
static int count = 2;

static void *one(void *arg)
{
	int i = (int)(size_t)arg;

	pthread_mutex_lock(&mutexes[i]);
	pthread_barrier_wait(&barrier);
	atomic_store(&tids[i], (int)syscall(SYS_gettid));
	pthread_mutex_lock(&mutexes[(i + 1) % count]);
	return NULL;
}

/* It sleeps, which behind its number it does for the mutex alone. */
static int sleeps(int tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = tid ? fopen(path, "r") : NULL;
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state == 'S';
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST];

	if (argc > 1)
		count = atoi(argv[1]);
	pthread_barrier_init(&barrier, NULL, (unsigned)count);
	for (int i = 0; i < count; i++)
		pthread_mutex_init(&mutexes[i], NULL);
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, one, (void *)(size_t)i);
	for (int i = 0; i < count; i++)
		while (!sleeps(atomic_load(&tids[i])))
			sched_yield();
	for (int i = 0; i < count; i++)
		printf("%d\n", atomic_load(&tids[i]));
	fflush(stdout);
	usleep(500000); /* shorter than the waits, longer than all else */
	_exit(3);
}
