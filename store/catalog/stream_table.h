/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_table.h - a reader's streams. A run may have many thousand, and a screen shows fifty: where the
 * writer left a stream list (STORE_META_LIST), a block is decoded on first use. Opening checks every block's
 * seal and count, so that damage is found at once. In a run that is being recorded all blocks are decoded;
 * each renewal decodes only those that changed.
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
	uint32_t block;	  /* streams in a value: STORE_STREAM_DENSE, or, in old stores, STORE_STREAM_BLOCK */
	unsigned shift;	  /* log2 of `block` */
	uint32_t decoded; /* streams decoded since the table was made; decoding one again counts again */
	/* -- of a table decoded at once: the bytes that each block was decoded from */
	struct store_stream_mark *marks;
	uint32_t mark_count;
	/* -- of a table decoded on use; NULL: all is decoded -- */
	size_t mapped_bytes;	    /* of `streams` */
	struct store_slice *blocks; /* bytes of each block; NULL once it is decoded */
	struct store_stream peeked[STORE_STREAM_DENSE];
	uint32_t peeked_block; /* + 1; 0: none */
	bool is_damaged;       /* some block is damaged */
};

void store_stream_table_fini(struct store_stream_table *table);
/* Loads the streams of a snapshot, which must stay until the next call; text ids must be below `texts`.
 * `is_listed`: decodes on use; otherwise skips blocks whose bytes are at the same address as in the last
 * call. ERROR_RUN: damaged; sets *is_damaged. */
int store_stream_table_load(struct store_stream_table *table, const struct store_snapshot *snapshot,
	uint32_t texts, bool is_listed, bool *is_damaged, struct error *error);

/* Drops the snapshot: until the next load, which may fail, streams not yet decoded are empty. */
void store_stream_table_leave(struct store_stream_table *table);

/* One stream; valid until the next load. If its block is damaged although the seal fits, the stream is
 * empty. */
const struct store_stream *store_stream_table_at(struct store_stream_table *table, uint32_t id);
/* The same without keeping it decoded: valid until the next call. */
const struct store_stream *store_stream_table_peek(struct store_stream_table *table, uint32_t id);
/* Decodes all streams; false: some are damaged. */
bool store_stream_table_all(struct store_stream_table *table);

#endif
