/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handler_stack.h - handlers walk on a stack of the agent's own. The program's may be a fiber's or a small
 * thread's, or one that the program has just reserved to its very end (Ruby does, when it starts): there is
 * room for what the kernel puts there, as any signal of the program's own needs it, and for little more.
 */
#ifndef RECORD_AGENT_HANDLER_STACK_H
#define RECORD_AGENT_HANDLER_STACK_H

/* Touched as needed. It ends within a page, so that what a sample needs of it shares that with what follows.
 */
#define HANDLER_STACK_BYTES (64u * 1024u + 1536u)

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

/* Our signals' handlers: sample_handle and source_trap_handle, if the stack has room for them. */
void handler_stack_sample(int signal, siginfo_t *info, void *context);
void handler_stack_trap(int signal, siginfo_t *info, void *context);

/* How often it had not, in all of the process. */
extern _Atomic uint64_t handler_stack_missed;

/* Calls function(argument) on the stack of which `top` is the end, aligned to 16 bytes. Not from that stack.
 */
void handler_stack_call(void *top, void (*function)(void *), void *argument);

#endif
