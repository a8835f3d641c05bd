/* SPDX-License-Identifier: Apache-2.0 */
/* formula_function.c - the functions of formulas, a line each in the table at the end. */
#include "timeline/base/formula_function.h"

#include <math.h>
#include <string.h>

static double call_sum(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

static double call_avg(const double *values, size_t count)
{
	return call_sum(values, count) / (double)count;
}

static double call_min(const double *values, size_t count)
{
	double least = values[0];

	for (size_t i = 1; i < count; i++)
		least = values[i] < least || isnan(values[i]) ? values[i] : least;
	return least;
}

static double call_max(const double *values, size_t count)
{
	double most = values[0];

	for (size_t i = 1; i < count; i++)
		most = values[i] > most || isnan(values[i]) ? values[i] : most;
	return most;
}

/* Of a population, not of a sample of one. */
static double call_stdev(const double *values, size_t count)
{
	double mean = call_avg(values, count), sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sqrt(sum / (double)count);
}

#define CALL_ONE(name, expression)                                    \
	static double call_##name(const double *values, size_t count) \
	{                                                             \
		(void)count;                                          \
		return expression;                                    \
	}
CALL_ONE(abs, fabs(values[0]))
CALL_ONE(sqrt, sqrt(values[0]))
CALL_ONE(exp, exp(values[0]))
CALL_ONE(log, log(values[0]))
CALL_ONE(log10, log10(values[0]))
CALL_ONE(floor, floor(values[0]))
CALL_ONE(ceil, ceil(values[0]))
CALL_ONE(round, round(values[0]))
CALL_ONE(pow, pow(values[0], values[1]))
CALL_ONE(if, values[0] != 0 ? values[1] : values[2])
#undef CALL_ONE

static const struct formula_function functions[] = {
	{"avg", 1, FORMULA_ARGUMENTS_MAX, call_avg},
	{"sum", 1, FORMULA_ARGUMENTS_MAX, call_sum},
	{"min", 1, FORMULA_ARGUMENTS_MAX, call_min},
	{"max", 1, FORMULA_ARGUMENTS_MAX, call_max},
	{"stdev", 1, FORMULA_ARGUMENTS_MAX, call_stdev},
	{"abs", 1, 1, call_abs},
	{"sqrt", 1, 1, call_sqrt},
	{"exp", 1, 1, call_exp},
	{"log", 1, 1, call_log},
	{"log10", 1, 1, call_log10},
	{"floor", 1, 1, call_floor},
	{"ceil", 1, 1, call_ceil},
	{"round", 1, 1, call_round},
	{"pow", 2, 2, call_pow},
	{"if", 3, 3, call_if},
};

const struct formula_function *formula_function_find(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strlen(functions[i].name) == size && strncmp(functions[i].name, name, size) == 0)
			return &functions[i];
	return NULL;
}
