/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.h - what CPU threads wait in, and when only one thread of a process works while others wait, with
 * or without a GPU.
 *
 *   thread 0  |==a====|==b==|~sync~|        waiting: sync, blocked, in a function that only waits
 *   thread 1  |==c==|---blocked----|        serial:  b, the only one that works
 */
#ifndef BLAME_THREADS_H
#define BLAME_THREADS_H

#include "blame/idle/idle.h"

/* Sums over the threads; they sum to window_ns. */
struct threads {
	uint32_t threads, processes;
	uint64_t window_ns;
	uint64_t work_ns;
	uint64_t sync_ns;     /* in synchronization calls */
	uint64_t blocked_ns;  /* switched out, not by preemption */
	uint64_t pathless_ns; /* of it, no record tells in which call: the thread was last seen at work */
	uint64_t spin_ns;     /* on the CPU in functions that only wait */
	uint64_t runnable_ns; /* waits for a core */
	uint64_t unknown_ns;  /* lost, unmonitored, or nothing known */
	uint64_t absent_ns;   /* not born yet, or ended */
	uint64_t serial_ns;   /* of processes with two living threads or more: exactly one at work, of those
				 chosen */
	struct exact_share *waited; /* sum to sync + blocked + spin - pathless */
	size_t waited_count;
	struct exact_share *after; /* sum to pathless, by the work after which it began */
	size_t after_count;
	struct exact_share *serial; /* sum to serial */
	size_t serial_count;
};

/* Of the question its streams, window and waits count; who works alone does so among all threads of its
 * process. ERROR_EMPTY: no thread is monitored in the window.
 * Shares in `arena`. */
int threads_sweep(struct threads *threads, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error);

#endif
