/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_sum_open.h - for state_samples.c and state_edges.c only: the ranges in which only samples make a
 * stream's timeline.
 */
#ifndef TIMELINE_STATE_SUM_OPEN_H
#define TIMELINE_STATE_SUM_OPEN_H

#include "timeline/run/run_internal.h"

struct state_sum_open {
	struct state_sum_stretch {
		uint64_t begin_ns, end_ns;
	} * at; /* in order, disjoint */
	uint32_t count, capacity;
};

/* The part of [begin, end) in which the stream lives, is monitored and no span owns the timeline.
 * `has_all_spans`: only samples were dropped. The caller frees open->at in any case. */
int state_sum_open_find(struct state_sum_open *open, struct run *run, uint32_t stream,
	const struct run_line *line, uint64_t begin_ns, uint64_t end_ns, bool has_all_spans,
	struct error *error);
/* True when the range from one moment to the other, both included, is open. */
bool state_sum_open_holds(const struct state_sum_open *open, uint64_t first_ns, uint64_t last_ns);
/* End of the open range that contains at_ns; 0: none. */
uint64_t state_sum_open_end(const struct state_sum_open *open, uint64_t at_ns);

#endif
