/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_arrival.h - which party delays the others at collective calls and barriers: the one that arrives
 * last, not the one that takes longest.
 *
 *   rank 0   |==work==|~~Allreduce~~~~~~~|==      an occasion is when all ranks are inside; the last to
 *   rank 1   |==work==========|~Allreduce|==      arrive delays each of the others, from the other's
 *   rank 2   |==work===========...====|~~|==      arrival on; here rank 2 is last
 *
 * Calls recorded as spans (op=mpi with communicator and number; barriers of threads) are exact
 * (last_arrival_calls.c). Without them, collective kernels (NCCL's) tell: those that run at the same time on
 * all GPUs (last_arrival_kernels.c). Otherwise samples tell: the parties are then the processes that enter
 * any collective call in the window, and in each process the threads that enter any barrier (of an OpenMP
 * runtime or a thread library). Such an arrival is known to one period. A call too short to see all parties
 * inside is no occasion, unless only one thread was not seen: it came last and went straight through.
 */
#ifndef BLAME_LAST_ARRIVAL_H
#define BLAME_LAST_ARRIVAL_H

#include "blame/idle/idle.h"

struct last_arrival_party {
	uint32_t stream; /* the process's first thread; the thread */
	bool is_thread;
	uint64_t occasions; /* in which it took part */
	uint64_t last;	    /* of these, where it came last */
	uint64_t held_ns;   /* total wait of the others there */
	uint64_t waited_ns; /* its own wait for others */
	uint32_t context;   /* of its longest delay: the call, for a thread its work before; 0: none */
};

struct last_arrival {
	struct last_arrival_party *parties; /* by descending held_ns, then in the order of the streams */
	uint32_t count;
	uint64_t occasions;
	uint64_t held_ns;		    /* sum */
	struct last_arrival_party *threads; /* by descending held_ns, then in the order of the streams */
	uint32_t thread_count;
	uint64_t thread_held_ns; /* sum */
};

/* Descending held_ns, then stream: for qsort. */
int last_arrival_party_compare(const void *left, const void *right);

struct process;
/* From recorded calls of these processes only; none of a kind without such calls. In `arena`. */
int last_arrival_calls(struct last_arrival *late, struct run *run, const struct idle_question *question,
	const struct process *processes, uint32_t count, struct arena *arena, struct error *error);

/* No parties: fewer than two processes enter collective calls; no threads: no two threads of a process meet.
 * In `arena`. */
int last_arrival_sweep(struct last_arrival *late, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error);

#endif
