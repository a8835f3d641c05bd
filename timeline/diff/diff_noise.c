/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_noise.c - how sure a difference is: see diff.h for the estimator.
 */
#include <math.h>

#include "timeline/diff/diff.h"

#define NORMAL 1.959964 /* 97.5 % quantile */

/* Student's 97.5 % quantiles of 1.. degrees of freedom. */
static const double students[] = {
	12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281};
#define STUDENTS (sizeof students / sizeof *students)

/* Degrees in between count as the next lower number: rather too wide. Beyond the table: Cornish-Fisher. */
static double quantile(double freedom)
{
	const double z = NORMAL, cube = z * z * z;
	const size_t count = STUDENTS;
	double n = floor(freedom);

	if (n < 1)
		n = 1;
	if (n <= (double)count)
		return students[(size_t)n - 1];
	return z + (cube + z) / (4 * n) + (5 * cube * z * z + 16 * cube + 3 * z) / (96 * n * n);
}

struct diff_estimate diff_estimate_of(const double *values, const double *sampled, size_t count)
{
	struct diff_estimate estimate = {.repeats = count};
	double squares = 0, known = 0, n = (double)count, scatter;

	for (size_t i = 0; i < count; i++)
		estimate.mean += values[i] / n;
	for (size_t i = 0; i < count; i++) {
		squares += (values[i] - estimate.mean) * (values[i] - estimate.mean);
		known += sampled[i];
	}
	estimate.variance = known / (n * n);
	scatter = count > 1 ? squares / (n - 1) / n : 0;
	if (scatter > estimate.variance) {
		estimate.variance = scatter;
		estimate.freedom = n - 1;
	}
	return estimate;
}

double diff_noise(const struct diff_estimate *a, const struct diff_estimate *b)
{
	double variance = a->variance + b->variance, freedoms = 0;

	if (a->freedom > 0)
		freedoms += a->variance * a->variance / a->freedom;
	if (b->freedom > 0)
		freedoms += b->variance * b->variance / b->freedom;
	return (freedoms > 0 ? quantile(variance * variance / freedoms) : NORMAL) * sqrt(variance);
}

static bool is_exact(const struct diff_estimate *side)
{
	return side->repeats < 2 && !side->is_sampled && side->mean != 0;
}

bool diff_noise_is_known(const struct diff_estimate *a, const struct diff_estimate *b)
{
	if (is_exact(a) || is_exact(b))
		return false;
	return a->variance > 0 || b->variance > 0 || (a->repeats > 1 && b->repeats > 1);
}
