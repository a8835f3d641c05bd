/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_replay.h - how much sooner a window ends, at least, if some work of GPU queues takes less time: its
 * critical graph (blame/wait/critical_path.h) run forward. Work keeps its order and its time; where records
 * do not tell, the later case is taken:
 *
 *   a synchronization      waits for all queues of its process
 *   an operation after     waits for the launch, and for the operation of another queue that ended in the gap
 *   a gap of its queue
 *   another wait           takes as long as it took, if nobody is known to have ended it: disk, exit, network
 */
#ifndef BLAME_RUN_REPLAY_H
#define BLAME_RUN_REPLAY_H

#include "timeline/select/select.h"

struct run_replay;

/* The work that may be changed: rows of contexts on queues. */
#define RUN_REPLAY_NO_ROW UINT32_MAX
struct run_replay_rows {
	uint32_t count;
	uint32_t (*row_of)(void *own, uint32_t context); /* called once for each context, while it is made */
	void *own;
};

/* NULL in *replay, and no error: it cannot be told, since the window has too many records (about 4 million),
 * or no CPU thread. The run must outlive it. */
int run_replay_new(struct run_replay **replay, struct run *run, const struct select *select,
	const struct run_replay_rows *rows, struct error *error);
void run_replay_free(struct run_replay *replay);

/* From the window's begin to the end of its last thread. */
uint64_t run_replay_window_ns(const struct run_replay *replay);

/* For each speedup of the row's work what is saved; *union_ns: when any of it runs. False: not known, since
 * the questions before took too long, or there is no memory. */
#define RUN_REPLAY_SPEEDUPS 2u
bool run_replay_ask(struct run_replay *replay, uint32_t row, const double speedups[RUN_REPLAY_SPEEDUPS],
	uint64_t saved_ns[RUN_REPLAY_SPEEDUPS], uint64_t *union_ns);

#endif
