/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executions.h - how often code ran, by the samples at which it issued. Instructions that run as a whole, one
 * after another without a branch or a join, tell alike, so all of them together tell best.
 */
#ifndef BLAME_EXECUTIONS_H
#define BLAME_EXECUTIONS_H

#include "blame/stalls/causes.h"

struct executions {
	double sum;	/* samples of the instructions, a count */
	unsigned count; /* instructions; 0: there are none */
};

/* From an instruction on, as long as nothing branches or joins. period: cycles between samples, 1: unknown.
 */
struct executions executions_from(
	const struct dependency_code *flow, const struct cause_samples *samples, double period, uint32_t at);
/* Back to where the instruction's block begins. */
uint32_t executions_block(const struct dependency_code *flow, uint32_t at);

/* Samples of one execution's share: proportional to how often. */
static inline double executions_mean(struct executions executions)
{
	return executions.sum / executions.count;
}

/* Of the mean: samples are counts, whose variance is as large as they are; none is no certainty. */
static inline double executions_variance(struct executions executions)
{
	return (executions.sum + 1) / executions.count / executions.count;
}

#endif
