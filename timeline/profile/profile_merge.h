/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_merge.h - merges the profiles of several runs into one tree (S4 10.10.1): a path in more than one
 * of them is one row, with the metrics of each side by side. For any number of runs and any view; for
 * changes with their noise see diff.h.
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

/* Rows are joined by kind and name, not by address or directory, so that two builds compare; functions of one
 * name in a run stay apart (function_homes.h). In a top-down
 * tree the line of a call does not matter: calls of a function from two lines of its caller are one row. In
 * other views it does, because two rows may be on one path and must not be added.
 *
 * `names` NULL: a union, of runs of one program with different events: a metric keeps its name, and its
 * numbers are those of the first profile that has it. Else metrics are called "NAME:METRIC" and sorted by
 * metric, then by profile; a missing path counts 0. `has_difference`: of two profiles, a column "B-A:METRIC",
 * a real number, follows each metric of both. Rows are in `arena`; their strings stay the runs'. */
int profile_merge(struct profile *merged, const struct profile *profiles, const char *const *names,
	size_t count, bool is_top_down, bool has_difference, struct arena *arena, struct error *error);

/* What a profile has where the others have nothing: its rows, and what these count themselves, in per cent of
 * all of its first metric. */
struct profile_lone {
	size_t rows, lone;
	double percent;
	const char *metric; /* NULL: the profile has none */
};
/* Of each profile, in the arena. */
int profile_merge_lone(const struct profile_lone **lone, const struct profile *profiles, size_t count,
	bool is_top_down, struct arena *arena, struct error *error);

#endif
