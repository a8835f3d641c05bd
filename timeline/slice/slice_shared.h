/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_shared.h - makes the parts of a slice (slice.c) in several processes: each makes every n-th part,
 * and holds its text until all before it are printed.
 *
 *   child 0   [0]      [2]      [4]
 *   child 1       [1]      [3]
 *   this one    0   1   2   3   4  --> report
 */
#ifndef TIMELINE_SLICE_SHARED_H
#define TIMELINE_SLICE_SHARED_H

#include "timeline/report/report.h"

#define SLICE_JOBS_MAX 64u

/* Prints the rows of part `number` into this process's report. */
typedef int slice_make(void *own, uint64_t number, struct error *error);

/* `report` is not a table. Uses fewer processes than `jobs`, or none, if forking fails. */
int slice_share(struct report *report, uint64_t stretches, unsigned jobs, slice_make *make, void *own,
	struct error *error);

#endif
