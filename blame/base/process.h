/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - groups the selected streams by process: a process's threads may be blamed for its devices.
 * Equal host, rank, process id and generation are one process.
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

#endif
