/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_merge.h - one tree of the profiles of several runs (S4 10.10.1): a path that more than one of them
 * has is one row, with the metrics of each beside the others'. For any number of runs and for any view; what
 * changed, with its noise, is diff.h's.
 *
 *   A  main 10      B  main 12           main    A 10  B 12
 *      |- f  7         |- f  5     -->    |- f   A  7  B  5
 *      `- g  2         `- h  6            |- g   A  2  B  0
 *                                         `- h   A  0  B  6
 */
#ifndef TIMELINE_PROFILE_MERGE_H
#define TIMELINE_PROFILE_MERGE_H

#include "store/base/arena.h"
#include "timeline/profile/profile.h"

/* Rows meet by kind and name, not by addresses or directories, so that two builds compare. In a top-down
 * tree the line of a call is no part of what a row is: calls of a function from two lines of its caller are
 * one row. In the others it is, where two rows may lie on one path and must not be added up.
 *
 * Metrics are called "NAME:METRIC" and stand by metric, then by profile; a row has 0 of those that its path
 * was not in. `has_difference`: of two profiles, each metric of both is followed by "B-A:METRIC", a real
 * number. Rows are in `arena`; their strings stay those of the runs. */
int profile_merge(struct profile *merged, const struct profile *profiles, const char *const *names,
	size_t count, bool is_top_down, bool has_difference, struct arena *arena, struct error *error);

#endif
