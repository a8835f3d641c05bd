/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_restart.h - a system call that a signal has woken ends by that signal's rules: a read() starts
 * again or gives EINTR. Where one of ours comes together with one of the program's the kernel delivers ours
 * first and goes by ours, which would let the program's read() sleep on after its alarm.
 *
 * A wait for io_uring is woken by what only raises a signal, a timer's too, gives EINTR always and says so to
 * programs that take that for a failure: where the program has no handler, it is made again. One that has
 * must expect EINTR, and whether its handler or a sample has ended the wait cannot be told.
 */
#ifndef RECORD_AGENT_SYSCALL_RESTART_H
#define RECORD_AGENT_SYSCALL_RESTART_H

#include <stdint.h>
#include <ucontext.h>

#include "record/agent/base/arch.h"

/* The same where it goes back to a system call. */
void syscall_restart_settle_call(ucontext_t *context);

/* A signal of ours was handled, `context` is what it goes back to. Touches no thread-local storage. */
static inline void syscall_restart_settle(ucontext_t *context)
{
	if (arch_ring_wait_ended(context) >= 0 || arch_call_restarts(context))
		syscall_restart_settle_call(context);
}

/* The program's handler, of those sa_flags, is called by ours. */
void syscall_restart_by(ucontext_t *context, uint64_t flags);

#endif
