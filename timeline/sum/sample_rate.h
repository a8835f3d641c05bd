/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_rate.h - how many samples of instructions a GPU would give if all of its multiprocessors worked:
 * each gives one in every period cycles (S4 8.2.2: EXP = multiprocessors x clock x time in use / period). For
 * launch_samples.h, which knows what the time in use is.
 */
#ifndef TIMELINE_SAMPLE_RATE_H
#define TIMELINE_SAMPLE_RATE_H

#include "timeline/run/run.h"

/* What the recorder says of a stream of samples; 0: unknown. */
struct sample_facts {
	uint64_t period, multiprocessors, clock_khz;
	uint64_t lost; /* samples */
};

int sample_facts_read(struct sample_facts *facts, struct run *run, uint32_t stream, struct error *error);

struct sample_stretch {
	uint64_t begin_ns, end_ns;
};

/* Sorts and unites stretches that overlap, in place; how many are left. */
size_t sample_stretches_unite(struct sample_stretch *stretches, size_t count);

/* Cycles that all multiprocessors of the stream's GPU make in a ns. The clock is the mean of the recorded
 * figure gpu_clock over the stretches (disjoint, in order), or else the one that the recorder gives, the
 * GPU's highest. 0: not known. */
int sample_rate_find(double *cycles_per_ns, struct run *run, uint32_t stream,
	const struct sample_facts *facts, const struct sample_stretch *stretches, size_t count,
	struct error *error);

#endif
