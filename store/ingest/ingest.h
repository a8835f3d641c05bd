/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest.h - records on their way into chunks: the writer's half that never touches the file until a commit.
 *
 *   append -> builder of (stream, track, bucket, shift) --full or pushed out--> closed chunks, encoded
 *                 |                                                                 |
 *                 +---- commit: those with new records are encoded and put again ----+-> LMDB
 *
 * A track has few builders open. Its base shift (log2 of the bucket's ns) follows the rate of records, so
 * that a bucket holds 4.6K to 9.2K of them; a span longer than the base bucket goes to the smallest that is
 * not shorter. A bucket's next chunk, after a full one or for late records, takes the next free sequence.
 * Builders that rest are parked (the file has their records) and fetched back when a record comes. Where many
 * streams take turns, most of a builder's records are put by in little room (chunk_parked.h).
 */
#ifndef STORE_INGEST_H
#define STORE_INGEST_H

#include <lmdb.h>

#include "store/chunk/chunk.h"
#include "store/file/file.h"
#include "store/ingest/chunk_parked.h"
#include "store/ingest/run_total.h"
#include "store/rollup/rollup_write.h"

struct store_track_state;
struct store_spare;

/* A chunk that will not change any more, in ingest.closed_bytes. */
struct store_closed_chunk {
	struct store_key_chunk key;
	bool is_stored; /* an earlier state is in the file under this key */
	size_t at, size;
};

/* Memory of builders that are closed, for the next ones. */
#define STORE_SPARE_SIZES 11u
struct store_spares {
	struct store_spare *lists[STORE_SPARE_SIZES];
	size_t bytes;
};

/* All-zero is ready. */
struct store_ingest {
	struct store_track_state **tracks; /* [stream * STORE_TRACK_COUNT + track], NULL: no records yet */
	size_t track_count;
	struct store_track_state **active; /* those with records in memory */
	uint32_t active_count, active_capacity;
	struct store_closed_chunk *closed;
	uint32_t closed_count, closed_capacity;
	struct store_bytes closed_bytes;
	struct store_bytes scratch;
	struct store_chunk_coder coder;
	struct store_spares spares;
	struct store_chunk_parked_pool pool;
	struct store_batch parked;  /* scratch: one that is fetched */
	struct store_record *whole; /* all of a chunk's records, while it is encoded of a stash */
	size_t raw_bytes;	    /* of the records of all builders, as they came */
	uint64_t likely_records;    /* that a commit puts of chunks that still grow, and what is to come */
	size_t fresh_bytes;	    /* of records in builders, not committed yet */
	uint64_t tick;		    /* commits so far */
	uint8_t shift_most; /* base buckets are not larger (a flight recording); 0: as the rate says */
	bool failed;	    /* memory was out: records are lost */
	MDB_env *env;	    /* to fetch parked builders; may be NULL until the first commit */
	MDB_dbi dbi[STORE_TREE_COUNT];
	struct store_rollup_maker rolls;
	struct store_run_total *total; /* takes the samples as they are encoded; may be NULL */
};

void store_ingest_fini(struct store_ingest *ingest);
/* When the last of the stream's samples began, in the order of time; 0: there are none. */
uint64_t store_ingest_latest(const struct store_ingest *ingest, uint32_t stream);
/* Adds records; sets the bits of bucket sizes in *shifts. False: memory is out (and failed). */
bool store_ingest_append(struct store_ingest *ingest, uint32_t stream, enum store_track track,
	const struct store_record *records, size_t count, uint64_t *shifts);
/* Puts all that is new, with the rollups that are complete; all of them when it `is_end`. LMDB's code. After
 * a commit that succeeded call committed(), else nothing. */
int store_ingest_put(struct store_ingest *ingest, MDB_txn *txn, bool is_end);
void store_ingest_committed(struct store_ingest *ingest);
size_t store_ingest_pending_bytes(const struct store_ingest *ingest);
/* Do so many bytes wait in full chunks, and so many that a commit is worth what it encodes of others? */
bool store_ingest_is_laden(const struct store_ingest *ingest, size_t least_bytes);

#endif
