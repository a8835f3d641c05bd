/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats_ask.h - the question of hpct-stats: what it refuses, and its answer before it is printed.
 */
#ifndef TIMELINE_STATS_ASK_H
#define TIMELINE_STATS_ASK_H

#include "timeline/select/select.h"
#include "timeline/stats/stats.h"

/* The requested key, by default the function. ERROR_USAGE: no such key, with the names of those there are;
 * `others`: the end of that list, "stream or op". */
int stats_ask_by(const struct select *select, enum stats_by *by, const char *others, struct error *error);
/* The rows of a bound selector with its key, which may also be a group of streams (stream_groups.h;
 * `has_labels`: they are called as people do); in `arena`. ERROR_USAGE: a key or metric that means nothing
 * here; ERROR_EMPTY: nothing is monitored in the window. */
int stats_ask(struct stats *stats, struct run *run, const struct select *select, bool has_labels,
	struct arena *arena, struct error *error);
/* The same while figures met a condition (stats_of_when()); 0 in *met_ns: they never did. */
int stats_ask_when(struct stats *stats, struct run *run, const struct select *select, const char *condition,
	bool has_labels, uint64_t *met_ns, struct arena *arena, struct error *error);

#endif
