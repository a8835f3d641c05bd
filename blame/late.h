/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late.h - who held the others up at collective calls: by last arrival, not by duration.
 *
 *   rank 0        |==work==|~~Allreduce~~~~~~~|==      an occasion is when all ranks are inside; the last to
 *   held          |==work==========|~Allreduce|==      come held up each of the others from its arrival on
 *   rank 2        |==work===========...====|~~|==      rank 2 was last
 *
 * Calls that were recorded as spans (op=mpi with communicator and number; barriers of threads, where the
 * parties are threads) are exact (late_calls.c). Without any, samples tell: the parties are then the
 * processes that enter any collective call in the window, an arrival is known to one period, and a call so
 * short that not all are seen inside at once is no occasion.
 */
#ifndef BLAME_LATE_H
#define BLAME_LATE_H

#include "blame/idle.h"

struct late_party {
	uint32_t stream;    /* the thread, or the process's first */
	bool is_thread;	    /* of a barrier of threads */
	uint64_t last;	    /* occasions at which it came last */
	uint64_t held_ns;   /* what the others waited for it there, together */
	uint64_t waited_ns; /* what it waited for others */
	uint32_t context;   /* of the call where it held up longest; 0: none */
};

struct late {
	struct late_party *parties; /* by descending held_ns, then in the order of the streams */
	uint32_t count;
	uint64_t occasions;
	uint64_t held_ns; /* sum */
};

/* Descending held_ns, then stream: for qsort. */
int late_party_compare(const void *left, const void *right);

/* By recorded calls alone; none where there are none. */
int late_calls(struct late *late, struct run *run, const struct idle_question *question, struct arena *arena,
	struct error *error);

/* None: fewer than two processes enter collective calls. In `arena`. */
int late_sweep(struct late *late, struct run *run, const struct idle_question *question, struct arena *arena,
	struct error *error);

#endif
