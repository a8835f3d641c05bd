/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.h - what the wrappers of libc's functions and the rest of the agent need of
 * each other. Wrappers are the library's only exported symbols (agent.map).
 */
#ifndef RECORD_AGENT_WRAP_H
#define RECORD_AGENT_WRAP_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define WRAPPER __attribute__((visibility("default")))

/* Code at which stacks end: trampolines carry it. */
#define FENCE __attribute__((section("hpct_fence"), noinline, used))

/* The agent's own business, ahead of and behind what a wrapper calls for the program: what it calls is no
 * part of a call path. */
#define OWN __attribute__((section("hpct_own"), noinline))

/* Installs the sampling handler. 0 or negative. */
int wrap_signal_open(void);

/* Gives the signal back to the program. */
void wrap_signal_close(void);

/* AGENT_SIGNAL was sent by someone else: the program's handler gets it, if it has one. */
void wrap_signal_forward(int signal, siginfo_t *info, void *context);

/* Takes SIGTRAP for source_trap, for good. 0 or negative. */
int wrap_signal_guard_trap(void);

/* A SIGTRAP that is no sample: does what it would have done without us. is_masked: the program believes it
 * blocked on this thread. Touches no thread-local storage. */
void wrap_signal_forward_trap(int signal, siginfo_t *info, void *context, bool is_masked);

/* Does the program believe SIGTRAP blocked on the calling thread, one of libc's? */
bool wrap_signal_trap_is_masked(void);

/* Will samples of the calling thread go on until an exec is done, where nobody may take their signal? Then it
 * must be ignored meanwhile, and the next program's agent takes that back. */
bool wrap_signal_exec_hides_trap(void);

/* Around an exec, also in a vfork child. */
void wrap_signal_exec_begin(bool hide_trap);
void wrap_signal_exec_failed(void);

/* Lets AGENT_SIGNAL through on the calling thread. */
void wrap_signal_unblock(void);

/* The key whose destructor ends a thread. 0 or negative. */
int wrap_thread_open(void);

/* The calling thread, new in its process, is measured from here on. */
void wrap_thread_adopt(void);

/* Last record of the calling thread and the process; agent_resume takes it back when an exec has failed. */
void agent_end(void);
void agent_resume(void);

#endif
