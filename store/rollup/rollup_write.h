/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup_write.h - makes rollups in the writer. A commit makes a rollup from the smaller ones and the chunks
 * below it once the track has passed its end; an unfinished stretch has none. When a chunk behind that front
 * changes, its rollups are deleted, and made again, with all above one of them, when the store is closed. So
 * the file is correct after every commit, and readers need not check how new a rollup is.
 */
#ifndef STORE_ROLLUP_WRITE_H
#define STORE_ROLLUP_WRITE_H

#include <lmdb.h>

#include "store/chunk/context_sums.h"
#include "store/file/file.h"
#include "store/key.h"
#include "store/read/reader.h"
#include "store/rollup/series.h"

/* How far a track's rollups are made. All-zero is for a new track. */
struct store_rollup_front {
	uint64_t least_ns, front_ns; /* begins of the earliest and the latest bucket opened, once is_begun */
	uint64_t rolled_ns;	     /* rollups that end by then are made, as committed */
	bool is_begun;
	bool is_torn;  /* some were deleted */
	bool was_torn; /* after the current transaction */
};

/* Notes that a bucket of the track gets its first record. */
static inline void store_rollup_front_open(struct store_rollup_front *front, uint64_t bucket_ns)
{
	if (!front->is_begun || bucket_ns < front->least_ns)
		front->least_ns = bucket_ns;
	if (!front->is_begun || bucket_ns > front->front_ns)
		front->front_ns = bucket_ns;
	front->is_begun = true;
}

void store_rollup_front_committed(struct store_rollup_front *front);

/* Scratch memory, kept from commit to commit. All-zero is ready. */
struct store_rollup_maker {
	struct store_context_sums made, part;
	struct store_series_set series, series_part; /* of values */
	const struct store_metrics *metrics;	     /* the writer's; NULL: no values come */
	struct store_bytes series_bytes;
	struct store_batch *batch;
	struct store_bytes bytes;
};
void store_rollup_maker_fini(struct store_rollup_maker *maker);

/* Each returns LMDB's code, ENOMEM, or MDB_CORRUPTED when the file's own chunks cannot be read. */
/* The chunk of that key will change: deletes the rollups above it. */
int store_rollup_tear(
	struct store_rollup_front *front, MDB_txn *txn, MDB_dbi rolls, const struct store_key_chunk *key);
/* Makes the rollups that the front has passed; with `is_end` all. */
int store_rollup_put(struct store_rollup_maker *maker, const struct store_rollup_front *front,
	uint32_t stream, enum store_track track, MDB_txn *txn, const MDB_dbi dbi[STORE_TREE_COUNT],
	bool is_end);
/* make() sums the parts of a rollup into maker->made; put() writes that under its key. */
int store_rollup_make(struct store_rollup_maker *maker, const struct store_key_rollup *key, MDB_txn *txn,
	const MDB_dbi dbi[STORE_TREE_COUNT]);
int store_rollup_put_made(struct store_rollup_maker *maker, const struct store_key_rollup *key, MDB_txn *txn,
	const MDB_dbi dbi[STORE_TREE_COUNT]);

#endif
