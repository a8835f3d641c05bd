/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inline.c - six functions inlined into each other. Argument: CPU seconds (default 0.5).
 *
 * What the trace must show: one machine frame below main, `outer`, that expands to the inline chain
 *
 *   main;outer;i1;i2;i3;i4;i5;i6
 *
 * nearly all time in i6, at the lines between MARK begin and MARK end of this file. Each iN is called
 * from the line marked `calls i(N)`.
 */
#include "samples/burn.h"

#include <stdlib.h>

#define INLINED static inline __attribute__((always_inline)) uint64_t

INLINED i6(uint64_t turns)
{
	uint64_t sum = turns;

	for (uint64_t i = 0; i < turns; i++) { /* MARK begin */
		sum = sum * 6364136223846793005u + i;
		__asm__ volatile("" : "+r"(sum));
	} /* MARK end */
	return sum;
}

INLINED i5(uint64_t turns)
{
	return i6(turns) + 5; /* calls i6 */
}

INLINED i4(uint64_t turns)
{
	return i5(turns) + 4; /* calls i5 */
}

INLINED i3(uint64_t turns)
{
	return i4(turns) + 3; /* calls i4 */
}

INLINED i2(uint64_t turns)
{
	return i3(turns) + 2; /* calls i3 */
}

INLINED i1(uint64_t turns)
{
	return i2(turns) + 1; /* calls i2 */
}

APART static uint64_t outer(uint64_t turns)
{
	uint64_t sum = i1(turns); /* calls i1 */

	__asm__ volatile("" : "+r"(sum));
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t end_ns = cpu_now_ns() + (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 0.5));

	while (cpu_now_ns() < end_ns)
		outer(1000000);
	return 0;
}
