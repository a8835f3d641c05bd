/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bookmark.h - named moments and ranges of a run: `mark` and `range` spans from the program or a recorder,
 * and the bookmarks that a user sets while reading (marks.tsv in the run).
 *
 * Reads both marks.tsv of the run and the user's own file.
 *
 *   marks.tsv   name <tab> begin_ns <tab> end_ns     one header line; columns are found by name, others are
 *                                                    ignored; times from the run's origin; an empty end_ns
 *                                                    is a moment; names are escaped as in every table
 */
#ifndef TIMELINE_BOOKMARK_H
#define TIMELINE_BOOKMARK_H

#include <stdio.h>

#include "store/base/arena.h"
#include "timeline/run/run.h"

#define BOOKMARK_FILE "marks.tsv"

struct mark {
	const char *name;
	uint64_t begin_ns, end_ns; /* absolute; equal: a moment; an open one ends at the run's end */
	uint32_t stream;	   /* UINT32_MAX: a bookmark */
};

/* All marks by begin, then name, in `arena`. Reads the operations of all spans once. ERROR_RUN: marks.tsv is
 * malformed. */
int mark_list(
	struct run *run, struct arena *arena, const struct mark **marks, size_t *count, struct error *error);
/* The same with a length each: a moment lasts to the next moment of its stream, the last one to `until_ns`
 * (or its own time, if later). */
int mark_instances(struct run *run, uint64_t until_ns, struct arena *arena, const struct mark **marks,
	size_t *count, struct error *error);
/* Only the bookmarks: reads no records. */
int bookmark_list(
	struct run *run, struct arena *arena, const struct mark **marks, size_t *count, struct error *error);

/* Saves a bookmark, replacing one of that name: in the run's marks.tsv or, if the run is not writable, in
 * the user's cache directory (hpct/marks). Other lines and columns stay. */
int bookmark_save(
	const struct run *run, const char *name, uint64_t begin_ns, uint64_t end_ns, struct error *error);
/* Opens a file of bookmarks; the caller closes it. NULL: none, not readable, or no regular file. */
FILE *bookmark_file_open(const char *path);
/* Path of the user's own marks of the run; the caller frees it. NULL: no cache directory. */
char *bookmark_user_path(const struct run *run);

#endif
