/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - the lines of all streams of a store in one: time of each (state, operation, context) in buckets
 * of 2^shift ns, summed over the streams. So the whole run, or a window of it, costs what its buckets hold,
 * whether ten streams or 64K made them.
 *
 *   stream 0   |==a===|==b==|=====b======|          pieces, as the rollers sweep them
 *   stream 1      |====a====|---|==c==|
 *   buckets    |       |       |       |       |    a thousand at most: wider ones when the run grows
 *
 * Nobody reads that of fewer than STORE_CROWD_STREAMS: while there are few, all but the first pieces are
 * missed.
 *
 * What a sweep does not know (it was missed, records came late, rules changed) spoils the buckets it touches:
 * those are not put, and readers ask the streams themselves. They are put once, when the store is closed: a
 * store that is still recorded, or whose writer was killed, has none.
 *
 *   key     | STORE_ROLL_ALL | kind CROWD | begin | shift |     (key.h)
 *   bucket  sealed: | sums |                                    (sums.h; metric = state + 16 x operation)
 *   head    begin 0, shift 63; sealed: | streams | life's begin, end | shift | 1 if whole | sums of all |
 *
 * ABSENT time is not kept: it is what the others leave of streams x length. Outside the life of all streams
 * they are absent.
 */
#ifndef STORE_CROWD_H
#define STORE_CROWD_H

#include <lmdb.h>

#include "store/line_roll.h"

#define STORE_ROLL_CROWD 4u /* kind in the key */
#define STORE_CROWD_STEP 3u /* buckets are of 2^shift ns, and 2^3 times as long, ... */
/* At most of the smallest size: so a screen of 250 columns finds its tiles, after the last widening, too. */
#define STORE_CROWD_BUCKETS 1024u
#define STORE_CROWD_STREAMS 16u /* fewer answer by themselves */

/* ---- writing ---- */

/* All-zero is empty. The first pieces wait in a list: most runs have few streams, and need no buckets. */
struct store_crowd {
	struct line_piece *list;
	uint32_t list_count, list_room;
	struct crowd_bucket *buckets;
	uint64_t first; /* buckets[0] begins at first << shift */
	uint32_t count;
	unsigned shift;
	uint64_t entries;	  /* in all buckets */
	struct store_sum pending; /* to be added to bucket `pending_index`, where its weight is not 0 */
	uint64_t pending_index;
	uint64_t pieces;
	uint64_t spoiled_ns;	 /* all that ends behind it is spoiled; UINT64_MAX: nothing, once begun */
	struct store_bytes made; /* to be put */
	bool has_begun;		 /* with buckets; the list is empty from then on */
	bool is_bad;		 /* there will be none: memory is out, or something cannot be known */
	bool is_few;		 /* there are not STORE_CROWD_STREAMS yet: while the list is full it sleeps */
	bool is_asleep;		 /* what is added is not kept */
};
void store_crowd_fini(struct store_crowd *crowd);
/* Does it take nothing, for ever or for now? */
static inline bool store_crowd_is_idle(const struct store_crowd *crowd)
{
	return crowd->is_bad || crowd->is_asleep;
}
/* While there are few streams: forgets what was added, and takes nothing until it wakes. */
void store_crowd_sleep(struct store_crowd *crowd);
/* There are few no more. True: it slept, and who added to it spoils what it has missed. */
bool store_crowd_wake(struct store_crowd *crowd);
/* There will be none. */
void store_crowd_give_up(struct store_crowd *crowd);

/* What a stream does from `begin_ns` to `end_ns`, before 2^62. */
void store_crowd_add(struct store_crowd *crowd, const struct line_piece *piece);
/* The end of the bucket that holds `at_ns`: what lies in it may be added up before it is added. at_ns: there
 * is no such bucket yet. */
static inline uint64_t store_crowd_edge(const struct store_crowd *crowd, uint64_t at_ns)
{
	uint64_t index = at_ns >> crowd->shift;

	if (store_crowd_is_idle(crowd))
		return UINT64_MAX;
	return index >= crowd->first && index - crowd->first < crowd->count ? (index + 1) << crowd->shift
									    : at_ns;
}
/* Adds to the bucket that holds `at_ns` what pieces there have in sum, and how many those are. */
void store_crowd_add_sum(struct store_crowd *crowd, uint64_t at_ns, const struct store_sum *sum);
static inline void store_crowd_count(struct store_crowd *crowd, uint64_t pieces)
{
	crowd->pieces += pieces;
}
/* What was added there, or should have been, is not what it did. end_ns UINT64_MAX: for ever. */
void store_crowd_spoil(struct store_crowd *crowd, uint64_t begin_ns, uint64_t end_ns);

/* What the head says. */
struct store_crowd_head {
	uint32_t streams;
	uint64_t begin_ns, end_ns; /* of the life of all streams */
	unsigned shift;		   /* of the smallest buckets: STORE_CROWD_BUCKETS at most hold that life */
	bool is_whole;		   /* the head's sums are those of all time */
};

/* Puts what is sound: LMDB's code. Nothing, where memory is out. `head` with the streams and their life. */
int store_crowd_put(
	struct store_crowd *crowd, const struct store_crowd_head *head, MDB_txn *txn, MDB_dbi rolls);

/* ---- reading ---- */

/* 1: there is a crowd of all streams; 0: none; negative. */
int store_crowd_head(struct store_reader *reader, struct store_crowd_head *head, struct error *error);

/* The sums of a bucket, valid until the reader's next call; shift STORE_SHIFT_MAX: of all time. 1; 0: there
 * is no such bucket; negative. */
int store_crowd_read(struct store_reader *reader, uint64_t begin_ns, unsigned shift,
	const struct store_sums **sums, struct error *error);

#endif
