/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - the producer's side of one thread's ring (store/ring/ring.h draws it). A batch of records becomes
 * visible at once, or is refused as a whole and counted; the next batch that fits starts with an EVENT_LOST
 * record for the refused ones. Single thread; a signal handler of that thread that finds `busy` set may only
 * count RING_LOST_REENTERED.
 */
#ifndef RECORD_AGENT_RING_H
#define RECORD_AGENT_RING_H

#include <stdbool.h>

#include "store/ring/ring.h"
#include "store/ring/ring_record.h"

struct ring {
	struct event_ring *shared;
	unsigned char *data;
	uint64_t bytes;	    /* of data, a power of two */
	uint64_t at;	    /* next byte to write; becomes shared->head by ring_commit */
	volatile bool busy; /* between ring_enter and ring_leave */
	/* Refused since the last EVENT_LOST record. */
	_Atomic uint64_t lost_count;
	_Atomic uint64_t lost_weight;
	_Atomic uint64_t lost_begin_ns;
	_Atomic uint32_t lost_kinds[EVENT_LOST_KINDS];
};

/* Attaches to a ring of `bytes` of data that this thread has CLAIMED; continues at the last claim's end. */
void ring_init(struct ring *ring, struct event_ring *shared, uint64_t bytes);

/* True: this thread may publish until ring_leave. False: we interrupted a publication. */
bool ring_enter(struct ring *ring);
void ring_leave(struct ring *ring);

/* Opens a batch of at most `bytes` (<= half of the ring) in records of at most `longest` bytes, preceded
 * by a loss record if one is due. False: no space; nothing was written. */
bool ring_begin(struct ring *ring, uint64_t bytes, uint64_t longest, uint64_t now_ns);

/* Returns space for one record of the batch, with its header set. Valid until ring_commit. */
void *ring_put(struct ring *ring, uint8_t type, uint8_t flags, uint32_t node, uint64_t bytes);

/* Publishes the batch. */
void ring_commit(struct ring *ring);

enum ring_loss { RING_LOST_FULL, RING_LOST_REENTERED, RING_LOST_MEMORY };

/* Adds to a counter of `shared` that only the ring's thread writes. */
static inline void ring_count(_Atomic uint64_t *counter, uint64_t more)
{
	if (more)
		atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
			memory_order_relaxed);
}

/* Counts one dropped record, as ring_lose. */
void ring_lose_kind(
	struct ring *ring, enum ring_loss why, enum event_lost_kind kind, uint64_t weight, uint64_t now_ns);

/* Counts one dropped sample of `weight`. Any code of the ring's thread, reentrant or not. */
void ring_lose(struct ring *ring, enum ring_loss why, uint64_t weight, uint64_t now_ns);

#endif
