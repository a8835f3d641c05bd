/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slice_row.h - a record as a row: its fields as text, and the order of slice.h. For slice.c.
 */
#ifndef TIMELINE_SLICE_ROW_H
#define TIMELINE_SLICE_ROW_H

#include "store/base/arena.h"
#include "timeline/slice/slice.h"

struct slice_row {
	struct store_record record; /* ids of the run, attributes of the stream's store */
	uint32_t stream;	    /* of the run */
	uint32_t rank;		    /* sort position of the stream's text */
	enum store_track track;
};

/* What is needed to print rows. */
struct slice_texts {
	struct run *run;
	uint64_t origin_ns;
	uint32_t depth;	    /* of paths */
	uint32_t *ranks;    /* [stream] */
	const char **paths; /* [run context], made on first use */
	uint32_t path_count;
	uint64_t paths_max; /* bytes */
	struct arena arena;
	struct store_bytes left, right; /* scratch */
	bool failed;			/* no memory: comparisons since then are wrong */
};

/* Ranks the selected streams. Call slice_texts_fini also after a failure. */
int slice_texts_init(
	struct slice_texts *texts, struct run *run, const struct select *select, struct error *error);
void slice_texts_fini(struct slice_texts *texts);

/* For qsort_r, with the texts. */
int slice_row_compare(const void *left, const void *right, void *texts);
/* Prints the row, unless there is no memory. */
void slice_row_report(struct slice_texts *texts, struct report *report, const struct slice_row *row);

#endif
