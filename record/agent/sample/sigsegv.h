/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sigsegv.h - where a stack has no room even for a signal's frame, the kernel sends SIGSEGV in place of the
 * signal. A program that handles SIGSEGV on an alternate stack (Ruby, Rust, libsigsegv: for stacks that
 * overflow) lives to see that: of a signal of ours it is not to hear.
 */
#ifndef RECORD_AGENT_SIGSEGV_H
#define RECORD_AGENT_SIGSEGV_H

#include <signal.h>

/* What the program has asked for SIGSEGV, as far as it must be called through us. */
struct sigsegv_handler {
	void (*handle)(int, siginfo_t *, void *);
	int flags;
};

/* *action is about to be installed for SIGSEGV: puts us ahead of its handler, if that runs on an alternate
 * stack. Gives what was there before, for sigsegv_reveal, or for sigsegv_restore if it was not installed. */
struct sigsegv_handler sigsegv_guard(struct sigaction *action);
void sigsegv_restore(struct sigsegv_handler before);

/* What the kernel has had, as the program knows it. */
void sigsegv_reveal(struct sigaction *old, struct sigsegv_handler before);

/* The same of signal(). */
struct sigsegv_handler sigsegv_now(void);
void (*sigsegv_reveal_plain(void (*old)(int), struct sigsegv_handler before))(int);

#endif
