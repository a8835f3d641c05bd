/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retention.h - in a flight recording, drops chunks older than the limit, in the transaction that commits
 * the new ones, so that LMDB reuses their pages. Rollups that sum them stay.
 *
 *   samples    |###|###|###|###|=====|=====      ### one rollup for each bucket, its chunks are gone
 *   spans      |- -| - |- -|   |=====|=====      - - states of the stream (monitored, lost, marks) stay
 *   values     |   |   |   |   |=====|=====
 *   time       begin         until   now
 *
 * Rollups grow with age: where the time is four times as old as what is kept they are four times as long,
 * and so on, so their number hardly grows with the length of the recording.
 *
 * A samples chunk is dropped only if a rollup holds all of its bucket, so rollups and remaining chunks never
 * count a sample twice. Records that come later than `until` are lost.
 */
#ifndef STORE_RETENTION_H
#define STORE_RETENTION_H

#include <lmdb.h>

#include "store/catalog/module.h"
#include "store/ingest/ingest.h"

/* All-zero drops nothing. */
struct store_retention {
	uint64_t keep_ns;
	uint64_t until_ns;		   /* what ends before it is dropped, as committed */
	uint64_t wanted_ns;		   /* ... once the next commit succeeds */
	uint8_t shift;			   /* of the smallest rollups that replace dropped samples */
	struct retention_pending *pending; /* [stream] what the current transaction has dropped */
	uint32_t pending_count;
};
void store_retention_fini(struct store_retention *retention);

/* Requests that the next commit drops what ends more than keep_ns before now_ns. */
void store_retention_ask(struct store_retention *retention, uint64_t now_ns, uint64_t keep_ns);
static inline bool store_retention_is_due(const struct store_retention *retention)
{
	return retention->wanted_ns > retention->until_ns;
}
/* True when the record's time has been dropped. */
bool store_retention_is_late(
	const struct store_retention *retention, enum store_track track, const struct store_record *record);

/* Drops it, after store_ingest_put(), and updates the streams. LMDB's code; after a failed transaction call
 * it again, it starts anew. */
int store_retention_put(struct store_retention *retention, struct store_ingest *ingest,
	struct store_stream *streams, uint32_t stream_count, const struct store_metrics *metrics,
	MDB_txn *txn);
/* After the commit: frees the builders of dropped chunks. */
void store_retention_committed(struct store_retention *retention, struct store_ingest *ingest);

#endif
