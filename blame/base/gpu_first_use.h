/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_first_use.h - since when a process uses GPUs. What it does before (its start-up, the imports of an
 * interpreter) keeps no GPU idle: it has none.
 *
 *   threads   |====import====|==make context==|=build=|...
 *   queue     .               |--monitored-------------###--
 *                             ^ its recorder says: since=first-use
 */
#ifndef BLAME_GPU_FIRST_USE_H
#define BLAME_GPU_FIRST_USE_H

#include "blame/base/process.h"

/* When the first of these processes' queues came to be, where the `monitored` span that begins then says
 * since=first-use: else nobody knows, and it is 0. */
int gpu_first_use_since(uint64_t *since_ns, struct run *run, const struct process *processes, uint32_t count,
	struct error *error);
/* When the last of their streams ended; STORE_OPEN_NS: it lives. */
uint64_t gpu_first_use_until(const struct run *run, const struct process *processes, uint32_t count);

#endif
