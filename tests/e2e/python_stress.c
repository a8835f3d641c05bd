/* SPDX-License-Identifier: Apache-2.0 */
/* python_stress.c - a library for python_stress.py: calls back into Python, from C frames, and crashes below
 * it. */
#include <stdlib.h>

static int (*callee)(int);
static int total;

static int compare(const void *a, const void *b)
{
	total += callee(1);
	return *(const int *)a - *(const int *)b;
}

int call_back(int (*function)(int), int number)
{
	int list[4] = {number, 3, 2, 1};

	callee = function;
	total = function(number);
	qsort(list, 4, sizeof(*list), compare);
	return total + list[0];
}

int crash(int (*function)(int), int depth)
{
	volatile int *nowhere = NULL;

	if (depth)
		function(depth);
	return *nowhere;
}
