/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_internal.h - what reader.c, cursor.c and check.c share: the open store at one
 * snapshot.
 */
#ifndef STORE_READER_INTERNAL_H
#define STORE_READER_INTERNAL_H

#include "store/base/arena.h"
#include "store/catalog/context.h"
#include "store/catalog/stream_table.h"
#include "store/chunk/chunk.h"
#include "store/chunk/sum_columns.h"
#include "store/file/file.h"
#include "store/read/reader.h"
#include "store/read/symbol.h"

struct store_fact {
	const char *key, *value;
};

struct store_spans {
	const struct store_record *records;
	size_t count;
	bool is_loaded;
};

struct store_reader {
	struct store_snapshot snapshot;
	/* grow with each renew; ids and texts stay */
	struct store_texts texts;
	struct store_modules modules;
	struct store_metrics metrics;
	struct store_contexts contexts;
	uint32_t tails[STORE_TREE_COUNT], stored[STORE_TREE_COUNT];
	/* made anew by each renew that finds something newer */
	bool is_left;			  /* the last renewal failed: the next one loads all */
	struct store_stream_table *table; /* of the streams */
	uint32_t stream_count;
	struct store_stream_list list; /* count 0: there is none */
	struct arena arena;
	struct store_fact *facts;
	uint32_t fact_count, fact_capacity;
	struct store_spans *spans; /* [stream], NULL until asked for */
	struct store_symbols symbols;
	struct store_batch batch;	/* for looking up single samples */
	struct store_context_sums sums; /* of the part that a rollup's walk gave last */
	struct store_sum_columns works; /* of the line's part that was given last */
};

static inline const struct store_stream *store_reader_at(const struct store_reader *reader, uint32_t stream)
{
	return store_stream_table_at(reader->table, stream);
}

/* Fills `chunk` from where the cursor stands; its key in *key. ERROR_RUN when the two do not fit. */
int store_reader_chunk(const struct store_reader *reader, const struct store_tree_cursor *cursor,
	struct store_key_chunk *key, struct store_chunk *chunk, struct error *error);
int store_reader_chunk_of(const struct store_reader *reader, const struct store_key_chunk *key,
	struct store_slice bytes, struct store_chunk *chunk, struct error *error);
/* What a cursor on rollups asks of those beside the sought one, whose key begins with the stream: nothing,
 * since one that is missed is made up for by what it sums up, which a flight recording has dropped. */
store_tree_fits *store_reader_roll_fits(const struct store_reader *reader, const uint8_t *key);
/* ERROR_RUN: "the store is damaged (WHAT)". */
int store_reader_damaged(const struct store_reader *reader, const char *what, struct error *error);

/* Reads every kept file. */
int store_reader_blobs_check(struct store_reader *reader, struct error *error);

#endif
