/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_waits.h - each single wait in calls of MPI and at barriers of threads: who waited for whom, by the
 * wait states of Scalasca. last_arrival.h adds up the same waits by party.
 *
 *   late sender      Recv  |~~~~~|      until the Send begins
 *   late receiver    Ssend |~~~~~|      until the Recv begins, in a send that is still there then
 *   barrier, n-to-n        |~~~~~|      until the last party comes
 *   late broadcast         |~~~~~|      a receiver's, until the root comes (bcast, scatter)
 *   early reduce           |~~~~~|      the root's, until the last sender comes (reduce, gather)
 *
 * The root is known in MPI_COMM_WORLD alone; elsewhere such a call is `collective`, and those who are still
 * in it when the last comes have waited for that one.
 */
#ifndef BLAME_CALL_WAITS_H
#define BLAME_CALL_WAITS_H

#include "blame/idle/idle.h"
#include "blame/wait/call_messages.h"

enum call_wait_state {
	CALL_WAIT_LATE_SENDER,
	CALL_WAIT_LATE_RECEIVER,
	CALL_WAIT_BARRIER,
	CALL_WAIT_N_TO_N,
	CALL_WAIT_LATE_BROADCAST,
	CALL_WAIT_EARLY_REDUCE,
	CALL_WAIT_COLLECTIVE,
	CALL_WAIT_THREADS, /* at a barrier of one process's threads */
	CALL_WAIT_STATES
};
extern const char *const call_wait_names[CALL_WAIT_STATES];

#define CALL_WAIT_UNTOLD UINT32_MAX

/* Times are the run's, on each stream's own host. */
struct call_wait {
	uint64_t begin_ns, end_ns; /* in the window of the question */
	uint64_t waited_ns;	   /* of that; less where it asked by tests and worked in between */
	uint64_t from_ns;	   /* when the other came */
	uint64_t since_ns; /* end of the call that the other made before: what it did since made it late */
	uint32_t waiter, other;		 /* streams; other CALL_WAIT_UNTOLD: the clocks do not tell */
	uint32_t context, other_context; /* their calls */
	enum call_wait_state state;
};

/* Messages from one process to another; those of its own communicators too. */
struct call_traffic {
	uint32_t from, to; /* first streams of the processes */
	uint64_t messages, bytes;
};

struct call_waits {
	struct call_wait *list; /* by waiter, begin */
	size_t count, capacity;
	struct call_traffic *traffic; /* by from, to */
	size_t traffic_count, traffic_capacity;
	uint64_t unmatched; /* sends whose receiver is not known */
	uint32_t summed;    /* processes of which short calls are sums, not spans */
};

/* Of all processes of the given streams (related.h); call_waits_fini() ends it, also on failure. */
int call_waits_find(struct call_waits *waits, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error);
void call_waits_fini(struct call_waits *waits);

/* ---- for last_arrival_judge.c ---- */

bool call_waits_put(struct call_waits *waits, const struct call_wait *wait);
/* By the call's name, without or with MPI_ and I. */
enum call_wait_state call_wait_state_of(const char *call);

#endif
