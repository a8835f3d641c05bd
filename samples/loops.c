/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops.c - loops in a function, in one inlined into it, and around a call. Argument: CPU seconds (default
 * 0.5).
 *
 * What the trace must show, below main, by the lines marked in this file:
 *
 *   work                                                about 2/3 and 1/3 of the time:
 *     loop `outer`
 *       loop `middle` - inlined sum_row - loop `inner`
 *       loop `called` - leaf
 */
#include "samples/burn.h"

#include <stdlib.h>

#define COLUMNS 64

static uint64_t cells[COLUMNS];

static inline __attribute__((always_inline)) uint64_t sum_row(const uint64_t *row, uint64_t sum)
{
	for (unsigned i = 0; i < COLUMNS; i++) { /* MARK inner */
		sum = sum * 6364136223846793005u + row[i];
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

APART static uint64_t leaf(uint64_t sum)
{
	for (unsigned i = 0; i < COLUMNS; i++) { /* MARK leaf */
		sum = sum * 6364136223846793005u + i;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

APART static uint64_t work(uint64_t turns)
{
	uint64_t sum = turns;

	for (uint64_t turn = 0; turn < turns; turn++) {	 /* MARK outer */
		for (unsigned row = 0; row < 200; row++) /* MARK middle */
			sum = sum_row(cells, sum + row);
		for (unsigned call = 0; call < 100; call++) { /* MARK called */
			sum = leaf(sum + call);
			NO_TAIL_CALL();
		}
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.5;
	uint64_t sum = 0;

	while ((double)cpu_now_ns() < seconds * 1e9)
		sum += work(100);
	return sum == 1;
}
