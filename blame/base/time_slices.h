/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_slices.h - splits a long window into ranges of about as many records each, so that the memory of
 * sweeps (launches, queued work) does not grow with the run.
 */
#ifndef BLAME_TIME_SLICES_H
#define BLAME_TIME_SLICES_H

#include "blame/base/process.h"

/* Records per range, about; fewer with --mem. Tests set it. */
extern uint64_t time_slices_records;

struct time_slices {
	uint64_t begin_ns, end_ns; /* the current range, half-open and not empty */
	bool is_first, is_last;
	uint64_t of_begin_ns, of_end_ns, count, number; /* the window; number of ranges; ranges returned */
};

/* For the records of these processes in the window. */
struct time_slices time_slices_of(const struct run *run, const struct process *processes, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns);
/* The next range, adjacent to the last; false: no more. An empty window has none. */
bool time_slices_next(struct time_slices *blocks);

#endif
