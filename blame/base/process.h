/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - groups the selected streams by process: a process's threads may be blamed for its devices.
 * Equal host, rank, process id and generation are one process. A process without a GPU below one that has one
 * (a worker that loads its data) counts to that one's group: what its GPU waits for may be there.
 */
#ifndef BLAME_PROCESS_H
#define BLAME_PROCESS_H

#include "store/base/arena.h"
#include "timeline/run/run.h"

struct process {
	const uint32_t *streams; /* of the run, in the given order */
	uint32_t stream_count;
	uint32_t gpu_count; /* queues among them */
};

/* In the order of their first streams; in `arena`. */
int process_list(struct process **processes, uint32_t *count, const struct run *run, const uint32_t *streams,
	uint32_t stream_count, struct arena *arena, struct error *error);

/* owner_of[p]: the nearest process with GPU queues above process p, if p has none itself; else p. Into the
 * caller's array of `count`. Reads nothing where all processes have queues, or none has. */
int process_owners(uint32_t *owner_of, const struct process *processes, uint32_t count, struct run *run,
	struct error *error);

#endif
