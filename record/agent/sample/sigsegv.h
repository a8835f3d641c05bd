/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sigsegv.h - if a stack has no space even for a signal's frame, the kernel sends SIGSEGV instead of the
 * signal. A program that handles SIGSEGV on an alternate stack (Ruby, Rust, libsigsegv: to detect stack
 * overflow) would see one caused by our signal: this hides it. With hpct-record --java it takes the faults of
 * calls into a Java machine, too (java_trace.h).
 */
#ifndef RECORD_AGENT_SIGSEGV_H
#define RECORD_AGENT_SIGSEGV_H

#include <signal.h>

/* The program's SIGSEGV handler, if it must be called through ours. */
struct sigsegv_handler {
	void (*handle)(int, siginfo_t *, void *);
	int flags;
};

/* Call before *action is installed for SIGSEGV: puts our handler before the program's if that runs on an
 * alternate stack, or with --java. Returns the previous state, for sigsegv_reveal, or for sigsegv_restore if
 * it was not installed. */
struct sigsegv_handler sigsegv_guard(struct sigaction *action);
void sigsegv_restore(struct sigsegv_handler before);

/* Translates the kernel's handler into the one that the program knows. */
void sigsegv_reveal(struct sigaction *old, struct sigsegv_handler before);

/* Likewise for signal(). */
struct sigsegv_handler sigsegv_now(void);
void (*sigsegv_reveal_plain(void (*old)(int), struct sigsegv_handler before))(int);

#endif
