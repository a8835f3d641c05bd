/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frees.c - one thread allocates 64 blocks of 100 bytes 200,000 levels deep, another frees them. In between
 * the address space is limited behind libc's back, so that the recorder has less room for the second thread.
 * Prints how many were freed. With an argument there is no order in the levels, of two functions.
 *
 * What the trace must show with -r -e MEMLEAK: as much freed as allocated, on the same path; without order
 * what the ring has no room for has an unknown one.
 */
#include "samples/burn.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH 200000
#define BLOCKS 64
#define ROOM (UINT64_C(96) << 20)

static void *blocks[BLOCKS];
static bool has_order;

static void other(int left);

APART static void allocate(int left)
{
	if (left && (has_order || (unsigned)left * 2654435761u >> 31))
		allocate(left - 1);
	else if (left)
		other(left - 1);
	for (int i = 0; !left && i < BLOCKS; i++)
		blocks[i] = malloc(100);
	NO_TAIL_CALL();
}

APART static void other(int left)
{
	allocate(left);
	NO_TAIL_CALL();
}

APART static void *allocate_all(void *barrier)
{
	allocate(DEPTH);
	pthread_barrier_wait(barrier); /* it is there until the other is: */
	pthread_barrier_wait(barrier); /* what the recorder has for it serves no other */
	return NULL;
}

APART static void *free_all(void *nothing)
{
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return nothing;
}

static void limit(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	struct rlimit room;

	if (!file || fscanf(file, "%lu", &pages) != 1)
		exit(1);
	fclose(file);
	room.rlim_cur = room.rlim_max = pages * (rlim_t)sysconf(_SC_PAGESIZE) + ROOM;
	syscall(SYS_prlimit64, 0, RLIMIT_AS, &room, NULL);
}

int main(int argc, char **argv)
{
	pthread_barrier_t barrier;
	pthread_attr_t attributes;
	pthread_t allocates, frees;

	(void)argv;
	has_order = argc == 1;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)64 << 20);
	if (pthread_create(&allocates, &attributes, allocate_all, &barrier))
		return 1;
	pthread_barrier_wait(&barrier);
	limit();
	pthread_attr_setstacksize(&attributes, (size_t)1 << 20);
	if (pthread_create(&frees, &attributes, free_all, NULL))
		return 1;
	pthread_join(frees, NULL);
	pthread_barrier_wait(&barrier);
	pthread_join(allocates, NULL);
	printf("%d\n", BLOCKS);
	return 0;
}
