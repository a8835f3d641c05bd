/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_arrival.h - which party delays the others at collective calls and barriers: the one that arrives
 * last, not the one that takes longest.
 *
 *   rank 0   |==work==|~~Allreduce~~~~~~~|==      an occasion is when all ranks are inside; the last to
 *   rank 1   |==work==========|~Allreduce|==      arrive delays each of the others, from the other's
 *   rank 2   |==work===========...====|~~|==      arrival on; here rank 2 is last
 *
 * Calls that were recorded as spans (op=mpi with communicator and number; barriers of threads) are exact
 * (last_arrival_calls.c); so are messages, where a rank waits for one other (call_messages.h). Where there
 * are none, the kernels tell that GPUs run in collective calls, NCCL's: those that run at once on all of them
 * (last_arrival_kernels.c). Else samples tell: the parties are then the processes that enter any collective
 * call in the window, and of each process the threads that enter any barrier (an OpenMP runtime's, a thread
 * library's). An arrival is then known to one period; a call so short that not all are seen inside at once is
 * no occasion, but that one thread alone is not: it came last and went straight through.
 *
 * Clocks of several hosts are put together by the calls themselves (base/host_clocks.h). An occasion whose
 * last party is another one with other shifts that are possible too is not told: it names nobody.
 */
#ifndef BLAME_LAST_ARRIVAL_H
#define BLAME_LAST_ARRIVAL_H

#include "blame/idle/idle.h"

enum last_arrival_role {
	LAST_ARRIVAL_PROCESS, /* in collective calls */
	LAST_ARRIVAL_THREAD,  /* at barriers */
	LAST_ARRIVAL_SENDER,  /* of messages */
	LAST_ARRIVAL_RECEIVER
};

struct last_arrival_party {
	uint32_t stream; /* the process's first thread; the thread */
	enum last_arrival_role role;
	uint64_t occasions; /* that it took part in */
	uint64_t last;	    /* of them, at which it came last */
	uint64_t held_ns;   /* what the others waited for it there, together */
	uint64_t waited_ns; /* what it waited for others */
	uint32_t context;   /* of the work that made it late where it held up longest, else of that call; 0:
			       none */
};

/* How a host's clock was put together with that of the first party's host. Where a clock ran faster than
 * another for so long that one shift does not fit all calls, there are several shifts: from..to. */
struct last_arrival_clock {
	const char *host;
	int64_t from_ns, to_ns;
	uint64_t error_ns; /* HOST_CLOCK_UNKNOWN: no calls and no anchor bound it on both sides */
};

struct last_arrival {
	struct last_arrival_party *parties; /* by descending held_ns, then in the order of the streams */
	uint32_t count;
	uint64_t occasions;
	uint64_t held_ns;		   /* sum, with untold_ns */
	uint64_t untold, untold_ns;	   /* occasions whose last party the clocks do not tell */
	struct last_arrival_clock *clocks; /* of several hosts, the first one's first; NULL: one clock */
	uint32_t clock_count;
	struct last_arrival_party *threads; /* by descending held_ns, then in the order of the streams */
	uint32_t thread_count;
	uint64_t thread_held_ns; /* sum */
	const uint8_t *related;	 /* bits of related.h: which of them were asked about */
	/* Processes as senders and as receivers of messages, those that waited or were waited for: what a
	 * late sender held up is what its receivers waited, and so on. */
	struct last_arrival_party *messages;
	uint32_t message_count;
	uint64_t message_occasions; /* messages */
	uint64_t message_held_ns;   /* sum, with message_untold_ns */
	uint64_t message_untold, message_untold_ns;
	uint32_t summed; /* processes whose messages are not told: short calls of MPI are sums there */
};

/* Descending held_ns, then stream: for qsort. */
int last_arrival_party_compare(const void *left, const void *right);

struct process;
struct host_clocks;
/* By recorded calls of these processes alone; none of a kind where there are none. In `arena`. */
int last_arrival_calls(struct last_arrival *late, struct run *run, const struct idle_question *question,
	const struct process *processes, uint32_t count, struct host_clocks *clocks, struct arena *arena,
	struct error *error);

/* All processes are compared, whatever streams are chosen.
 * No parties: fewer than two processes enter collective calls; no threads: no two threads of a process meet.
 * In `arena`. */
int last_arrival_sweep(struct last_arrival *late, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error);
/* The same where the question has what related_find() gave of all processes, for who asks about many windows.
 */
int last_arrival_sweep_related(struct last_arrival *late, struct run *run,
	const struct idle_question *question, struct arena *arena, struct error *error);

#endif
