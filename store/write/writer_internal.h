/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writer_internal.h - what writer.c (adding) and commit.c (putting into the file) share.
 */
#ifndef STORE_WRITER_INTERNAL_H
#define STORE_WRITER_INTERNAL_H

#include "store/catalog/append_block.h"
#include "store/catalog/context.h"
#include "store/catalog/stream.h"
#include "store/catalog/stream_block.h"
#include "store/ingest/ingest.h"
#include "store/ingest/run_total.h"
#include "store/states/state_rollup_builder.h"
#include "store/write/retention.h"
#include "store/write/writer.h"

/* Open spans of one stream. */
struct open_spans {
	uint32_t stream;
	uint32_t count, capacity;
	struct store_open_span *spans;
	bool is_dirty;
	bool is_stored; /* the file has a value for the stream */
};

struct store_writer {
	struct store_file *file;
	MDB_dbi dbi[STORE_TREE_COUNT];
	struct store_texts texts;
	struct store_modules modules;
	struct store_metrics metrics;
	struct store_contexts contexts;
	struct store_append_block packs[STORE_TREE_COUNT];
	bool modules_changed;
	struct store_stream *streams;
	uint32_t gauge_streams;
	uint32_t stream_count, stream_capacity;
	uint8_t *dirty_streams; /* [block] */
	uint32_t dirty_capacity, dirty_count;
	struct open_spans *open;
	uint32_t open_count, open_capacity;
	uint32_t *open_of; /* [stream] 1 + index into `open` */
	uint32_t open_of_count, open_of_capacity;
	struct store_ingest ingest;
	struct store_run_total total;
	struct store_state_builders builders;
	struct store_retention retention;
	bool is_closing;	  /* the current commit is the last */
	struct store_bytes facts; /* pending meta and symbol values: | tree u8 | key size u32 | value size u32
				     | key | sealed value | */
	struct store_bytes scratch;
	unsigned commits;
	uint64_t patience_ns; /* for readers that fall behind */
	uint64_t amount;      /* sum over all samples and values */
	bool is_wide;	      /* the sum exceeds 64 bits */
	bool failed;
};

/* Sweeps the stream's timeline as far as it is complete. */
void store_writer_roll(struct store_writer *writer, uint32_t stream);

/* Adds appended samples or values; sets the fact STORE_META_WIDE when their sum exceeds 64 bits. */
void store_writer_overflow_check(
	struct store_writer *writer, const struct store_record *records, size_t count);

/* Keeps the sealed value in `scratch` for the next commit. */
void store_writer_fact(
	struct store_writer *writer, enum store_tree_id tree, const void *key, size_t key_size);

#endif
