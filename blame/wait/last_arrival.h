/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_arrival.h - who held the others up at collective calls and barriers: by last arrival, not by duration.
 *
 *   rank 0   |==work==|~~Allreduce~~~~~~~|==      an occasion is when all ranks are inside; the last to
 *   rank 1   |==work==========|~Allreduce|==      come held up each of the others from its arrival on
 *   rank 2   |==work===========...====|~~|==      rank 2 was last
 *
 * Calls that were recorded as spans (op=mpi with communicator and number; barriers of threads) are exact
 * (last_arrival_calls.c). Where there are none, the kernels tell that GPUs run in collective calls, NCCL's:
 * those that run at once on all of them (last_arrival_kernels.c). Else samples tell: the parties are then the
 * processes that enter any collective call in the window, and of each process the threads that enter any
 * barrier (an OpenMP runtime's, a thread library's). An arrival is then known to one period; a call so short
 * that not all are seen inside at once is no occasion, but that one thread alone is not: it came last and
 * went straight through.
 */
#ifndef BLAME_LAST_ARRIVAL_H
#define BLAME_LAST_ARRIVAL_H

#include "blame/idle/idle.h"

struct last_arrival_party {
	uint32_t stream; /* the process's first thread; the thread */
	bool is_thread;
	uint64_t occasions; /* that it took part in */
	uint64_t last;	    /* of them, at which it came last */
	uint64_t held_ns;   /* what the others waited for it there, together */
	uint64_t waited_ns; /* what it waited for others */
	uint32_t context;   /* of the call where it held up longest, of a thread's work before it; 0: none */
};

struct last_arrival {
	struct last_arrival_party *parties; /* by descending held_ns, then in the order of the streams */
	uint32_t count;
	uint64_t occasions;
	uint64_t held_ns;		    /* sum */
	struct last_arrival_party *threads; /* by descending held_ns, then in the order of the streams */
	uint32_t thread_count;
	uint64_t thread_held_ns; /* sum */
	const uint8_t *related;	 /* bits of related.h: which of them were asked about */
};

/* Descending held_ns, then stream: for qsort. */
int last_arrival_party_compare(const void *left, const void *right);

struct process;
/* By recorded calls of these processes alone; none of a kind where there are none. In `arena`. */
int last_arrival_calls(struct last_arrival *late, struct run *run, const struct idle_question *question,
	const struct process *processes, uint32_t count, struct arena *arena, struct error *error);

/* All processes are compared, whatever streams are chosen.
 * No parties: fewer than two processes enter collective calls; no threads: nowhere two of a process meet. In
 * `arena`. */
int last_arrival_sweep(struct last_arrival *late, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error);

#endif
