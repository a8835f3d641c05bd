/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - metrics too frequent for one record each: a thread adds to sums in memory shared with the
 * collector, one per context and metric (event_tally), and the collector stores their increase. Exact:
 * neither a full ring nor a killed program loses any.
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
	TALLY_MPI_CALLS,
	TALLY_MPI_BYTES,
	TALLY_MPI_TIME,
	TALLY_MPI_BELOW_1US, /* calls by duration: these sum up to all */
	TALLY_MPI_BELOW_10US,
	TALLY_MPI_LONGER,
	TALLY_OMP_REGIONS,  /* at the region, of who opened it */
	TALLY_OMP_TIME,	    /* likewise, up to the last arrival at its end */
	TALLY_OMP_LAST,	    /* of the thread that arrived last, at barriers and ends: how often, */
	TALLY_OMP_HELD,	    /* and what the others waited for it */
	TALLY_OMP_CAPACITY, /* of who opened it: the time of all threads up to the last arrivals */
	TALLY_OMP_WAITED,   /* of the others */
	TALLY_METRICS,
};

/* One sum, in the thread's table. */
struct tally {
	uint64_t key; /* 0: free slot */
	_Atomic uint64_t *total;
	const void *owner; /* the caller's data */
};

/* Names the metrics in HPCT_EVENTS; once per process, after those of counter.h. */
void tally_open(void);

/* For a block that returns to the pool. */
void tally_thread_free(struct thread *t);

/* The slot of `key`, which is not 0; NULL: no memory, or too many. A slot without a total is new: call
 * tally_bind, or leave it. Within trace_begin and trace_end, as all below. */
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

/* The sum of `node`, which stays where it is during the ring's claim; NULL: no memory, or too many. */
const struct tally *tally_at(struct thread *t, uint32_t node, enum tally_metric metric);

/* Adds to the sum of `node`; if there are too many sums, to the unknown path. */
void tally_add_at(struct thread *t, uint32_t node, enum tally_metric metric, uint64_t more);

#endif
