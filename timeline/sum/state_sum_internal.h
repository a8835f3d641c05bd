/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_sum_internal.h - for state_sum.c and state_samples.c only.
 */
#ifndef TIMELINE_STATE_SUM_INTERNAL_H
#define TIMELINE_STATE_SUM_INTERNAL_H

#include "timeline/sum/state_sum.h"

/* Like state_sum(), from samples and spans only. */
int state_samples_sum(struct run *run, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	unsigned shift_max, const struct state_sum_sink *sink, struct error *error);

/* Returns whether one sum may include both moments. */
static inline bool state_sum_sink_is_one(
	const struct state_sum_sink *sink, unsigned shift_max, uint64_t first_ns, uint64_t last_ns)
{
	return sink->is_one ? sink->is_one(sink->own, first_ns, last_ns)
			    : first_ns >> shift_max == last_ns >> shift_max;
}

#endif
