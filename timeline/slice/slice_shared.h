/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_shared.h - the stretches of a slice (slice.c) made by several processes: each makes every n-th of
 * them, and holds its text until all before it are out.
 *
 *   child 0   [0]      [2]      [4]
 *   child 1       [1]      [3]
 *   this one    0   1   2   3   4  --> report
 */
#ifndef TIMELINE_SLICE_SHARED_H
#define TIMELINE_SLICE_SHARED_H

#include "timeline/report/report.h"

#define SLICE_JOBS_MAX 64u

/* Prints the rows of stretch `number` into the report of this process. */
typedef int slice_make(void *own, uint64_t number, struct error *error);

/* `report` has no table's columns to keep. Fewer processes than `jobs` may be had, down to none. */
int slice_share(struct report *report, uint64_t stretches, unsigned jobs, slice_make *make, void *own,
	struct error *error);

#endif
