/* SPDX-License-Identifier: Apache-2.0 */
/* formula_function.h - the functions of formulas. For formula*.c only. */
#ifndef TIMELINE_FORMULA_FUNCTION_H
#define TIMELINE_FORMULA_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

#define FORMULA_ARGUMENTS_MAX 64u

struct formula_function {
	const char *name;
	uint32_t least, most; /* arguments */
	double (*call)(const double *values, size_t count);
};

/* The function of that name, static; NULL: none. */
const struct formula_function *formula_function_find(const char *name, size_t size);

#endif
