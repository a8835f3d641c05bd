/* SPDX-License-Identifier: Apache-2.0 */
/* scan_internal.h - for scan.c and scan_rows.c: a scan, and how it returns rows. */
#ifndef TIMELINE_SCAN_INTERNAL_H
#define TIMELINE_SCAN_INTERNAL_H

#include "timeline/run/run_internal.h"
#include "timeline/scan/scan.h"
#include "timeline/scan/scan_heap.h"

struct scan {
	struct run *run;
	const struct run_part *part;
	struct store_cursor *cursor;
	struct batch batch, lent;  /* with its own columns; with those of a source */
	bool is_lent;		   /* rows of the top source were returned without a copy */
	uint64_t begin_ns, end_ns; /* window in the store's time */
	uint64_t run_begin_ns, run_end_ns;
	unsigned flags, decode;	    /* columns to decode */
	struct store_chunk pending; /* read from the cursor, not in the heap yet */
	bool has_pending;
	struct scan_heap heap;
	struct store_record carry;
	bool has_carry;
	uint32_t op_store, op_run; /* the last text operation, and its translation */
};

/* Appends rows [at, at + count) of a source to the batch. */
int scan_put_rows(
	struct scan *scan, const struct store_batch *s, size_t at, size_t count, struct error *error);
/* True when the top source's rows up to there can be returned without a copy or translation, and are enough
 * to pay off. */
bool scan_may_lend(const struct scan *scan, size_t to);
void scan_lend_top(struct scan *scan, size_t to);

#endif
