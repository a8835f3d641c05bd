/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_simple_queues.h - for idle_queues.c: combines the gaps of a process's simple queues (queues.h) with
 * its threads, and adds them to the list of gaps if there is one.
 */
#ifndef BLAME_IDLE_SIMPLE_QUEUES_H
#define BLAME_IDLE_SIMPLE_QUEUES_H

#include "blame/gpu/queues.h"
#include "blame/idle/gaps.h"
#include "blame/idle/idle_group.h"

struct idle_simple_queues {
	struct group group;
	struct gpu_pending_launches *launches;
	struct queues *queues;
	struct queues_gap gap;
	bool has_gap;
	struct gaps *gaps;		 /* NULL: not needed */
	bool is_counted;		 /* the current gap is too small to be kept */
	const struct group_parts *parts; /* NULL: the whole window */
	struct queues_cuts cuts;
	uint32_t part; /* the current part */
	uint32_t first_queue;
};

/* Time of gaps already passed. */
struct passed {
	uint64_t free_ns, queued_ns;
};

/* The process's first GPU queue; 0: none. */
uint32_t idle_simple_queues_first(const struct idle_simple_queues *simple, const struct process *process);
/* Closes a gap that was open when the window began, and that does not continue in it. */
int idle_simple_queues_close_open(
	struct idle_simple_queues *simple, const struct process *process, struct error *error);
/* Makes the next gap current; all before it has been passed. Time is now at `to_ns`. */
int idle_simple_queues_next_gap(
	struct idle_simple_queues *simple, uint64_t to_ns, struct passed *passed, struct error *error);
/* Counts the gaps until then. */
int idle_simple_queues_pass(struct idle_simple_queues *simple, uint64_t to_ns, struct error *error);

#endif
