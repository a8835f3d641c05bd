/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h - who held the lock that a thread waited for, and what it did meanwhile. The recorder writes each
 * wait for a lock as a span `lock` with the lock's address and, where libc tells, the thread that held it
 * when the wait began. Who gets the lock after a wait holds it until the next of those who waited gets it:
 *
 *   thread 1   ==refresh (holds)=====|==...
 *   thread 2        |~~lock holder=1~~|==lookup==|               thread 3 waits for 1, then for 2
 *   thread 3           |~~lock holder=1~~~~~~~~~~|==lookup==
 *
 * Once a waiter runs again it has the lock, or takes it: that is nobody's time (switch records tell); between
 * being woken and getting a core it counts as waiting for the last one. A thread that took the lock in
 * between without waiting is not seen. Times are exact: waited = held + unknown.
 *
 * Readers share a read-write lock and do not wait for each other. libc knows of no readers: who waits for
 * them has waited for the one that left last, which its span `wake` tells.
 *
 * Waits for Python's GIL are spans `gil` of the same form; one with again=1 did not end with the lock taken:
 * the wait goes on in the next, since another thread was seen to hold it.
 */
#ifndef BLAME_LOCK_H
#define BLAME_LOCK_H

#include "blame/idle/idle.h"

#define LOCK_HOLDER_UNKNOWN UINT32_MAX

/* Bits: of which locks. */
enum lock_kind { LOCK_PROGRAM = 1, LOCK_GIL = 2, LOCK_ALL = 3 };

struct lock_pair {
	uint32_t waiter, holder; /* streams; the holder may be LOCK_HOLDER_UNKNOWN */
	uint64_t time_ns;
	uint64_t waits; /* parts of waits */
};

struct lock {
	uint64_t waits;		   /* of the threads asked about: those that ended with the lock taken */
	uint64_t waited_ns;	   /* their sum */
	uint64_t unknown_ns;	   /* of it, nobody knows who held the lock, or what the holder did */
	struct exact_share *sites; /* by the path that called for the lock: sum to waited */
	size_t site_count;
	struct exact_share *holders; /* by what the holder did: sum to waited - unknown */
	size_t holder_count;
	struct lock_pair *pairs; /* by descending time, then in the order of the streams */
	size_t pair_count;
};

/* A stretch of a wait with one holder. */
struct lock_part {
	uint64_t begin_ns, end_ns;
	uint64_t lock;		 /* its address */
	uint32_t waiter, holder; /* streams; the holder may be LOCK_HOLDER_UNKNOWN */
	uint32_t context;	 /* of the wait */
	uint32_t process;	 /* a number */
	bool is_last;		 /* of its wait, which got the lock */
	bool is_gil;
};

/* The parts of all waits of the question's threads, in no order, less what a waiter that runs again takes to
 * get its lock. In `arena`. */
int lock_parts(struct lock_part **parts, size_t *count, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error);

/* Uses streams and window of the question: of its threads the waits count, whoever held the lock. In `arena`.
 */
int lock_sweep(struct lock *lock, struct run *run, const struct idle_question *question, enum lock_kind kinds,
	struct arena *arena, struct error *error);

#endif
