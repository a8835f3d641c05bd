/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adopt.h - an agent that is loaded into a running process (record/agent/inject/) prepares a block for each
 * thread that it finds. The thread's own storage learns of it when the thread first comes by: with its first
 * sample, or a call that the agent records. Until then the thread has noticed nothing.
 *
 *   agent's own thread   adopt_offer ------------------------------------ adopt_end: waits for those inside
 *   any other thread        adopt_enter: finds its block .. adopt_leave
 */
#ifndef RECORD_AGENT_ADOPT_H
#define RECORD_AGENT_ADOPT_H

#include "record/agent/sample/thread.h"

/* A range of readable and writable memory: where the stacks are. */
struct adopt_range {
	uint64_t low, high;
};

/* Before the first offer. */
void adopt_begin(void);
/* In a fork child: no other thread is inside. */
void adopt_forked(void);

/* Number of the current measurement; it changes at each begin and each end. */
uint32_t adopt_measurement(void);

/* The memory that stacks may lie in, `count` ranges by address, at most ADOPT_RANGES_MAX; and the main
 * thread's stack, which grows: replaces what was known. From one thread only. */
#define ADOPT_RANGES_MAX 8192u
void adopt_ranges_set(const struct adopt_range *ranges, uint32_t count, struct adopt_range first);

/* The thread that the block was taken up for (thread_take_up) may adopt it. */
void adopt_offer(struct thread *thread);
/* Its thread has ended. */
void adopt_withdraw(struct thread *thread);

/* No thread has a block any more; false: one is still inside after most_ns, and no block may be unmapped.
 * Call with the live flag cleared. */
bool adopt_end(uint64_t most_ns);

/* False: the calling thread has no storage of libc's, and may not touch any: neither adopt_enter nor errno.
 */
bool adopt_may_enter(void);

/* The calling thread, whose stack pointer is `sp`, enters the agent: its block, or NULL. Signal safe. Each
 * call is followed by adopt_leave. */
struct thread *adopt_enter(uint64_t sp);
void adopt_leave(void);

#endif
