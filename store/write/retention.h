/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retention.h - the writer of a flight recording drops chunks that are older than asked, in the transaction
 * that commits what is new, so that LMDB uses their pages again. What sums them up stays.
 *
 *   samples    |###|###|###|###|=====|=====      ### one rollup for each bucket, its chunks are gone
 *   spans      |- -| - |- -|   |=====|=====      - - states of the stream (monitored, lost, marks) stay
 *   values     |   |   |   |   |=====|=====
 *   time       begin         until   now
 *
 * Rollups grow with age: of time that is four times as old as what is kept they are four times as long, and
 * so on, so that a recording of any length holds a number of them that hardly grows.
 *
 * A samples chunk goes only into a rollup of its bucket or a larger one that holds all of that bucket, so
 * rollups and chunks that are left never overlap in what they count. Records that come later than `until` are
 * lost.
 */
#ifndef STORE_RETENTION_H
#define STORE_RETENTION_H

#include <lmdb.h>

#include "store/catalog/module.h"
#include "store/ingest/ingest.h"

/* All-zero drops nothing. */
struct store_retention {
	uint64_t keep_ns;
	uint64_t until_ns;		   /* what ends before it is dropped, as far as committed */
	uint64_t wanted_ns;		   /* ... once the next commit succeeds */
	uint8_t shift;			   /* of the smallest rollups that stand for dropped samples */
	struct retention_pending *pending; /* [stream] what the transaction at hand has dropped */
	uint32_t pending_count;
};
void store_retention_fini(struct store_retention *thin);

/* Drop, by the next commit, what ends more than keep_ns before now_ns. */
void store_retention_ask(struct store_retention *thin, uint64_t now_ns, uint64_t keep_ns);
static inline bool store_retention_is_due(const struct store_retention *thin)
{
	return thin->wanted_ns > thin->until_ns;
}
/* Has the time of the record been dropped? */
bool store_retention_is_late(
	const struct store_retention *thin, enum store_track track, const struct store_record *record);

/* Drops it, behind store_ingest_put(), and notes in the streams what is gone. LMDB's code; called again
 * after a transaction that failed, it begins anew. */
int store_retention_put(struct store_retention *thin, struct store_ingest *ingest,
	struct store_stream *streams, uint32_t stream_count, const struct store_metrics *metrics,
	MDB_txn *txn);
/* After the commit: builders of what is gone go, too. */
void store_retention_committed(struct store_retention *thin, struct store_ingest *ingest);

#endif
