/* SPDX-License-Identifier: Apache-2.0 */
/*
 * all_streams.h - the lines of all streams of a store in one: time of each (state, operation, context) in
 * buckets of 2^shift ns, summed over the streams. So the whole run, or a window of it, costs what its buckets
 * hold, whether ten streams or 64K made them.
 *
 *   stream 0   |==a===|==b==|=====b======|          pieces, as the builders sweep them
 *   stream 1      |====a====|---|==c==|
 *   buckets    |       |       |       |       |    a thousand at most: wider ones when the run grows
 *
 * Nobody reads that of fewer than STORE_ALL_STREAMS_STREAMS: while there are few, all but the first pieces
 * are missed.
 *
 * What a sweep does not know (it was missed, records came late, rules changed) spoils the buckets it touches:
 * those are not put, and readers ask the streams themselves. They are put once, when the store is closed: a
 * store that is still recorded, or whose writer was killed, has none.
 *
 *   key     | STORE_ROLLUP_ALL | kind CROWD | begin | shift |     (key.h)
 *   bucket  sealed: | sums |                                    (context_sums.h; metric = state + 16 x
 * operation) head    begin 0, shift 63; sealed: | streams | life's begin, end | shift | 1 if whole | sums of
 * all |
 *
 * ABSENT time is not kept: it is what the others leave of streams x length. Outside the life of all streams
 * they are absent.
 */
#ifndef STORE_ALL_STREAMS_H
#define STORE_ALL_STREAMS_H

#include <lmdb.h>

#include "store/states/state_rollup.h"

#define STORE_ROLLUP_ALL_STREAMS 4u /* kind in the key */
#define STORE_ALL_STREAMS_STEP 3u   /* buckets are of 2^shift ns, and 2^3 times as long, ... */
/* At most of the smallest size: so a screen of 250 columns finds its tiles, after the last widening, too. */
#define STORE_ALL_STREAMS_BUCKETS 1024u
#define STORE_ALL_STREAMS_STREAMS 16u /* fewer answer by themselves */

/* ---- writing ---- */

/* A piece that waits for its bucket; it ends where the next one begins. */
struct all_streams_piece {
	uint64_t begin_ns; /* the highest bit: its record began before */
	uint32_t context, metric;
};

/* all_streams_wait.c */
struct all_streams_wait {
	struct all_streams_piece *pieces;
	uint32_t count;
	size_t room;
	uint32_t *runs; /* where those begin that have no gap */
	uint32_t run_count, run_room;
	struct all_streams_sorter *sorter;
};

/* All-zero is empty. The first pieces wait: most runs have few streams, and need no buckets. */
struct store_all_streams {
	struct all_streams_wait wait;
	struct all_streams_bucket *buckets;
	uint64_t first; /* buckets[0] begins at first << shift */
	uint32_t count;
	unsigned shift;
	uint64_t entries; /* in all buckets */
	uint64_t pieces;
	uint64_t spoiled_ns;	 /* all that ends behind it is spoiled; UINT64_MAX: nothing, once begun */
	struct store_bytes made; /* to be put */
	bool has_begun;		 /* with buckets */
	bool is_bad;		 /* there will be none: memory is out, or something cannot be known */
	bool is_few;		 /* there are not STORE_ALL_STREAMS_STREAMS yet: once many wait it sleeps */
	bool is_asleep;		 /* what is added is not kept */
};
void store_all_streams_fini(struct store_all_streams *all_streams);
/* Does it take nothing, for ever or for now? */
static inline bool store_all_streams_is_idle(const struct store_all_streams *all_streams)
{
	return all_streams->is_bad || all_streams->is_asleep;
}
/* While there are few streams: forgets what was added, and takes nothing until it wakes. */
void store_all_streams_sleep(struct store_all_streams *all_streams);
/* There are few no more. True: it slept, and who added to it spoils what it has missed. */
bool store_all_streams_wake(struct store_all_streams *all_streams);
/* There will be none. */
void store_all_streams_give_up(struct store_all_streams *all_streams);

/* What a stream does from `begin_ns` to `end_ns`, before 2^62. */
void store_all_streams_add(struct store_all_streams *all_streams, const struct state_piece *piece);
/* Room for so many pieces, each from where the one before ends, the first from `begin_ns`, none absent:
 * store_all_streams_piece() for each, then close() behind the last one. NULL: nothing is taken. */
struct all_streams_piece *store_all_streams_open(
	struct store_all_streams *all_streams, uint64_t begin_ns, uint32_t count);
static inline void store_all_streams_piece(struct all_streams_piece *to, uint64_t begin_ns, uint32_t context,
	uint32_t metric, bool is_record_begin)
{
	*to = (struct all_streams_piece){begin_ns | (uint64_t)!is_record_begin << 63, context, metric};
}
void store_all_streams_close(
	struct store_all_streams *all_streams, struct all_streams_piece *end, uint64_t end_ns);
/* So many pieces were not taken. They count still: how wide buckets are follows what the whole run has, those
 * with what was missed included. */
static inline void store_all_streams_miss(struct store_all_streams *all_streams, uint64_t pieces)
{
	all_streams->pieces += pieces;
}
/* What was added there, or should have been, is not what it did. end_ns UINT64_MAX: for ever. */
void store_all_streams_spoil(struct store_all_streams *all_streams, uint64_t begin_ns, uint64_t end_ns);

/* What the head says. */
struct store_all_streams_head {
	uint32_t streams;
	uint64_t begin_ns, end_ns; /* of the life of all streams */
	unsigned shift; /* of the smallest buckets: STORE_ALL_STREAMS_BUCKETS at most hold that life */
	bool is_whole;	/* the head's sums are those of all time */
};

/* Puts what is sound: LMDB's code. Nothing, where memory is out. `head` with the streams and their life. */
int store_all_streams_put(struct store_all_streams *all_streams, const struct store_all_streams_head *head,
	MDB_txn *txn, MDB_dbi rolls);

/* ---- reading ---- */

/* 1: there is a all_streams of all streams; 0: none; negative. */
int store_all_streams_head(
	struct store_reader *reader, struct store_all_streams_head *head, struct error *error);

/* The sums of a bucket, valid until the reader's next call; shift STORE_SHIFT_MAX: of all time. 1; 0: there
 * is no such bucket; negative. */
int store_all_streams_read(struct store_reader *reader, uint64_t begin_ns, unsigned shift,
	const struct store_context_sums **sums, struct error *error);

#endif
