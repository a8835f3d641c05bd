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
	/* replaced by each renew that finds a newer commit */
	bool is_left;			  /* the last renewal failed: the next one reloads all */
	struct store_stream_table *table; /* of the streams */
	uint32_t stream_count;
	struct store_stream_list list; /* count 0: there is none */
	struct arena arena;
	struct store_fact *facts;
	uint32_t fact_count, fact_capacity;
	struct store_spans *spans; /* [stream], NULL until used */
	struct store_symbols symbols;
	struct store_batch batch;	/* for finding single samples */
	struct store_context_sums sums; /* of a rollup's last part */
	struct store_sum_columns works; /* of a timeline's last part */
};

static inline const struct store_stream *store_reader_at(const struct store_reader *reader, uint32_t stream)
{
	return store_stream_table_at(reader->table, stream);
}

/* Fills `chunk` from the cursor's entry and its key *key. ERROR_RUN when they do not match. */
int store_reader_chunk(const struct store_reader *reader, const struct store_tree_cursor *cursor,
	struct store_key_chunk *key, struct store_chunk *chunk, struct error *error);
int store_reader_chunk_of(const struct store_reader *reader, const struct store_key_chunk *key,
	struct store_slice bytes, struct store_chunk *chunk, struct error *error);
/* The check that a cursor on rollups applies to neighbours of a key that begins with the stream. None,
 * unless a flight recording has dropped the chunks: elsewhere the chunks replace a rollup that was missed. */
store_tree_fits *store_reader_roll_fits(const struct store_reader *reader, const uint8_t *key);
/* ERROR_RUN: "the store is damaged (WHAT)". */
int store_reader_damaged(const struct store_reader *reader, const char *what, struct error *error);

/* Reads every kept file. */
int store_reader_blobs_check(struct store_reader *reader, struct error *error);

#endif
