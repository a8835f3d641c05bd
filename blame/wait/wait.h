/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - CPU threads that wait in synchronization calls (CPU_IDLE of S3 IV-A), and the kernels that they
 * wait for (CPU_IDLE_CAUSE; S3 leaves the rule of sharing open).
 *
 *   thread    |sync~~~~~~~~~~~~~~~~~|
 *   queue 0      |#a######|                 an interval dt of a thread's wait is shared equally by the n
 *   queue 1           |#b#####|             kernels that run in it, each dt / n; n = 0: no kernel covers it
 *
 * The kernels are all those of the thread's process, or of all processes, whatever streams are chosen. Sums
 * are exact: sync = covered + uncovered.
 */
#ifndef BLAME_WAIT_H
#define BLAME_WAIT_H

#include "blame/idle/idle.h"

/* Sums over the threads. */
struct wait {
	uint32_t threads;
	uint64_t window_ns;	  /* threads x window */
	uint64_t monitored_ns;	  /* part of it */
	uint64_t sync_ns;	  /* in a synchronization call */
	uint64_t covered_ns;	  /* part of it while a kernel ran */
	uint64_t uncovered_ns;	  /* the rest */
	struct exact_share *sync; /* by the call's context: sum to sync */
	size_t sync_count;
	struct exact_share *causes; /* by the kernel's context: sum to covered */
	size_t cause_count;
};

/* Uses streams, window and group of the question. ERROR_EMPTY: no thread is monitored in the window. Shares
 * in `arena`. */
int wait_sweep(struct wait *wait, struct run *run, const struct idle_question *question, struct arena *arena,
	struct error *error);

#endif
