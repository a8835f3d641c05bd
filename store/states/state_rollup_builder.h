/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder.h - makes a writer's rollups of lines (state_rollup.h) out of the records as they are
 * appended: nothing is read back. Streams that are only sampled have none of their own: the sums of their
 * samples tell their line (rollup.h). A stream makes some from its first span that owns the line on, or when
 * its `monitored` span announces such (switches=1), or when it is a GPU's. All lines are swept for the sums
 * of all streams (all_streams.h) unless it sleeps.
 *
 *   append --> samples, spans that wait --watermark at a commit--> sweep (state_timeline.h) --> bucket -->
 * larger ones
 *                                                                                  |
 *                                                                      made: put by that commit
 *
 * A record that comes behind the sweep takes away the rollups from its time on; they are not made again, so
 * readers sweep that stretch themselves. Rolling goes on behind it.
 */
#ifndef STORE_STATE_ROLLUP_BUILDER_H
#define STORE_STATE_ROLLUP_BUILDER_H

#include <lmdb.h>

#include "store/catalog/context.h"
#include "store/catalog/stream.h"
#include "store/states/all_streams.h"
#include "store/states/device_busy.h"
#include "store/states/tie_break.h"

struct store_state_builder;
struct store_ingest;
struct state_builder_tally;

/* All-zero is none. */
struct store_state_builders {
	struct tie_names names; /* see tie_break.h */
	const struct store_ingest
		*ingest; /* of the same writer; NULL: each stream is told from its first record on */
	struct state_builder_place *places; /* [stream] */
	struct state_builder_tally *tally;
	uint32_t count, capacity;
	uint32_t live;	     /* builders that are swept, about: the more, the fewer records wait of each */
	uint64_t thinned_ns; /* rollups before it cannot be made again: late records leave them */
	struct store_all_streams all_streams;
	struct store_devices_busy devices;
	struct store_all_streams_head head; /* once the sums of all streams is complete */
	bool is_thinned;		    /* a flight recording: devices are not united */
	bool failed;			    /* memory is out: no more rollups, and nothing else is lost */
};
void store_state_builders_fini(struct store_state_builders *builders);
/* What the ids of records stand for; both live as long as the builders. */
void store_state_builders_tell_names(
	struct store_state_builders *builders, const struct store_contexts *contexts);

/* What was appended to a track of the stream; `texts` hold its spans' attributes. */
void store_state_builders_append(struct store_state_builders *builders, uint32_t stream,
	const struct store_stream *properties, enum store_track track, const struct store_record *records,
	size_t count, const struct store_texts *texts);
/* A span has begun and is open. Its record is appended when it ends. */
void store_state_builders_open(struct store_state_builders *builders, uint32_t stream,
	const struct store_stream *properties, const struct store_record *record,
	const struct store_texts *texts);

/* There are STORE_ALL_STREAMS_STREAMS: from here on the sums of all streams counts, see all_streams.h. */
void store_state_builders_wake(struct store_state_builders *builders);

/* So many records wait that the stream should be advanced before the next commit. */
bool store_state_builders_is_full(const struct store_state_builders *builders, uint32_t stream);

/* Sweeps the stream until `until_ns`, behind which records may still come; to its end when it has one there.
 */
void store_state_builders_advance(struct store_state_builders *builders, uint32_t stream,
	const struct store_stream *properties, uint64_t until_ns);

/* All streams were advanced as far as this commit knows them: devices follow. `is_end`: nothing comes any
 * more. */
void store_state_builders_unite(struct store_state_builders *builders, bool is_end);

/* Nothing follows, and all streams were advanced: what of their lines the sums of all streams does not know
 * is spoiled. */
void store_state_builders_put_all_streams(
	struct store_state_builders *builders, const struct store_stream *streams, uint32_t count);

/* Puts what is new (and a complete all_streams) and deletes what late records have made wrong: LMDB's code.
 * After the commit, committed().
 */
int store_state_builders_put(struct store_state_builders *builders, MDB_txn *txn, MDB_dbi rolls);
void store_state_builders_committed(struct store_state_builders *builders);

#endif
