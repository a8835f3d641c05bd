/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle.h - blames idle GPU time on threads (S0 7.2, S4 10.9): a sweep over the timelines of a group's GPU
 * queues and CPU threads.
 *
 *   queue 0   |###|......|##|........     busy: some queue of the group works
 *   queue 1   |.....##|..........#|..
 *   idle          ^      ^^       ^^      the window minus the union of their spans, none lost or unmonitored
 *   threads   k = working threads in an idle interval dt: each gets dt / k for its context;
 *             k = 0: nobody active; dt is shared by the contexts in which the threads waited
 *
 * A thread works if it runs outside functions that only wait (wait_functions.h), or is in a synchronization
 * call while its process has no work queued or running (gpu_pending.h). A blocked, runnable or unknown
 * thread does not. A queue before its creation, or after its end, is idle while a stream of its group lives.
 * But before the group's first queue is created (gpu_first_use.h) its GPUs are unused, not idle, and after
 * the group's last stream has ended the time is unknown. A group is a process with its devices, or all
 * processes.
 *
 * Sums are exact: idle = blamed + nobody active, window = busy + idle + unknown; and sums of adjacent
 * windows add up to those of the whole.
 */
#ifndef BLAME_IDLE_H
#define BLAME_IDLE_H

#include "blame/base/exact_share.h"
#include "blame/base/wait_functions.h"
#include "timeline/scan/extent.h"

enum idle_busy { IDLE_BUSY_ANY, IDLE_BUSY_KERNEL };	/* what makes a GPU busy */
enum idle_group { IDLE_GROUP_PROCESS, IDLE_GROUP_ALL }; /* whose threads may be blamed */

struct gaps;

struct idle_question {
	const uint32_t *streams; /* of the run, to be reported: GPU queues and CPU threads in any order */
	uint32_t stream_count;
	const uint8_t
		*related; /* bits of related.h: within a sweep alone, whose streams are then all related */
	uint64_t begin_ns, end_ns; /* absolute, half-open */
	enum idle_busy busy;
	enum idle_group group;
	struct wait_functions *waits;
	bool is_sampled; /* compute `sampled` too */
	bool is_brief; /* only the sum of busy time is needed: kernel_ns, comm_ns and copy_ns may be wrong */
	const struct stream_groups *groups; /* shares are by group of streams, too (of all of the run); NULL:
					       not */
	struct gaps *gaps;		    /* receives every idle gap (gaps.h); NULL: not needed */
};

/* Sums over the groups that have a GPU queue. */
struct idle {
	uint32_t groups;
	uint64_t window_ns;	 /* groups x window */
	uint64_t kernel_ns;	 /* some queue runs a kernel that computes */
	uint64_t comm_ns;	 /* only communicating kernels (wait_functions.h), with or without copies */
	uint64_t copy_ns;	 /* only copies and other operations, no kernels */
	uint64_t busy_ns;	 /* the part of these that the question counts as busy */
	uint64_t lost_ns;	 /* not known to be busy, but a queue lost records */
	uint64_t unknown_ns;	 /* the same, or unmonitored, or no stream of the group lives */
	uint64_t unused_ns;	 /* part of unknown: before the group first used a GPU */
	uint64_t ended_ns;	 /* part of unknown: after the group's last stream had ended */
	uint64_t idle_ns;	 /* the rest = blamed + all_idle */
	uint64_t blamed_ns;	 /* at least one thread works */
	uint64_t all_idle_ns;	 /* nobody active */
	uint64_t unexplained_ns; /* part of it: no thread waited in a known context */
	uint64_t no_core_ns;	 /* part of it: a runnable thread waited for a core */
	struct exact_share *blamed; /* sum to blamed, less what threads that are not reported have of it */
	size_t blamed_count;
	struct exact_share *sampled; /* only if requested: one period for every sample of work while GPUs
					are idle, shared like the interval it is in (GPU_IDLE_CAUSE of S3
					IV-A): equals `blamed` in the limit of short periods */
	size_t sampled_count;
	struct exact_share *waited; /* sum to all_idle - unexplained, so too */
	size_t waited_count;
};

/* The part of the groups' windows in which they could have used GPUs. */
static inline uint64_t idle_used_ns(const struct idle *idle)
{
	return idle->window_ns - idle->unused_ns - idle->ended_ns;
}

/* What the threads that are not reported have of a whole that these shares would sum to. */
uint64_t idle_others_ns(const struct exact_share *shares, size_t count, uint64_t whole_ns);

/* All threads of the processes concerned may be blamed, whatever streams are chosen (related.h); of queues
 * the chosen ones count, or all of a process of which none is chosen. ERROR_EMPTY when no GPU queue is among
 * the streams, or nothing is known of any in the window. Shares in `arena`. */
int idle_sweep(struct idle *idle, struct run *run, const struct idle_question *question, struct arena *arena,
	struct error *error);

#endif
