/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_streams.h - sums the state timelines of all streams: time of each (state, operation, context) in
 * buckets of 2^shift ns. So the whole run, or a window of it, costs in proportion to its buckets, for ten
 * streams or 64K.
 *
 *   stream 0   |==a===|==b==|=====b======|          pieces, as the builders sweep them
 *   stream 1      |====a====|---|==c==|
 *   buckets    |       |       |       |       |    a thousand at most: wider ones when the run grows
 *
 * With fewer than STORE_ALL_STREAMS_STREAMS streams readers sum the streams directly, so the writer skips
 * most pieces. A bucket with incomplete sums (skipped pieces, late records, changed rules) is invalid: it is
 * not written, and readers sum the streams' own timelines there. Buckets are written once, when the store is
 * closed: a store that is being recorded, or whose writer was killed, has none.
 *
 *   key     | STORE_ROLLUP_ALL | kind ALL_STREAMS | begin | shift |     (key.h)
 *   bucket  sealed: | sums |           (context_sums.h; metric = state + 16 x operation)
 *   head    begin 0, shift 63; sealed: | streams | life's begin, end | shift | 1 if whole | sums of all |
 *
 * ABSENT time is not stored: it is streams x length minus the other states.
 */
#ifndef STORE_ALL_STREAMS_H
#define STORE_ALL_STREAMS_H

#include <lmdb.h>

#include "store/states/state_rollup.h"

#define STORE_ROLLUP_ALL_STREAMS 4u /* kind in the key */
#define STORE_ALL_STREAMS_STEP 3u   /* bucket sizes are 2^shift ns, 2^(shift + 3), ... */
/* Most buckets of the smallest size: enough for the columns of a screen even after the last widening. */
#define STORE_ALL_STREAMS_BUCKETS 1024u
#define STORE_ALL_STREAMS_STREAMS 16u /* with fewer, readers sum the streams directly */

/* ---- writing ---- */

/* A piece not yet added to buckets; it ends where the next one begins. */
struct all_streams_piece {
	uint64_t begin_ns; /* highest bit: its record began earlier */
	uint32_t context, metric;
};

/* all_streams_wait.c */
struct all_streams_wait {
	struct all_streams_piece *pieces;
	uint32_t count;
	size_t room;
	uint32_t *runs; /* starts of runs of adjacent pieces */
	uint32_t run_count, run_room;
	struct all_streams_sorter *sorter;
};

/* All-zero is empty. The first pieces are only queued: most runs have few streams and need no buckets. */
struct store_all_streams {
	struct all_streams_wait wait;
	struct all_streams_bucket *buckets;
	uint64_t first; /* buckets[0] begins at first << shift */
	uint32_t count;
	unsigned shift;
	uint64_t entries; /* in all buckets */
	uint64_t pieces;
	uint64_t spoiled_ns;	 /* buckets that end after it are invalid; UINT64_MAX: none, once begun */
	struct store_bytes made; /* rollups to be written */
	bool has_begun;		 /* buckets exist */
	bool is_bad;		 /* no sums will be written: no memory, or something is unknown */
	bool is_few;		 /* fewer than STORE_ALL_STREAMS_STREAMS streams: many queued pieces pause
				    it */
	bool is_asleep;		 /* paused: drops what is added */
};
void store_all_streams_fini(struct store_all_streams *all_streams);
/* True when it takes no pieces, for now or for good. */
static inline bool store_all_streams_is_idle(const struct store_all_streams *all_streams)
{
	return all_streams->is_bad || all_streams->is_asleep;
}
/* While there are few streams: drops what was added, and takes nothing until store_all_streams_wake(). */
void store_all_streams_sleep(struct store_all_streams *all_streams);
/* The stream count passed the limit. Returns true if pieces were skipped; the caller must mark those buckets
 * invalid. */
bool store_all_streams_wake(struct store_all_streams *all_streams);
/* Gives up: no sums will be written. */
void store_all_streams_give_up(struct store_all_streams *all_streams);

/* Adds a piece of a stream's timeline, from `begin_ns` to `end_ns`, before 2^62. */
void store_all_streams_add(struct store_all_streams *all_streams, const struct state_piece *piece);
/* Reserves so many adjacent pieces from `begin_ns` on, none absent: call store_all_streams_piece() for each,
 * then close() at the end of the last. NULL: it takes nothing. */
struct all_streams_piece *store_all_streams_open(
	struct store_all_streams *all_streams, uint64_t begin_ns, uint32_t count);
static inline void store_all_streams_piece(struct all_streams_piece *to, uint64_t begin_ns, uint32_t context,
	uint32_t metric, bool is_record_begin)
{
	*to = (struct all_streams_piece){begin_ns | (uint64_t)!is_record_begin << 63, context, metric};
}
void store_all_streams_close(
	struct store_all_streams *all_streams, struct all_streams_piece *end, uint64_t end_ns);
/* Counts skipped pieces: the bucket width depends on the number of all pieces of the run. */
static inline void store_all_streams_miss(struct store_all_streams *all_streams, uint64_t pieces)
{
	all_streams->pieces += pieces;
}
/* Marks a time range whose sums are wrong. end_ns UINT64_MAX: to the end. */
void store_all_streams_spoil(struct store_all_streams *all_streams, uint64_t begin_ns, uint64_t end_ns);

/* The stored head. */
struct store_all_streams_head {
	uint32_t streams;
	uint64_t begin_ns, end_ns; /* of the life of all streams */
	unsigned shift; /* of the smallest buckets: STORE_ALL_STREAMS_BUCKETS at most hold that life */
	bool is_whole;	/* the head's sums cover all time */
};

/* Writes the valid buckets: LMDB's code. Writes nothing without memory. `head` has the streams and their
 * life. */
int store_all_streams_put(struct store_all_streams *all_streams, const struct store_all_streams_head *head,
	MDB_txn *txn, MDB_dbi rolls);

/* ---- reading ---- */

/* 1: the store has sums of all streams; 0: none; negative. */
int store_all_streams_head(
	struct store_reader *reader, struct store_all_streams_head *head, struct error *error);

/* The sums of a bucket, valid until the reader's next call; shift STORE_SHIFT_MAX: of all time. 1; 0: no
 * such bucket; negative. */
int store_all_streams_read(struct store_reader *reader, uint64_t begin_ns, unsigned shift,
	const struct store_context_sums **sums, struct error *error);

#endif
