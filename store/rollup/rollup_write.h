/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollup_write.h - the writer's half of rollups. A rollup is made, out of the smaller ones and the chunks
 * below it, by the commit that sees its track go on behind its end; what is still open has none. A
 * chunk that changes behind that front takes the rollups above it away; they are made again when the store
 * is closed. So what is in the file is right after every commit, and a reader never asks how new it is.
 */
#ifndef STORE_ROLLUP_WRITE_H
#define STORE_ROLLUP_WRITE_H

#include <lmdb.h>

#include "store/chunk/context_sums.h"
#include "store/file/file.h"
#include "store/key.h"
#include "store/read/reader.h"

/* How far a track's rollups go. All-zero is a new track's. */
struct store_rollup_front {
	uint64_t least_ns, front_ns; /* begins of the first and the last bucket opened, once is_begun */
	uint64_t rolled_ns;	     /* rollups that end here or before are made, as far as committed */
	bool is_begun;
	bool is_torn;  /* some were taken away */
	bool was_torn; /* in the transaction at hand */
};

/* A bucket of the track takes its first record. */
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
	struct store_batch *batch;
	struct store_bytes bytes;
};
void store_rollup_maker_fini(struct store_rollup_maker *maker);

/* Each gives LMDB's code, ENOMEM, or MDB_CORRUPTED when the file's own chunks cannot be read. */
/* The chunk of that key is about to change: takes away what sums it up. */
int store_rollup_tear(
	struct store_rollup_front *front, MDB_txn *txn, MDB_dbi rolls, const struct store_key_chunk *key);
/* Makes what the front has left behind; with `is_end` all there is to make. */
int store_rollup_put(struct store_rollup_maker *maker, const struct store_rollup_front *front,
	uint32_t stream, enum store_track track, MDB_txn *txn, const MDB_dbi dbi[STORE_TREE_COUNT],
	bool is_end);
/* Sums what lies below a rollup, in maker->made; and puts what was summed under its key. */
int store_rollup_make(struct store_rollup_maker *maker, const struct store_key_rollup *key, MDB_txn *txn,
	const MDB_dbi dbi[STORE_TREE_COUNT]);
int store_rollup_put_made(struct store_rollup_maker *maker, const struct store_key_rollup *key, MDB_txn *txn,
	const MDB_dbi dbi[STORE_TREE_COUNT]);

#endif
