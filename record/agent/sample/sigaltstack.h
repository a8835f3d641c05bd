/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sigaltstack.h - handlers of the program on alternate stacks. Such a stack may have no space for our
 * signals' frames beside its own, and the kernel kills a program whose alternate stack overflows. So these
 * handlers block our signals, whatever the program's masks, unless the stack is large. After longjmp out of
 * such a handler they stay blocked, and siglongjmp would unblock them while still on that stack: wrap_jump.c
 * handles both. wait.h checks for other exits (exceptions, compilers' jumps).
 */
#ifndef RECORD_AGENT_SIGALTSTACK_H
#define RECORD_AGENT_SIGALTSTACK_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/agent/sample/thread.h"

#define SIGALTSTACK_WALK_BYTES 4096
#define SIGALTSTACK_CHECK_EVERY 64 /* one of so many waits checks: a power of two */

/* Adjusts the mask of a handler that the program installs. Thread safe, one call at a time per signal. */
void sigaltstack_filter(struct sigaction *action);

/* Some thread has had a small alternate stack. */
extern _Atomic bool sigaltstack_has_narrow;

/* True if on the calling thread's alternate stack and that is small. */
static inline bool sigaltstack_is_narrow(uint64_t address)
{
	return address - thread_place.narrow_low < thread_place.narrow_high - thread_place.narrow_low;
}

/* The caller's approximate stack address. Not taken from the frame pointer: a function that uses it cannot
 * be unwound remotely while a call in it waits (record/process/remote_unwind.c). */
static inline uint64_t sigaltstack_frame(void)
{
	char here;
	uint64_t place = (uintptr_t)&here;

	__asm__("" : "+r"(place));
	return place;
}

static inline bool sigaltstack_is_here(void)
{
	return sigaltstack_is_narrow(sigaltstack_frame());
}

/* True if on that stack with less space than an unwind needs. */
static inline bool sigaltstack_is_scarce(void)
{
	return sigaltstack_is_here() &&
	       sigaltstack_frame() - thread_place.narrow_low < SIGALTSTACK_WALK_BYTES;
}

/* Unblocks our signals unless that stack is in use: the handler that blocked them may be gone. Keeps
 * errno. */
void sigaltstack_unblock(void);

/* Does so in one of SIGALTSTACK_CHECK_EVERY calls. */
static inline void sigaltstack_check(void)
{
	if (atomic_load_explicit(&sigaltstack_has_narrow, memory_order_relaxed) &&
		!(thread_place.looks++ & (SIGALTSTACK_CHECK_EVERY - 1)))
		sigaltstack_unblock();
}

#endif
