/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues.h - the spans of a process's GPU queues united, straight from the columns of the store: what a sweep
 * over idle time needs of them is only where none runs.
 *
 *   queue 0   |###|  |##|     |#|           merged by begin; a span that begins behind all ends so far
 *   queue 1     |###|  |>>|                 leaves a gap
 *   gaps            ^      ^^^^^   ^^^
 *
 * With the launches it knows what is queued, too. In a gap nothing runs, so that work which is queued there
 * stays so to its end: a gap needs no more than since when. Work that is queued in a gap may begin up to
 * GPU_PENDING_REACH_NS behind it: so far the queues are read ahead, and gaps kept back.
 *
 * It takes simple queues alone: monitored for all their life, which has ended, nothing lost, no waits. That
 * is what recorders leave as a rule; for all else lines (extent.h) say what a queue does, with the same
 * result.
 */
#ifndef BLAME_QUEUES_H
#define BLAME_QUEUES_H

#include "blame/base/process.h"
#include "blame/base/wait_functions.h"
#include "blame/gpu/gpu_pending.h"

struct queues_gap {
	uint64_t begin_ns, end_ns;
	uint64_t queued_ns; /* from then to its end the process has work queued, or running */
	uint32_t stream;    /* the queue that works at its end, by the run's number: the first of several */
	uint32_t context;   /* in this */
	bool is_alive;	    /* a queue lives; constant in a gap */
	bool is_copy;	    /* a copy runs, the gap being one of kernels */
	bool is_whole;	    /* not one of the parts of a gap in which queues are born or end */
};

/* Time in which some queue ... ; each includes the one before. Complete at the last gap. Of kinds that nobody
 * asks for: that of the next. */
struct queues_sums {
	uint64_t kernel_ns;	 /* runs a kernel that computes */
	uint64_t kernel_comm_ns; /* runs a kernel */
	uint64_t busy_ns;	 /* does anything */
};

/* The window in parts: `count` times within it, in order, and room for the sums of one part more. Both stay
 * the caller's. A part's sums are complete when the last gap given begins behind it, or there is none. */
struct queues_cuts {
	const uint64_t *cuts_ns;
	uint32_t count;
	struct queues_sums *sums;
};

struct queues_question {
	uint64_t begin_ns, end_ns;
	bool by_kernel;	  /* gaps are where no kernel runs; where a copy does, they are parts of their own */
	bool wants_kinds; /* of the sums all, not what counts as busy alone */
	bool wants_next;  /* a gap's stream and context */
	struct wait_functions *waits;
	struct gpu_pending_launches *launches; /* NULL: nobody asks for what is queued */
	const struct queues_cuts *cuts;	       /* NULL: the window as a whole, see queues_sums() */
};

struct queues;

/* Of the process's GPU queues. What the question points to stays the caller's. */
int queues_new(struct queues **queues, struct run *run, const struct process *process,
	const struct queues_question *question, struct error *error);
void queues_free(struct queues *queues);
/* 1: the next gap, in order; 0: no more; negative: error. */
int queues_next(struct queues *queues, struct queues_gap *gap, struct error *error);
/* Gaps that come next, whole and with a queue that lives, as far as they are known already: their number.
 * They may be looked at until the next call, and so many of them passed over. */
struct queues_columns {
	const uint64_t *begin_ns, *end_ns, *queued_ns;
};
size_t queues_ready(const struct queues *queues, struct queues_columns *gaps);
void queues_pass(struct queues *queues, size_t count);
/* Whether anything was met that is not simple: then what was given so far is void. */
bool queues_are_odd(const struct queues *queues);
const struct queues_sums *queues_sums(const struct queues *queues);

#endif
