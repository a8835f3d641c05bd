/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_sum_open.h - for state_samples.c and state_edges.c alone: where nothing but samples makes a stream's
 * line.
 */
#ifndef TIMELINE_STATE_SUM_OPEN_H
#define TIMELINE_STATE_SUM_OPEN_H

#include "timeline/run/run_internal.h"

struct state_sum_open {
	struct state_sum_stretch {
		uint64_t begin_ns, end_ns;
	} * at; /* in order, apart */
	uint32_t count, capacity;
};

/* The part of [begin, end) in which the stream lives, is monitored and no span takes the line.
 * `has_all_spans`: what was thinned out is samples alone. The caller frees open->at, whatever is returned. */
int state_sum_open_find(struct state_sum_open *open, struct run *run, uint32_t stream,
	const struct run_line *line, uint64_t begin_ns, uint64_t end_ns, bool has_all_spans,
	struct error *error);
/* Is the line open from one moment to the other, both included? */
bool state_sum_open_holds(const struct state_sum_open *open, uint64_t first_ns, uint64_t last_ns);
/* Until when is it from there on? 0: it is not. */
uint64_t state_sum_open_end(const struct state_sum_open *open, uint64_t at_ns);

#endif
