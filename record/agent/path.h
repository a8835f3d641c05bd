/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - from a thread's registers to a node of its context tree: unwind, find
 * the path, open a batch in the ring with the nodes that are new. The record that
 * stands on the node follows in the same batch, so both become visible together.
 * In the steady state: no system call, no lock, no allocation.
 */
#ifndef RECORD_AGENT_PATH_H
#define RECORD_AGENT_PATH_H

#include "record/agent/thread.h"

enum path_result { PATH_OPEN = -1 /* else an enum ring_loss: nothing is open, nothing was counted */ };

/* Opens a batch with room for a record of `bytes` on the path of `start`; *node is its innermost frame. The
 * caller puts the record and calls ring_commit. The ring must be entered. Signal safe. */
int path_open(struct thread *t, const struct arch_registers *start, uint64_t bytes, uint64_t now_ns,
	uint32_t *node);

/* The same on the path that consists of a start routine alone; 0: of the root alone. */
int path_open_first(
	struct thread *t, uint64_t start_routine, uint64_t bytes, uint64_t now_ns, uint32_t *node);

#endif
