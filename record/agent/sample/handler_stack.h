/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler_stack.h - handlers run on the agent's own stack. The program's stack may be a fiber's, a small
 * thread's, or one that the program has just filled to its end (Ruby does so when it starts): it has space
 * for the kernel's signal frame, which any signal needs, and little more.
 */
#ifndef RECORD_AGENT_HANDLER_STACK_H
#define RECORD_AGENT_HANDLER_STACK_H

/* Touched as needed. It ends within a page, so that the part used by a sample shares its page with what
 * follows. */
#define HANDLER_STACK_BYTES (64u * 1024u + 1536u)

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

/* Our signals' handlers: sample_handle and source_trap_handle, if the stack has space for them. */
void handler_stack_sample(int signal, siginfo_t *info, void *context);
void handler_stack_trap(int signal, siginfo_t *info, void *context);

/* How often the stack had no space, over the whole process. */
extern _Atomic uint64_t handler_stack_missed;

/* Calls function(argument) on the stack that ends at `top`, aligned to 16 bytes. Not to be called on that
 * stack. */
void handler_stack_call(void *top, void (*function)(void *), void *argument);

#endif
