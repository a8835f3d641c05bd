/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_queue.h - what waits for locks (lock.h) make together: chains, where who holds a lock waits for
 * another one, and convoys, where a lock is handed from one waiter to the next without a break.
 *
 *   a holds lock 1  =======================           c waits for b, which waits for a: a chain of two
 *   b holds lock 2  ==|~~~~lock 1~~~~~~~~~|==
 *   c               =====|~~lock 2~~~~~~~~~~~|==
 */
#ifndef BLAME_LOCK_QUEUE_H
#define BLAME_LOCK_QUEUE_H

#include "blame/wait/lock.h"

#define LOCK_CHAIN_MOST 16u  /* waits; a longer one, as a deadlock's circle, ends there */
#define LOCK_CONVOY_WAITS 3u /* that end in it: fewer are no convoy */

struct lock_chain {
	uint32_t streams[LOCK_CHAIN_MOST + 1]; /* who waits, for whom, and so on */
	uint32_t length;		       /* waits: two at least */
	uint32_t parts;			       /* stretches */
	uint64_t time_ns;
};

struct lock_convoy {
	uint64_t lock;
	uint32_t process;    /* that of lock_part */
	uint32_t context;    /* of its first wait */
	uint32_t convoys;    /* stretches in which somebody waits all the time, and LOCK_CONVOY_WAITS end */
	uint64_t waits;	     /* that ended in them */
	uint64_t waited_ns;  /* in them, by all together */
	uint64_t length_ns;  /* of all of them */
	uint64_t longest_ns; /* of one */
	uint32_t most;	     /* that waited at once */
	bool is_gil;
};

struct lock_queue {
	struct lock_chain *chains; /* by descending time, then length, streams */
	size_t chain_count;
	struct lock_convoy *convoys; /* by descending waited_ns, then process, lock */
	size_t convoy_count;
	uint64_t waited_ns; /* of all parts */
};

/* Of the parts that lock_parts() gave, which it sorts. In `arena`. */
int lock_queue_find(struct lock_queue *queue, struct lock_part *parts, size_t count, struct arena *arena,
	struct error *error);

#endif
