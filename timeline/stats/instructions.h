/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instructions.h - samples of GPU instructions (metrics GINST:STL_*) by function, line, loop, instruction,
 * launching path or reason of the stall: hpct-stats --metric GINST, and --by stall.
 */
#ifndef TIMELINE_INSTRUCTIONS_H
#define TIMELINE_INSTRUCTIONS_H

#include "store/base/arena.h"
#include "timeline/select/select.h"
#include "timeline/sum/launch_samples.h"

#define INSTRUCTIONS_METRIC "GINST"
#define INSTRUCTIONS_BY_NAMES "function, path, module, line, loop, file, instruction or stall"

struct instructions_row {
	const char *key;   /* as in the TSV */
	double weight;	   /* samples x period: cycles of a warp */
	double issued;	   /* of it: the warp issued */
	double latency;	   /* of it: no warp of the scheduler issued */
	const char *stall; /* "GMEM": the reason of most stalls; "" if none stalled */
	double stalled;	   /* of it: for that reason */
	double expected;   /* by function and path: weight that full use of the GPU gives; 0: unknown */
};

struct instructions {
	struct instructions_row *rows; /* by descending weight, then key; in the arena */
	size_t count;
	double weight, exact, shared, cut; /* of all rows (launch_samples.h) */
	struct launch_samples_use use;
};

/* Of the selector's window, streams, contexts (of launches) and key. ERROR_USAGE: another key. ERROR_EMPTY:
 * there are no such samples. */
int instructions_sum(struct instructions *instructions, struct run *run, const struct select *select,
	struct arena *arena, struct error *error);

/* Sets the error of a selection without samples: ERROR_EMPTY. */
int instructions_none(const struct run *run, const struct select *select, struct error *error);

#endif
