/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_extents.h - replaces a source file that is not found: the functions that it defines and the lines
 * known of each, from paths of the run (S4 12.6.11).
 */
#ifndef TIMELINE_SOURCE_EXTENTS_H
#define TIMELINE_SOURCE_EXTENTS_H

#include "timeline/run/run.h"

struct source_extent {
	const char *name;     /* of the run */
	uint32_t first, last; /* lines: of the definition, if known; the last one seen */
};

/* The functions defined in a file, by its path in debug information, sorted by first line; malloc'ed, the
 * caller frees it. Negative: no memory. */
int source_extents(const struct run *run, const char *path, struct source_extent **extents, size_t *count);
/* The last one that contains the line; NULL: none. */
const struct source_extent *source_extent_at(
	const struct source_extent *extents, size_t count, uint32_t line);

#endif
