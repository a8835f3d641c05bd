/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues.h - merges the spans of a process's GPU queues, directly from the columns of the store: a sweep
 * over idle time needs only the gaps.
 *
 *   queue 0   |###|  |##|     |#|           merged by begin; a span that begins after all ends so far
 *   queue 1     |###|  |>>|                 leaves a gap
 *   gaps            ^      ^^^^^   ^^^
 *
 * With the launches it also knows what is queued. Nothing runs in a gap, so work queued in it stays queued
 * to its end: for each gap one time suffices. Work queued in a gap may begin up to GPU_PENDING_REACH_NS
 * after it: queues are read that far ahead, and gaps held back.
 *
 * It handles only simple queues: monitored for all their life, ended, without lost records or waits.
 * Recorders normally leave such queues; for others, state timelines (extent.h) give the same result.
 *
 * store/states/device_busy.c merges queues too, by another method: it gets spans one by one during the
 * recording, as far as the slowest queue has come, and needs one sum per bucket, so a heap gives it the next
 * span. Here whole chunks are available, and a gap needs its queue and what is queued: columns are
 * intersected without a branch per span. For 4 M spans of 4 queues a heap takes 150 ms; intersecting takes
 * 30 ms of the 430 ms of hpct-blame.
 */
#ifndef BLAME_QUEUES_H
#define BLAME_QUEUES_H

#include "blame/base/process.h"
#include "blame/base/wait_functions.h"
#include "blame/gpu/gpu_pending.h"

struct queues_gap {
	uint64_t begin_ns, end_ns;
	uint64_t queued_ns; /* from then to its end the process has work queued or running */
	uint32_t stream;    /* the queue that works at its end, a stream of the run: the first of several */
	uint32_t context;   /* its context there */
	bool is_alive;	    /* some queue lives; constant in a gap */
	bool is_copy;	    /* a copy runs (in gaps between kernels) */
	bool is_whole;	    /* false: part of a gap in which queues begin or end */
};

/* Time in which some queue ... ; each includes the one before. Complete after the last gap. Kinds not
 * requested hold the value of the next one. */
struct queues_sums {
	uint64_t kernel_ns;	 /* runs a kernel that computes */
	uint64_t kernel_comm_ns; /* runs a kernel */
	uint64_t busy_ns;	 /* does anything */
};

/* Splits the window into parts: `count` times in it, in order, and `sums` for one part more. The caller owns
 * both. A part's sums are complete when the last gap returned begins after it, or there are no more. */
struct queues_cuts {
	const uint64_t *cuts_ns;
	uint32_t count;
	struct queues_sums *sums;
};

struct queues_question {
	uint64_t begin_ns, end_ns;
	bool by_kernel;	  /* gaps between kernels; a gap with a copy is split at the copy */
	bool wants_kinds; /* compute all sums, not only that of busy time */
	bool wants_next;  /* set a gap's stream and context */
	struct wait_functions *waits;
	struct gpu_pending_launches *launches; /* NULL: queued work is not needed */
	const struct queues_cuts *cuts;	       /* NULL: the whole window, see queues_sums() */
};

struct queues;

/* For the process's GPU queues. The caller keeps what the question points to. */
int queues_new(struct queues **queues, struct run *run, const struct process *process,
	const struct queues_question *question, struct error *error);
void queues_free(struct queues *queues);
/* 1: the next gap, in order; 0: no more; negative: error. */
int queues_next(struct queues *queues, struct queues_gap *gap, struct error *error);
/* The following gaps that are already known, whole and with a living queue; returns their number. Valid
 * until the next call; so many of them may be skipped. */
struct queues_columns {
	const uint64_t *begin_ns, *end_ns, *queued_ns;
};
size_t queues_ready(const struct queues *queues, struct queues_columns *gaps);
void queues_pass(struct queues *queues, size_t count);
/* True when a queue is not simple: then all results are invalid. */
bool queues_are_odd(const struct queues *queues);
const struct queues_sums *queues_sums(const struct queues *queues);

#endif
