/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest.h - turns appended records into chunks; touches the file only in a commit.
 *
 *   append -> builder of (stream, track, bucket, shift) --full or pushed out--> closed chunks, encoded
 *                 |                                                                 |
 *                 +---- commit: those with new records are encoded and put again ----+-> LMDB
 *
 * A track has few open builders. Its base shift (log2 of the bucket's ns) follows the rate of records, so
 * that a bucket holds 4.6K to 9.2K of them; a span longer than the base bucket goes to the smallest bucket
 * that is not shorter. A further chunk of a bucket, after a full one or for late records, takes the next
 * free sequence. Idle builders are parked (the file has their records) and fetched back when a record comes.
 * Where many streams take turns, most of a builder's records are compressed (chunk_parked.h).
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
	bool is_stored; /* the file has an earlier state under this key */
	size_t at, size;
};

/* Memory of closed builders, for reuse. */
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
	struct store_batch parked;  /* scratch: records of a fetched builder */
	struct store_record *whole; /* scratch: all records of a chunk with a parked part */
	size_t raw_bytes;	    /* of the records of all builders, uncompressed */
	uint64_t likely_records;    /* records that commits will write of open chunks, expected ones
				       included */
	size_t fresh_bytes;	    /* of uncommitted records in builders */
	uint64_t tick;		    /* commits so far */
	uint8_t shift_most;	    /* largest base shift (a flight recording); 0: only the rate decides */
	bool failed;		    /* an allocation failed: records are lost */
	MDB_env *env;		    /* to fetch parked builders; may be NULL until the first commit */
	MDB_dbi dbi[STORE_TREE_COUNT];
	struct store_rollup_maker rolls;
	struct store_run_total *total; /* adds up samples as they are encoded; may be NULL */
};

void store_ingest_fini(struct store_ingest *ingest);
/* Begin of the stream's latest sample; 0: none. */
uint64_t store_ingest_latest(const struct store_ingest *ingest, uint32_t stream);
/* Adds records; sets the bits of bucket sizes in *shifts. False: no memory (and failed). */
bool store_ingest_append(struct store_ingest *ingest, uint32_t stream, enum store_track track,
	const struct store_record *records, size_t count, uint64_t *shifts);
/* Writes all new records and the rollups that are complete; with `is_end` all rollups. Returns LMDB's code.
 * Call committed() only after a successful commit. */
int store_ingest_put(struct store_ingest *ingest, MDB_txn *txn, bool is_end);
void store_ingest_committed(struct store_ingest *ingest);
size_t store_ingest_pending_bytes(const struct store_ingest *ingest);
/* True when full chunks hold so many bytes, and enough to make an early commit worth encoding the open ones.
 */
bool store_ingest_is_laden(const struct store_ingest *ingest, size_t least_bytes);

#endif
