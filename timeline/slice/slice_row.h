/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_row.h - a record as a row: its fields as text, and its place in the one order of slice.h. Inside
 * slice.c.
 */
#ifndef TIMELINE_SLICE_ROW_H
#define TIMELINE_SLICE_ROW_H

#include "store/base/arena.h"
#include "timeline/slice/slice.h"

struct slice_row {
	struct store_record record; /* ids of the run, attributes of the stream's store */
	uint32_t stream;	    /* of the run */
	uint32_t rank;		    /* of the stream's text among all */
	enum store_track track;
};

/* What rows need to become text. */
struct slice_texts {
	struct run *run;
	uint64_t origin_ns;
	uint32_t depth;	    /* of paths */
	uint32_t *ranks;    /* [stream] */
	const char **paths; /* [run context], made when first asked for */
	uint32_t path_count;
	uint64_t paths_max; /* bytes */
	struct arena arena;
	struct store_bytes left, right; /* scratch */
	bool failed;			/* memory was out: nothing told since is true */
};

/* Ranks the selected streams. After a failure, too, it is to be given to slice_texts_fini. */
int slice_texts_init(
	struct slice_texts *texts, struct run *run, const struct select *select, struct error *error);
void slice_texts_fini(struct slice_texts *texts);

/* For qsort_r, with the texts. */
int slice_row_compare(const void *left, const void *right, void *texts);
/* Prints the row, but where memory is out. */
void slice_row_report(struct slice_texts *texts, struct report *report, const struct slice_row *row);

#endif
