/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_extents.h - stands in for a source file that is not found: the functions that it defines and the
 * lines that each has, as far as paths of the run pass them (S4 12.6.11).
 */
#ifndef TIMELINE_SOURCE_EXTENTS_H
#define TIMELINE_SOURCE_EXTENTS_H

#include "timeline/run/run.h"

struct source_extent {
	const char *name;     /* of the run */
	uint32_t first, last; /* lines: of the definition, if that is known; the last one met */
};

/* Those of the functions defined in the file that is called so by debug information, by their first line;
 * malloc'ed, the caller's to free. Negative: memory. */
int source_extents(const struct run *run, const char *path, struct source_extent **extents, size_t *count);
/* The one that holds the line, the last of several; NULL: none. */
const struct source_extent *source_extent_at(
	const struct source_extent *extents, size_t count, uint32_t line);

#endif
