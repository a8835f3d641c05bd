/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_replay_split.h - for run_replay.c: waits of a critical graph that may be for several queues.
 *
 *   sync  |~~~~~~~~~~~~~~~~~~~~~|      for queue 1, which ended last
 *         |~~queue 2~~|~queue 1~|      for both: one after another, since it goes on when both have ended
 */
#ifndef BLAME_RUN_REPLAY_SPLIT_H
#define BLAME_RUN_REPLAY_SPLIT_H

#include "blame/wait/critical_run.h"

/* The work of a stream: pieces of the critical run, by end. */
struct run_replay_line {
	const struct critical_piece *pieces;
	size_t count;
	uint32_t process; /* number; only of queues */
	bool is_queue;
};

/* The graph's waits, with those that may be for other queues of the process split; lines: of every stream.
 * The caller frees the list. */
int run_replay_split_waits(struct wait_cause **split, size_t *count, const struct critical_graph *graph,
	const struct run_replay_line *lines, struct error *error);

#endif
