/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - metrics that are too frequent for a record each: a thread adds to sums in
 * memory that it shares with the collector, one for each context and metric
 * (event_tally), and the collector makes values of what they have grown by. Exact: a
 * full ring loses nothing of them, nor does a program that is killed.
 */
#ifndef RECORD_AGENT_TALLY_H
#define RECORD_AGENT_TALLY_H

#include "record/agent/sample/thread.h"

enum tally_metric {
	TALLY_NONE,
	TALLY_IO_READ,
	TALLY_IO_WRITTEN,
	TALLY_ALLOCATED,
	TALLY_FREED,
	TALLY_METRICS,
};

/* One sum, as its thread finds it. */
struct tally {
	uint64_t key; /* 0: the slot is free */
	_Atomic uint64_t *total;
	const void *owner; /* what the caller keeps with it */
};

/* Names the metrics that HPCT_EVENTS asks for; once per process, after those of counter.h. */
void tally_open(void);

/* Of a block that goes back to the pool. */
void tally_thread_free(struct thread *t);

/* The slot of `key`, which is not 0; NULL: there is no memory, or it would be one too many. Without a total
 * it is new and wants tally_bind, or is left alone. Within trace_begin and trace_end, as all below. */
struct tally *tally_find(struct thread *t, uint64_t key);
void tally_bind(struct thread *t, struct tally *tally, uint64_t key, uint32_t node, enum tally_metric metric);

/* A key for the thread's own nodes. */
static inline uint64_t tally_key(uint32_t node, enum tally_metric metric)
{
	return (uint64_t)node << 8 | (uint64_t)metric;
}

static inline void tally_add(const struct tally *tally, uint64_t more)
{
	atomic_store_explicit(tally->total, atomic_load_explicit(tally->total, memory_order_relaxed) + more,
		memory_order_relaxed);
}

/* Adds to the sum of `node`; a sum too many goes to the path that is not known. */
void tally_add_at(struct thread *t, uint32_t node, enum tally_metric metric, uint64_t more);

#endif
