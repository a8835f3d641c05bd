/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_slices.h - a long window in stretches of about as many records each, for sweeps that remember launches
 * and what is queued: so what they keep does not grow with the run.
 */
#ifndef BLAME_TIME_SLICES_H
#define BLAME_TIME_SLICES_H

#include "blame/base/process.h"

/* So many records are swept at once, about; fewer where memory is bounded (--mem). Tests set it. */
extern uint64_t time_slices_records;

struct time_slices {
	uint64_t begin_ns, end_ns; /* of the block at hand, half-open and not empty */
	bool is_first, is_last;
	uint64_t of_begin_ns, of_end_ns, count, number; /* the window; blocks; those that were given */
};

/* Of the records of these processes in the window. */
struct time_slices time_slices_of(const struct run *run, const struct process *processes, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns);
/* The next one, in order and without a hole; false: no more. An empty window has none. */
bool time_slices_next(struct time_slices *blocks);

#endif
