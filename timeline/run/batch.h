/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - what operators pass to each other: some thousand records of one stream and track as columns,
 * with the run's ids and clock.
 */
#ifndef TIMELINE_BATCH_H
#define TIMELINE_BATCH_H

#include "timeline/run/run.h"

#define BATCH_ROWS 4096u

/* Columns of BATCH_ROWS, `count` of them filled; NULL: not requested. Times are the run's. */
struct batch {
	uint32_t stream; /* of the run */
	enum store_track track;
	unsigned columns; /* enum store_column; STORE_BEGIN is always set */
	size_t count;
	uint64_t *begin_ns, *end_ns, *amount, *bytes, *link;
	uint32_t *context;	      /* of the run */
	uint32_t *what;		      /* samples, values: metric of the run; spans: operation of the run */
	uint32_t *attributes, *flags; /* attributes: for batch_attributes() */
	void *memory;		      /* the batch's own */
};

/* Initializer: the columns of a single row, the record, in a struct batch or a struct store_batch. The
 * record must outlive it. */
#define BATCH_COLUMNS_OF(record)                                                                   \
	.begin_ns = &(record)->begin_ns, .end_ns = &(record)->end_ns, .amount = &(record)->amount, \
	.bytes = &(record)->bytes, .link = &(record)->link, .context = &(record)->context,         \
	.what = &(record)->what, .attributes = &(record)->attributes, .flags = &(record)->flags

/* `columns`: bits of enum store_column. */
int batch_init(struct batch *batch, unsigned columns, struct error *error);
void batch_fini(struct batch *batch);

/* Attributes of a row, escaped as stored; "": none. Valid until the run is renewed or closed. */
const char *batch_attributes(
	const struct run *run, const struct batch *batch, size_t row, size_t *size_bytes);

#endif
