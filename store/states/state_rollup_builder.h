/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_rollup_builder.h - makes rollups of state timelines (state_rollup.h) in the writer, from records as
 * they are appended: nothing is read back. A stream that is only sampled has none: the sums of its samples
 * give its timeline (rollup.h). A stream gets some from its first span that owns the timeline, from a
 * `monitored` span that announces such (switches=1), or if it is a GPU queue. All timelines are swept for
 * the sums of all streams (all_streams.h), unless those are paused.
 *
 *   append --> queued samples, spans --watermark at a commit--> sweep (state_timeline.h) --> buckets
 *                                                                                               |
 *                                                   larger ones, pending until that commit  <---+
 *
 * A record that comes behind the sweep deletes the rollups from its time on; they are not made again, so
 * readers sweep that stretch themselves. Rollups are made again for the time after it.
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

/* All-zero is empty. */
struct store_state_builders {
	struct tie_names names; /* see tie_break.h */
	const struct store_ingest
		*ingest; /* of the same writer; NULL: a stream is known from its first record on */
	struct state_builder_place *places; /* [stream] */
	struct state_builder_tally *tally;
	uint32_t count, capacity;
	uint32_t live;	     /* approximate number of builders being swept: the more there are, the fewer
				records each may queue */
	uint64_t thinned_ns; /* rollups before it cannot be made again: late records do not delete them */
	struct store_all_streams all_streams;
	struct store_devices_busy devices;
	struct store_all_streams_head head; /* valid once the sums of all streams are complete */
	bool is_thinned;		    /* a flight recording: no busy time of devices */
	bool failed;			    /* no memory: no more rollups; nothing else is lost */
};
void store_state_builders_fini(struct store_state_builders *builders);
/* Sets how ids of records are resolved; both arguments must outlive the builders. */
void store_state_builders_tell_names(
	struct store_state_builders *builders, const struct store_contexts *contexts);

/* Takes records appended to a track of the stream; `texts` hold its spans' attributes. */
void store_state_builders_append(struct store_state_builders *builders, uint32_t stream,
	const struct store_stream *properties, enum store_track track, const struct store_record *records,
	size_t count, const struct store_texts *texts);
/* A span has begun and is open; its record is appended when it ends. */
void store_state_builders_open(struct store_state_builders *builders, uint32_t stream,
	const struct store_stream *properties, const struct store_record *record,
	const struct store_texts *texts);

/* The stream count reached STORE_ALL_STREAMS_STREAMS: from here on the sums of all streams are kept. */
void store_state_builders_wake(struct store_state_builders *builders);

/* True when so many records are queued that the stream should be advanced before the next commit. */
bool store_state_builders_is_full(const struct store_state_builders *builders, uint32_t stream);

/* Sweeps the stream until `until_ns`, after which records may still come; to its end if it ended by then. */
void store_state_builders_advance(struct store_state_builders *builders, uint32_t stream,
	const struct store_stream *properties, uint64_t until_ns);

/* All streams were advanced as far as this commit allows: merges devices. `is_end`: no more records come. */
void store_state_builders_unite(struct store_state_builders *builders, bool is_end);

/* No more records come, and all streams were advanced: marks what the sums of all streams lack as invalid. */
void store_state_builders_put_all_streams(
	struct store_state_builders *builders, const struct store_stream *streams, uint32_t count);

/* Writes new rollups (and complete sums of all streams), and deletes those that late records made wrong:
 * LMDB's code. After the commit, call committed(). */
int store_state_builders_put(struct store_state_builders *builders, MDB_txn *txn, MDB_dbi rolls);
void store_state_builders_committed(struct store_state_builders *builders);

#endif
