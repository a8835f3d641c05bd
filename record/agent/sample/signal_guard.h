/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_guard.h - our signals stay ours: which handler is installed for them, what the
 * program believes instead, and what becomes of those that are the program's own.
 * wrap_signal.c keeps the program's calls from touching them.
 */
#ifndef RECORD_AGENT_SIGNAL_GUARD_H
#define RECORD_AGENT_SIGNAL_GUARD_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SIGNAL_GUARD_SAMPLES, SIGNAL_GUARD_TRAP, SIGNAL_GUARD_COUNT };

struct signal_guard {
	int number;
	void (*handle)(int, siginfo_t *, void *);
	bool is_on;	      /* our handler is installed */
	bool is_on_stack;     /* on the alternate stack */
	_Atomic bool is_read; /* the program may take signals out of the queue unseen, by signalfd */
	struct sigaction program_action; /* what the program believes to have */
	_Atomic uint64_t masked_by;	 /* bit s: the program's handler of s blocks it */
};

/* SIGNAL_GUARD_SAMPLES is AGENT_SIGNAL, on while the agent is; SIGNAL_GUARD_TRAP is SIGTRAP, on once
 * source_trap is in use.
 */
extern struct signal_guard signal_guards[SIGNAL_GUARD_COUNT];

/* The guard of a signal whose guard is on, else NULL. */
struct signal_guard *signal_guard_of(int number);

/* Installs the guard's handler; *before, unless NULL, is the one until now. 0 or -1. */
int signal_guard_install(struct signal_guard *guard, struct sigaction *before);

/* Takes AGENT_SIGNAL, and gives it back. 0 or negative. */
int signal_guards_open(void);
void signal_guards_close(void);

/* In a fork child: between its parent and it may be one by clone3 that has no handlers (CLONE_CLEAR_SIGHAND).
 */
void signal_guards_reinstall(void);

/* Takes SIGTRAP for source_trap, for good. 0 or negative. */
int signal_guards_take_trap(void);

/* Lets our signals through on the calling thread. */
void signal_guards_unblock(void);

/* Around the creation of a thread: until it knows which of our signals it has blocked, as its creator has,
 * none comes. */
void signal_guards_hold(void);
void signal_guards_let_go(void);

/* An AGENT_SIGNAL that is none of ours: does what it would have done without us. From the handler. */
void signal_guard_forward(int number, siginfo_t *info, void *context);

/* The program is going to read AGENT_SIGNALs from a descriptor. */
void signal_guards_read_samples(void);

/* A SIGTRAP that is no sample: does what it would have done without us. is_known: the calling thread is one
 * of libc's; of others no thread-local storage is touched. From the handler. */
void signal_guard_forward_trap(int number, siginfo_t *info, void *context, bool is_known);

/* A sample's SIGTRAP has come, or was taken out of the queue. Was it perhaps there in place of one that the
 * program has sent to the calling thread? *info tells of that. */
bool signal_guard_trap_dropped(siginfo_t *info);

/* The program has taken a signal of its own out of the queue, or this is a fork child, for which none waits.
 */
void signal_guards_over(void);

/* Will samples of the calling thread go on until an exec is done, where nobody may take their signal? Then it
 * must be ignored meanwhile, and the next program's agent takes that back. */
bool signal_guards_exec_hides_trap(void);

/* Around an exec, also in a vfork child. */
void signal_guards_exec_begin(bool hide_trap);
void signal_guards_exec_failed(void);

#endif
