/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bookmark.h - named moments and stretches of a run: `mark` and `range` spans that the program or a recorder
 * left, and the bookmarks that a user set while reading (marks.tsv in the run).
 *
 * Both marks.tsv of the run and the user's own file are read.
 *
 *   marks.tsv   name <tab> begin_ns <tab> end_ns     one header line; columns are found by name, others are
 *                                                    passed over; times from the run's origin; an empty
 *                                                    end_ns is a moment; names are escaped as in every table
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

/* All marks by begin, then name, in `arena`. Reads the operations of all spans once. ERROR_RUN when marks.tsv
 * cannot be understood. */
int mark_list(
	struct run *run, struct arena *arena, const struct mark **marks, size_t *count, struct error *error);
/* The same as instances of what the program does, all of which have a length: a moment lasts to the next
 * moment of its stream, the last one to `until_ns` (or its own time, if that is later). */
int mark_instances(struct run *run, uint64_t until_ns, struct arena *arena, const struct mark **marks,
	size_t *count, struct error *error);
/* The bookmarks alone: reads no records. */
int bookmark_list(
	struct run *run, struct arena *arena, const struct mark **marks, size_t *count, struct error *error);

/* Keeps a bookmark, in place of one of that name: in the run's marks.tsv, or, where the run cannot be
 * written, in the user's cache directory (hpct/marks). Other lines and columns stay. */
int bookmark_save(
	const struct run *run, const char *name, uint64_t begin_ns, uint64_t end_ns, struct error *error);
/* A file of bookmarks, to be read: the caller's to close; NULL: nobody has set one, it is not ours to read,
 * or no file. */
FILE *bookmark_file_open(const char *path);
/* Where the user's own marks of the run are; the caller's to free, NULL: there is no such place. */
char *bookmark_user_path(const struct run *run);

#endif
