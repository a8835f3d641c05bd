/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_sums.h - what a selection sums up to by call path, a value of each metric, for formats that hold a
 * profile. Without --metric the metrics are the recorded ones (of a run without samples REALTIME), and
 * GPUTIME, the time of GPU operations by the path that launched them; samples of GPU instructions by their
 * metrics.
 */
#ifndef FORMATS_PATH_SUMS_H
#define FORMATS_PATH_SUMS_H

#include "timeline/base/key_ids.h"
#include "timeline/select/select.h"

#define PATH_SUMS_METRICS 64u

struct path_sums {
	struct run *run;
	const struct select *select;
	uint32_t metrics[PATH_SUMS_METRICS]; /* of the run, derived ones behind them; GPUTIME: UINT32_MAX */
	size_t metric_count;
	struct key_ids contexts; /* [path] its context, uint32_t */
	uint64_t *values;	 /* [path * metric_count + metric], in the metric's unit, rounded down */
	size_t value_room;
};

/* Sums; path_sums_fini() in any case. ERROR_EMPTY: nothing is monitored there. */
int path_sums_make(struct path_sums *sums, struct run *run, const struct select *select, struct error *error);
void path_sums_fini(struct path_sums *sums);

const char *path_sums_name(const struct path_sums *sums, size_t metric);
const char *path_sums_unit(const struct path_sums *sums, size_t metric); /* "" if none */
/* A thread's opening sample weighs nothing: there is nothing to show of it. */
bool path_sums_is_zero(const struct path_sums *sums, uint32_t path);

/* Where a path ends at the selected depth: its scope (UINT32_MAX: the empty path), and the line of it. */
uint32_t path_sums_leaf(const struct path_sums *sums, uint32_t path, uint32_t *line);

#endif
