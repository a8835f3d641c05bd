/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling_fit.h - how a cost grows with the number of parts, as Extra-P finds it: of a few models the one
 * that foretells each measured point best from the others, and the constant unless what is won by another
 * could not be chance.
 *
 *   constant  a             power  a + b p^k, k = 1/2, 3/2, 2, 3, -1/2, -1
 *   log       a + b log2(p)
 *   linear    a + b p
 *
 * Noise is taken to be in proportion to the cost: squares of relative errors are what is least.
 */
#ifndef TIMELINE_SCALING_FIT_H
#define TIMELINE_SCALING_FIT_H

#include <stddef.h>

enum scaling_model { SCALING_CONSTANT, SCALING_LOG, SCALING_LINEAR, SCALING_POWER, SCALING_MODEL_COUNT };
const char *scaling_model_name(enum scaling_model model);

struct scaling_fit {
	enum scaling_model model;
	double exponent; /* of a power; 1 of linear, else 0 */
	double constant, coefficient;
	double error; /* mean of |measured - fitted| / (their mean), 0 to 2 */
};

#define SCALING_POINTS_LEAST 3u /* of different p */

/* Of `count` points with parts[i] >= 1 ascending and costs[i] >= 0. */
struct scaling_fit scaling_fit_make(const double *parts, const double *costs, size_t count);
double scaling_fit_value(const struct scaling_fit *fit, double parts);
/* "80 ms + 12 ms log2(p)"; `human` writes an amount. */
#define SCALING_TEXT 120
void scaling_fit_text(char text[SCALING_TEXT], const struct scaling_fit *fit,
	void (*human)(char *text, size_t size, double amount, const char *unit), const char *unit);

#endif
