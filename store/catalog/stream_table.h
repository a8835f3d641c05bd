/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_table.h - the streams of a store as a reader has them. A run may have many thousand, and a screen
 * shows fifty: where the writer has left their list (STORE_META_LIST), a block of them is decoded when one of
 * it is asked for. Opening looks at every block's seal and at how many it holds, so that damage shows there.
 * Of a run that is being recorded all are decoded, and at each renewal those that have changed.
 */
#ifndef STORE_STREAM_TABLE_H
#define STORE_STREAM_TABLE_H

#include "store/catalog/stream.h"
#include "store/catalog/stream_block.h"
#include "store/file/file.h"

/* All-zero is empty. */
struct store_stream_table {
	struct store_stream *streams; /* [count] */
	uint32_t count, capacity, texts;
	uint32_t block;	  /* streams of a value: STORE_STREAM_DENSE, or, in old stores, STORE_STREAM_BLOCK */
	unsigned shift;	  /* 2^shift are */
	uint32_t decoded; /* since it is a table: how many were, again ones counted again */
	/* -- of a table of which all are there: what each block was decoded from */
	struct store_stream_mark *marks;
	uint32_t mark_count;
	/* -- of a table that is decoded as it is asked for; NULL: all are there -- */
	size_t mapped_bytes;	    /* of `streams` */
	struct store_slice *blocks; /* what each holds; NULL bytes once it is decoded */
	struct store_stream peeked[STORE_STREAM_DENSE];
	uint32_t peeked_block; /* + 1; 0: none */
	bool is_damaged;       /* some block could not be decoded */
};

void store_stream_table_fini(struct store_stream_table *table);
/* Of a snapshot of one recording, which stays until the next call; text ids must lie below `texts`.
 * `is_listed`: what is not asked for is not decoded; else what lies in the bytes that it lay in at the last
 * call is not. ERROR_RUN: 1 was put in *is_damaged. */
int store_stream_table_load(struct store_stream_table *table, const struct store_snapshot *snapshot,
	uint32_t texts, bool is_listed, bool *is_damaged, struct error *error);

/* The snapshot is gone: until the next load, which may fail, what was not decoded is empty. */
void store_stream_table_leave(struct store_stream_table *table);

/* One of them; stays until the next load. One whose bytes cannot be (no accident: their seal fits) is empty.
 */
const struct store_stream *store_stream_table_at(struct store_stream_table *table, uint32_t id);
/* The same for who needs it once: costs no memory, until the next call. */
const struct store_stream *store_stream_table_peek(struct store_stream_table *table, uint32_t id);
/* All of them; false: some cannot be. */
bool store_stream_table_all(struct store_stream_table *table);

#endif
