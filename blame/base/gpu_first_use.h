/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_first_use.h - when a process first used GPUs. Time before the first GPU use (start-up, an
 * interpreter's imports) is not GPU idleness.
 *
 *   threads   |====import====|==make context==|=build=|...
 *   queue     .               |--monitored-------------###--
 *                             ^ its recorder says: since=first-use
 */
#ifndef BLAME_GPU_FIRST_USE_H
#define BLAME_GPU_FIRST_USE_H

#include "blame/base/process.h"

/* When the first queue of these processes was created, if its `monitored` span begins then and has
 * since=first-use; otherwise unknown, 0. */
int gpu_first_use_since(uint64_t *since_ns, struct run *run, const struct process *processes, uint32_t count,
	struct error *error);
/* When the last of their streams ended; STORE_OPEN_NS: one lives. */
uint64_t gpu_first_use_until(const struct run *run, const struct process *processes, uint32_t count);

#endif
