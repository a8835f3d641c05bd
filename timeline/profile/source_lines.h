/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_lines.h - weights of a window by line of one source file (S4 12.6.11): exclusive is what was
 * sampled in the line, inclusive adds what was called or inlined there; a line that is on a path several
 * times counts the path once.
 */
#ifndef TIMELINE_SOURCE_LINES_H
#define TIMELINE_SOURCE_LINES_H

#include "timeline/profile/profile.h"

struct source_line {
	uint32_t line;
	const union profile_value *inclusive, *exclusive; /* one for each metric */
};

/* Everything is in the given arena, or the run's. */
struct source_lines {
	struct profile profile;		  /* its metrics, no rows */
	const char *path;		  /* path in debug information; NULL: no selected sample has it */
	const union profile_value *total; /* of the selection, one for each metric */
	struct source_line *lines;	  /* those with a cost, by line */
	size_t count;
};

/* `file`: the path, or its end ("solver.c", "src/solver.c"). ERROR_USAGE, with the paths, if several end so.
 */
int source_lines_compute(struct source_lines *lines, struct run *run, const struct select *select,
	const char *file, struct arena *arena, struct error *error);
/* The entry of that line; NULL: none. */
const struct source_line *source_lines_at(const struct source_lines *lines, uint32_t line);

#endif
