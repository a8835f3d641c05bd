/* SPDX-License-Identifier: Apache-2.0 */
/* retention_internal.h - inside retention.c and retention_rolls.c: one pass over what is to be dropped. Codes
 * are LMDB's. */
#ifndef STORE_RETENTION_INTERNAL_H
#define STORE_RETENTION_INTERNAL_H

#include "store/write/retention.h"

#define THIN_SHIFT_WHOLE 62u /* of the largest rollups */

struct retention_pending {
	uint64_t dropped[STORE_TRACK_COUNT];
	uint64_t thinned_ns; /* of the stream, before this transaction */
	uint64_t joined_ns;  /* end of the last rollup that stands for what is dropped */
};

/* Going through a track. */
struct retention_pass {
	struct store_retention *thin;
	struct store_ingest *ingest;
	const struct store_metrics *metrics;
	MDB_txn *txn;
	MDB_cursor *cursor;
	MDB_val value; /* of the chunk at hand */
	uint32_t stream;
	enum store_track track;
};

/* The chunk at or behind the key, and its value: MDB_NOTFOUND: the track has no more that begin before the
 * time. */
int retention_find_chunk(struct retention_pass *pass, struct store_key_chunk *key, uint64_t end_ns);
/* The least key of the track from that time on; the next greater one. */
struct store_key_chunk retention_first_key(const struct retention_pass *pass, uint64_t from_ns);
void retention_step(struct store_key_chunk *key);
/* The chunk at hand: its header, or away with it. */
bool retention_peek(const struct retention_pass *pass, struct store_chunk *chunk);
int retention_drop_chunk(struct retention_pass *pass);
void retention_count_dropped(struct retention_pass *pass, uint64_t count);

/* Samples of the stream into rollups. */
int retention_samples(struct retention_pass *pass);
/* The stream's old rollups into larger ones. */
int retention_join(struct retention_pass *pass);

#endif
