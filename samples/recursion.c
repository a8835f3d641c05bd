/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recursion.c - the example of S4 10.4.2: m calls f and g, f calls g, g calls itself once and then h.
 * Argument: CPU seconds of one unit (default 0.1; ten units in all).
 *
 * What the trace must show, in units, inclusive and exclusive. Top-down:
 *
 *   m 10 0 --+-- f 7 1 ---- g1 6 1 ---- g2 5 1 ---- h 4 4
 *            +-- g3 3 3
 *
 * Bottom-up and flat: m 10 0, f 7 1, g 9 5 (g1 + g3; g2 lies inside g1 and is not added), h 4 4.
 */
#include "samples/burn.h"

#include <stdlib.h>

static double unit_ns = 0.1e9;

APART static void h(void)
{
	BURN(4 * unit_ns);
}

APART static void g(double units, int depth)
{
	BURN(units * unit_ns);
	if (depth == 1)
		g(1, 2);
	if (depth == 2)
		h();
	NO_TAIL_CALL();
}

APART static void f(void)
{
	BURN(unit_ns);
	g(1, 1);
	NO_TAIL_CALL();
}

APART static void m(void)
{
	f();
	g(3, 0);
	NO_TAIL_CALL();
}

int main(int argc, char **argv)
{
	if (argc > 1)
		unit_ns = atof(argv[1]) * 1e9;
	m();
	return 0;
}
