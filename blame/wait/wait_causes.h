/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_causes.h - for what, and for whom, each wait of a thread was: from the spans `wait`, `wake`, `lock`
 * and `gil` that the recorder writes (record/agent/wrap/cause.h), calls of MPI, barriers, switch records and
 * GPU operations.
 *
 *   main     ==|~~~~~~read pipe:4711~~~~~|==      party: worker, which let it go on at from_ns
 *   worker   ======make()=========|write|==
 *
 * A wait ends by the earliest wake of the same thing that overlaps it and has ended no other wait. What the
 * records do not tell is absent: a party may be CAUSE_NOBODY, and a switch-out that is in no other wait is
 * CAUSE_UNKNOWN.
 */
#ifndef BLAME_WAIT_CAUSES_H
#define BLAME_WAIT_CAUSES_H

#include "blame/idle/idle.h"

/* The words are also those of attribute `cause=`. */
enum wait_cause_kind {
	CAUSE_UNKNOWN,
	CAUSE_LOCK,	 /* its holder */
	CAUSE_GIL,	 /* likewise, of Python's */
	CAUSE_CONDITION, /* who signalled */
	CAUSE_SEMAPHORE, /* who posted */
	CAUSE_BARRIER,	 /* of threads: the last */
	CAUSE_JOIN,	 /* the thread that ended */
	CAUSE_CHILD,	 /* the process that ended */
	CAUSE_PIPE,	 /* its writer */
	CAUSE_SOCKET,
	CAUSE_EVENTFD,
	CAUSE_SIGNAL, /* who sent it */
	CAUSE_TIMER,
	CAUSE_DISK,
	CAUSE_FAULT,	  /* of a page, by the kernel's frames (-e BLOCKTIME) */
	CAUSE_CPU,	  /* who ran instead on the core */
	CAUSE_GPU,	  /* the queue that ended last */
	CAUSE_LAUNCH,	  /* of a queue: the thread that launched the next operation */
	CAUSE_MESSAGE,	  /* of MPI: the other side */
	CAUSE_COLLECTIVE, /* of MPI: the last rank */
	CAUSE_COUNT
};
extern const char *const wait_cause_names[CAUSE_COUNT];

#define CAUSE_NOBODY UINT32_MAX

struct wait_cause {
	uint64_t begin_ns, end_ns; /* the wait, or a part of it with one party */
	uint64_t from_ns;	   /* when the party let it go on, by its own clock; 0 with CAUSE_NOBODY */
	uint32_t waiter, party;	   /* streams of the run */
	uint32_t context;	   /* of the wait */
	enum wait_cause_kind kind;
};

/* Each by waiter, begin; those of one waiter are disjoint, in the window. */
struct wait_causes {
	struct wait_cause *list;
	size_t count, capacity;
	struct wait_cause *cores; /* of kind CAUSE_CPU: they may lie in waits, of threads already woken */
	size_t core_count, core_capacity;
};

/* Of the streams in the question, which must be all of the processes concerned (related.h): parties are
 * found among them. wait_causes_fini() ends it, also on failure. */
int wait_causes_find(struct wait_causes *causes, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error);
void wait_causes_fini(struct wait_causes *causes);
/* Of one of the lists: the first of that stream, and how many there are. */
const struct wait_cause *wait_causes_of(
	const struct wait_cause *list, size_t list_count, uint32_t stream, size_t *count);

/* What a waiting piece without a cause is, by the function it waits in: the kind alone. */
enum wait_cause_kind wait_cause_by_function(
	struct run *run, struct wait_functions *waits, uint32_t context, enum extent_state state);

/* ---- sums ---- */

struct wait_cause_row {
	enum wait_cause_kind kind;
	uint32_t party; /* CAUSE_NOBODY: not known, or none */
	uint64_t time_ns, waits;
};

/* Waiting of threads as threads.h counts it, and for a core: waiting = the rows' sum. */
struct wait_cause_sums {
	uint64_t waiting_ns, unknown_ns;
	uint64_t kind_ns[CAUSE_COUNT];
	struct wait_cause_row *rows; /* by descending time, then kind and party */
	size_t row_count;
	uint32_t threads;
};
/* Of the question's threads; parties are found in all related ones. In `arena`. ERROR_EMPTY as
 * threads_sweep(). */
int wait_cause_sums_find(struct wait_cause_sums *sums, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error);

/* ---- for wait_causes_*.c ---- */

/* False: no memory. */
bool wait_causes_put(struct wait_causes *causes, const struct wait_cause *cause);

#endif
