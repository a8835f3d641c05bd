/* SPDX-License-Identifier: Apache-2.0 */
/* retention_internal.h - what retention.c and retention_rolls.c share: one pass over what is to be dropped.
 * Codes are LMDB's. */
#ifndef STORE_RETENTION_INTERNAL_H
#define STORE_RETENTION_INTERNAL_H

#include "store/write/retention.h"

#define THIN_SHIFT_WHOLE 62u /* of the largest rollups */

struct retention_pending {
	uint64_t dropped[STORE_TRACK_COUNT];
	uint64_t thinned_ns; /* of the stream, before this transaction */
	uint64_t joined_ns;  /* end of the last rollup that replaces dropped samples */
};

/* One pass over a track. */
struct retention_pass {
	struct store_retention *thin;
	struct store_ingest *ingest;
	const struct store_metrics *metrics;
	MDB_txn *txn;
	MDB_cursor *cursor;
	MDB_val value; /* of the current chunk */
	uint32_t stream;
	enum store_track track;
};

/* The chunk at or after the key, and its value; MDB_NOTFOUND: the track has no more that begin before the
 * time. */
int retention_find_chunk(struct retention_pass *pass, struct store_key_chunk *key, uint64_t end_ns);
/* The lowest key of the track from that time on; the next higher key. */
struct store_key_chunk retention_first_key(const struct retention_pass *pass, uint64_t from_ns);
void retention_step(struct store_key_chunk *key);
/* Reads the current chunk's header; or deletes the chunk. */
bool retention_peek(const struct retention_pass *pass, struct store_chunk *chunk);
int retention_drop_chunk(struct retention_pass *pass);
void retention_count_dropped(struct retention_pass *pass, uint64_t count);

/* Makes rollups of the stream's samples. */
int retention_samples(struct retention_pass *pass);
/* Joins the stream's old rollups into larger ones. */
int retention_join(struct retention_pass *pass);

#endif
