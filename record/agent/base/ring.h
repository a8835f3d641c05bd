/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - the producer's end of one thread's ring (store/ring/ring.h draws it). A
 * batch of records becomes visible at once, or is refused as a whole and counted;
 * the next batch that fits opens with an EVENT_LOST record for what was refused.
 * One thread; a signal handler of that thread may come in between only through
 * RING_LOST_REENTERED, which `busy` tells it to call.
 */
#ifndef RECORD_AGENT_RING_H
#define RECORD_AGENT_RING_H

#include <stdbool.h>

#include "store/ring/ring.h"

struct ring {
	struct event_ring *shared;
	unsigned char *data;
	uint64_t bytes;	    /* of data, a power of two */
	uint64_t at;	    /* next byte to write; becomes shared->head by ring_commit */
	volatile bool busy; /* between ring_enter and ring_leave */
	/* What was refused since the last EVENT_LOST record. */
	_Atomic uint64_t lost_count;
	_Atomic uint64_t lost_weight;
	_Atomic uint64_t lost_begin_ns;
};

/* Takes up a ring of `bytes` of data that is CLAIMED by this thread; positions go on where the last claim
 * ended. */
void ring_init(struct ring *ring, struct event_ring *shared, uint64_t bytes);

/* true: this thread may publish now, until ring_leave. false: a publication is under way below us. */
bool ring_enter(struct ring *ring);
void ring_leave(struct ring *ring);

/* Opens a batch of at most `bytes` (<= half of the ring) in records of at most `longest` bytes each,
 * preceded by the loss record if one is due. false: no room; nothing was written. */
bool ring_begin(struct ring *ring, uint64_t bytes, uint64_t longest, uint64_t now_ns);

/* Place for one record of the batch, its header filled. Valid until ring_commit. */
void *ring_put(struct ring *ring, uint8_t type, uint8_t flags, uint32_t node, uint64_t bytes);

/* Makes the batch visible. */
void ring_commit(struct ring *ring);

enum ring_loss { RING_LOST_FULL, RING_LOST_REENTERED, RING_LOST_MEMORY };

/* Adds to a counter of `shared` that the ring's thread alone writes. */
static inline void ring_count(_Atomic uint64_t *counter, uint64_t more)
{
	if (more)
		atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
			memory_order_relaxed);
}

/* Counts one dropped record of `weight`. Any code of the ring's thread, nested or not. */
void ring_lose(struct ring *ring, enum ring_loss why, uint64_t weight, uint64_t now_ns);

#endif
