/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callpath.h - turns a thread's registers into a node of its context tree: unwinds, finds the path, opens a
 * batch in the ring with the new nodes. The record at that node follows in the same batch, so both become
 * visible together. In the steady state: no system call, no lock, no allocation.
 */
#ifndef RECORD_AGENT_CALLPATH_H
#define RECORD_AGENT_CALLPATH_H

#include "record/agent/sample/thread.h"

enum callpath_result {
	CALLPATH_OPEN = -1 /* else an enum ring_loss: no batch is open, nothing was counted */
};

/* Opens a batch with space for a record of `bytes` on the path of `start`. *node is its innermost frame,
 * or the partial root if the thread's tree is full. The caller puts the record and calls ring_commit. For
 * 0 bytes no batch stays open: new nodes are published, and a known path needs no space. now_ns 0: the
 * clock is read if needed. The ring must be entered. Signal safe. */
int callpath_open(struct thread *t, const struct arch_registers *start, uint64_t bytes, uint64_t now_ns,
	uint32_t *node);

/* Adds one innermost frame: the first instruction of `function`, which the path called. 0: none. */
int callpath_open_into(struct thread *t, const struct arch_registers *start, uint64_t function,
	uint64_t bytes, uint64_t now_ns, uint32_t *node);

/* Identifies what two paths with the same C stack may differ in: the calling thread's Python stack, its
 * OpenMP constructs; 0: it has neither. */
uint64_t callpath_beside(struct thread *t);

/* For 0 bytes, on a path that was unwound before, perhaps by another thread. Fails if this thread has less
 * memory for frames than the path needs. */
int callpath_open_known(struct thread *t, const struct unwind_frame *known, unsigned count, uint32_t root,
	uint64_t now_ns, uint32_t *node);

/* For 0 bytes, on the path of an origin, NULL: the thread's root, and constructs below it (openmp_path). */
int callpath_open_origin(struct thread *t, const struct openmp_origin *origin, const uint64_t *constructs,
	unsigned count, uint64_t now_ns, uint32_t *node);

/* On the path that consists of a start routine alone; 0: of the root alone. */
int callpath_open_first(
	struct thread *t, uint64_t start_routine, uint64_t bytes, uint64_t now_ns, uint32_t *node);

#endif
