/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_scan.h - the records of a track of some streams, one stream after another, each in the order of
 * time: with a selector those of hpct-slice with its options, cut at the window, with the sample in force
 * there, or the span that says what was monitored, ahead of the others.
 *
 *   record_scan_init -> narrow streams, window, columns -> record_scan_next: batches -> record_scan_take:
 * rows
 */
#ifndef FORMATS_RECORD_SCAN_H
#define FORMATS_RECORD_SCAN_H

#include "timeline/scan/scan.h"
#include "timeline/select/select.h"
#include "timeline/slice/slice.h"

/* The numbers of a row for formulas, as hpct-slice has them: of all tracks in one row. */
enum {
	RECORD_SCAN_BEGIN,
	RECORD_SCAN_END,
	RECORD_SCAN_BYTES,
	RECORD_SCAN_WEIGHT,
	RECORD_SCAN_VALUE,
	RECORD_SCAN_NUMBERS
};
extern const char *const record_scan_numbers[RECORD_SCAN_NUMBERS];

struct record_scan {
	struct run *run;
	const struct select *select; /* NULL: every record, as it is */
	enum store_track track;
	/* -- may be narrowed before the first record_scan_next() -- */
	const uint32_t *streams; /* NULL: all */
	uint32_t stream_count;
	uint64_t begin_ns, end_ns;
	unsigned columns; /* enum store_column; with a selector all are read that it may look at */
	/* -- where it is -- */
	uint32_t stream_at, stream; /* stream: of the batch */
	struct slice_cut cut;
	struct scan *scan;
	struct store_record monitored; /* slice_cut_monitored(), if it is still to be given */
	struct batch own;	       /* of it */
	bool has_monitored;
};

/* All columns. ERROR_EMPTY: the selector has a time in which nothing is monitored. */
int record_scan_init(struct record_scan *scan, struct run *run, const struct select *select,
	enum store_track track, struct error *error);
/* Nothing is there that it could give. */
bool record_scan_is_empty(const struct record_scan *scan);
/* Rows that may be wanted: their number, 0 at the end, negative: error. Valid until the next call. */
long record_scan_next(struct record_scan *scan, const struct batch **batch, struct error *error);
/* Whether each row of batches is given as it is: record_scan_take() need not be asked. */
bool record_scan_takes_all(const struct record_scan *scan);
/* Cuts a row at the window; false: it is not selected. */
bool record_scan_take(const struct record_scan *scan, struct store_record *record);
void record_scan_fini(struct record_scan *scan);

/* A row of a batch. */
static inline void record_scan_row(const struct batch *batch, size_t row, struct store_record *record)
{
	*record = (struct store_record){.begin_ns = batch->begin_ns[row],
		.end_ns = batch->end_ns ? batch->end_ns[row] : 0,
		.amount = batch->amount ? batch->amount[row] : 0,
		.bytes = batch->bytes ? batch->bytes[row] : 0,
		.link = batch->link ? batch->link[row] : 0,
		.context = batch->context ? batch->context[row] : 0,
		.what = batch->what ? batch->what[row] : 0,
		.attributes = batch->attributes ? batch->attributes[row] : 0};
}

#endif
