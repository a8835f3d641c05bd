/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callpath.h - from a thread's registers to a node of its context tree: unwind, find
 * the path, open a batch in the ring with the nodes that are new. The record that
 * stands on the node follows in the same batch, so both become visible together.
 * In the steady state: no system call, no lock, no allocation.
 */
#ifndef RECORD_AGENT_CALLPATH_H
#define RECORD_AGENT_CALLPATH_H

#include "record/agent/sample/thread.h"

enum callpath_result {
	CALLPATH_OPEN = -1 /* else an enum ring_loss: nothing is open, nothing was counted */
};

/* Opens a batch with room for a record of `bytes` on the path of `start`; *node is its innermost frame, or
 * the partial root where the thread's tree has no room for its nodes. The caller puts the record and calls
 * ring_commit. For 0 bytes nothing stays open: new nodes are published, and a path that is known needs no
 * room. now_ns 0: the clock is read should it be needed. The ring must be entered. Signal safe. */
int callpath_open(struct thread *t, const struct arch_registers *start, uint64_t bytes, uint64_t now_ns,
	uint32_t *node);

/* The same with one more frame innermost: the first instruction of `function`, which the path called. 0:
 * none. */
int callpath_open_into(struct thread *t, const struct arch_registers *start, uint64_t function,
	uint64_t bytes, uint64_t now_ns, uint32_t *node);

/* The same, for 0 bytes, on a path that was found before, perhaps by another thread, which may have had more
 * memory for frames: then this one has none for them. */
int callpath_open_known(struct thread *t, const struct unwind_frame *known, unsigned count, uint32_t root,
	uint64_t now_ns, uint32_t *node);

/* The same on the path that consists of a start routine alone; 0: of the root alone. */
int callpath_open_first(
	struct thread *t, uint64_t start_routine, uint64_t bytes, uint64_t now_ns, uint32_t *node);

#endif
