/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trails.c [TURNS] - marks from call paths that look alike: frames of the same sizes at the same places of
 * the stack, in loops, so that a recorder that remembers where it has been may take one for another.
 *
 * What the trace must show: each mark's name is its path below main: "left near", "right far", ...; TURNS of
 * each on the first thread and on another.
 */
#include <pthread.h>
#include <stdlib.h>

#include "record/program/hpct.h"

#define APART __attribute__((noinline, noclone, noipa))
#define NO_TAIL_CALL() __asm__ volatile("")

#define ENDS(name)                              \
	static APART void name(const char *way) \
	{                                       \
		hpct_mark(way);                 \
		NO_TAIL_CALL();                 \
	}
ENDS(near)
ENDS(far)

#define WAYS(name)                           \
	static APART void name(int turn)     \
	{                                    \
		if (turn & 1)                \
			near(#name " near"); \
		else                         \
			far(#name " far");   \
		NO_TAIL_CALL();              \
	}
WAYS(left)
WAYS(right)

/* A frame of a size that only its frame pointer tells. */
static APART void wide(void (*way)(int), int turn, int bytes)
{
	volatile char *room = __builtin_alloca((size_t)bytes);

	room[0] = 1;
	way(turn);
	room[bytes - 1] = 1;
}

/* Runs of the same path, then another, then back: some remembered, some not. */
static APART void *turns(void *count)
{
	for (int turn = 0; turn < *(int *)count; turn++)
		for (int again = 0; again < 4; again++) {
			wide(left, turn + again / 2, 64);
			right(turn + again / 3);
		}
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 100;
	pthread_t other;

	turns(&count);
	pthread_create(&other, NULL, turns, &count);
	pthread_join(other, NULL);
	return 0;
}
