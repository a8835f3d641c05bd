/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sigaltstack.h - handlers of the program on alternate stacks. Such a stack may have no room for our signals'
 * frame beside its own, and the kernel ends a program whose alternate stack overflows: so these handlers
 * block our signals, unless it is roomy, whatever they do with masks. Who leaves such a handler by longjmp
 * leaves them blocked, and by siglongjmp lets them in while still there: wrap_jump.c sees to that. Of other
 * ways out (exceptions, jumps that compilers make) wait.h looks for traces.
 */
#ifndef RECORD_AGENT_SIGALTSTACK_H
#define RECORD_AGENT_SIGALTSTACK_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/agent/sample/thread.h"

#define SIGALTSTACK_WALK_BYTES 4096
#define SIGALTSTACK_CHECK_EVERY 64 /* of so many waits one looks: a power of two */

/* The mask of a handler that the program installs, as it is to be. Any thread, one at a time for a signal. */
void sigaltstack_filter(struct sigaction *action);

/* Some thread has had a stack that is not roomy. */
extern _Atomic bool sigaltstack_has_narrow;

/* On the calling thread's alternate stack, which is not roomy? */
static inline bool sigaltstack_is_narrow(uint64_t address)
{
	return address - thread_place.narrow_low < thread_place.narrow_high - thread_place.narrow_low;
}

/* Where the caller's frame is, roughly. Not by the frame pointer: who uses it where a call waits cannot be
 * walked from outside, where nobody knows it (record/process/remote_unwind.c). */
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

/* There, and with less room than walking a stack takes? */
static inline bool sigaltstack_is_scarce(void)
{
	return sigaltstack_is_here() &&
	       sigaltstack_frame() - thread_place.narrow_low < SIGALTSTACK_WALK_BYTES;
}

/* Lets our signals through, unless that stack is in use: the handler that had blocked them may be gone. Keeps
 * errno. */
void sigaltstack_unblock(void);

/* The same now and then. */
static inline void sigaltstack_check(void)
{
	if (atomic_load_explicit(&sigaltstack_has_narrow, memory_order_relaxed) &&
		!(thread_place.looks++ & (SIGALTSTACK_CHECK_EVERY - 1)))
		sigaltstack_unblock();
}

#endif
