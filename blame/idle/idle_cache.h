/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_cache.h - caches the blame for idle GPUs, in the default definition, for stretches of a process's
 * time, beside the run, so that any window of a long run costs two edges and a few sums:
 *
 *   window        [----------------------------------------)
 *   stretches   |     |     |     |     |     |     |     |     2^shift ns each, some 260 thousand records
 *   sums               \___________/ \_________/ \___/            of 1, 2, 4, 8 ... aligned stretches
 *   swept         ^^^^                                ^^^
 *
 * The first query about all of a process's time makes the cache, for runs that have ended. It may be
 * deleted, and is made again when a stream changes, or the name of a waiting function or of a runtime's
 * call. Where it has no sums, the records are swept.
 */
#ifndef BLAME_IDLE_CACHE_H
#define BLAME_IDLE_CACHE_H

#include "blame/idle/idle_group.h"

/* Processes with fewer records are swept directly, which is fast. Tests set it. */
extern uint64_t idle_cache_records_least;

/* Like group_sweep_used(), from `since_ns` on: 1 done; 0: the cache does not apply, and nothing was counted;
 * negative: error. */
int idle_cache_sweep(
	const struct group *start, const struct process *process, uint64_t since_ns, struct error *error);

#endif
