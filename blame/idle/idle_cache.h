/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_cache.h - blame for idle GPUs in the default definition, summed once for stretches of a process's time
 * and kept beside the run, so that any window of a long run costs two edges and a few sums:
 *
 *   window        [----------------------------------------)
 *   stretches   |     |     |     |     |     |     |     |     2^shift ns each, some 260 thousand records
 *   sums               \___________/ \_________/ \___/            of 1, 2, 4, 8 ... stretches, as they lie
 *   swept         ^^^^                                ^^^
 *
 * The sums are made by the first question about all of a process's time, of runs that have ended. They are a
 * cache: they may be deleted, and are made anew when a stream, or a name of a function that waits or is a
 * call into a runtime, has changed. What is not known by them is swept.
 */
#ifndef BLAME_IDLE_CACHE_H
#define BLAME_IDLE_CACHE_H

#include "blame/idle/idle_group.h"

/* Processes with fewer records are swept: that takes no time. Tests set it. */
extern uint64_t idle_cache_records_least;

/* Like group_sweep_used(), from `since_ns` on: 1 done; 0: it is not for this question, and nothing was
 * counted; negative: error. */
int idle_cache_sweep(
	const struct group *start, const struct process *process, uint64_t since_ns, struct error *error);

#endif
