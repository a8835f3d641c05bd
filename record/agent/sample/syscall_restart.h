/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_restart.h - a system call interrupted by a signal ends by that signal's rules: a read() restarts or
 * returns EINTR. If one of our signals comes together with one of the program's, the kernel delivers ours
 * first and applies its rule, so the program's read() would sleep on after its alarm.
 *
 * A wait for io_uring always returns EINTR, even if a timer only raises a signal, and some programs treat
 * that as a failure: if the program has no handler, the wait is restarted. A program with a handler must
 * expect EINTR, and we cannot tell whether its handler or a sample ended the wait.
 */
#ifndef RECORD_AGENT_SYSCALL_RESTART_H
#define RECORD_AGENT_SYSCALL_RESTART_H

#include <stdint.h>
#include <ucontext.h>

#include "record/agent/base/arch.h"

/* As below, if the handler returns to a system call. */
void syscall_restart_settle_call(ucontext_t *context);

/* Call after handling our signal; `context` is what it returns to. Touches no thread-local storage. */
static inline void syscall_restart_settle(ucontext_t *context)
{
	if (arch_ring_wait_ended(context) >= 0 || arch_call_restarts(context))
		syscall_restart_settle_call(context);
}

/* Our handler is about to call the program's, which has these sa_flags. */
void syscall_restart_by(ucontext_t *context, uint64_t flags);

#endif
