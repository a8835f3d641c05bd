/* SPDX-License-Identifier: Apache-2.0 */
/*
 * million.c - recursion a million frames deep, in a thread with a stack that holds it. Arguments: CPU seconds
 * at the bottom (default 0.5), functions that call each other in turn (1, the default, 2 or 3; 0: three in no
 * order), depth (default 1000000).
 *
 * What the trace must show: all full stacks, nearly all time in bottom, below at most two rounds of the
 * recursion: thread;start;one;one;bottom, or thread;start;one;two;one;two;bottom; with -r below all of its
 * levels. Going down and up takes a few per cent.
 */
#include "samples/burn.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define STACK_BYTES ((size_t)1 << 30)

static double bottom_ns = 0.5e9;
static int turns = 1, depth = 1000000;

static int next(int left);

APART static int bottom(void)
{
	BURN(bottom_ns);
	return 1;
}

#define LEVEL(name)                                       \
	APART static int name(int left)                   \
	{                                                 \
		int below = left ? next(left) : bottom(); \
                                                          \
		__asm__ volatile("" : "+r"(below));       \
		return below + 1;                         \
	}

LEVEL(one)
LEVEL(two)
LEVEL(three)

/* In no order: there is none in these bits. */
static int turn_of(int left)
{
	return turns ? (depth - left + 1) % turns : (int)((unsigned)left * 2654435761u >> 16) % 3;
}

static inline __attribute__((always_inline)) int next(int left)
{
	int turn = turn_of(left);

	return turn == 0 ? one(left - 1) : turn == 1 ? two(left - 1) : three(left - 1);
}

APART static void *start(void *nothing)
{
	int frames = one(depth - 1);

	(void)nothing;
	printf("%d\n", frames);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (argc > 1)
		bottom_ns = atof(argv[1]) * 1e9;
	if (argc > 2)
		turns = atoi(argv[2]);
	if (argc > 3)
		depth = atoi(argv[3]);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	if (turns < 0 || turns > 3 || depth < 1 || pthread_create(&thread, &attributes, start, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
