/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_guard.h - protects our signals: tracks our installed handler, the handler that the program believes
 * to have installed, and forwards the program's own signals of the same number. wrap_signal.c keeps the
 * program's calls from changing our handlers.
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
	bool is_on;			 /* our handler is installed */
	bool is_on_stack;		 /* on the alternate stack */
	_Atomic bool is_read;		 /* the program may take signals out of the queue by signalfd */
	struct sigaction program_action; /* what sigaction reports to the program */
	_Atomic uint64_t masked_by;	 /* bit s: the program's handler of s blocks it */
};

/* SIGNAL_GUARD_SAMPLES is AGENT_SIGNAL, on while the agent is; SIGNAL_GUARD_TRAP is SIGTRAP, on once
 * source_trap is in use. */
extern struct signal_guard signal_guards[SIGNAL_GUARD_COUNT];

/* The guard of a signal if it is on, else NULL. */
struct signal_guard *signal_guard_of(int number);

/* Installs the guard's handler; *before, unless NULL, gets the previous one. 0 or -1. */
int signal_guard_install(struct signal_guard *guard, struct sigaction *before);

/* Take AGENT_SIGNAL, and give it back. 0 or negative. */
int signal_guards_open(void);
void signal_guards_close(void);

/* Call in a fork child: if it descends from a clone3 with CLONE_CLEAR_SIGHAND, it has no handlers. */
void signal_guards_reinstall(void);

/* Takes SIGTRAP for source_trap, permanently. 0 or negative. */
int signal_guards_take_trap(void);

/* Unblocks our signals on the calling thread. */
void signal_guards_unblock(void);

/* Call around the creation of a thread: blocks our signals until the new thread knows which of them its
 * creator had blocked. */
void signal_guards_hold(void);
void signal_guards_let_go(void);

/* An AGENT_SIGNAL that is not ours: does what it would do without us. From the handler. */
void signal_guard_forward(int number, siginfo_t *info, void *context);

/* The program is going to read AGENT_SIGNALs from a descriptor. */
void signal_guards_read_samples(void);

/* A SIGTRAP that is no sample: does what it would do without us. is_known: libc created the calling
 * thread; else no thread-local storage is touched. From the handler. */
void signal_guard_forward_trap(int number, siginfo_t *info, void *context, bool is_known);

/* A sample's SIGTRAP arrived, or was taken out of the queue. True if it may have displaced one that the
 * program sent to the calling thread; *info describes that one. */
bool signal_guard_trap_dropped(siginfo_t *info);

/* The program has taken its own signal out of the queue, or this is a fork child, which has none pending. */
void signal_guards_over(void);

/* True if the calling thread's samples continue until an exec is done, while no handler can take their
 * signal. Then it must be ignored meanwhile, and the next program's agent undoes that. */
bool signal_guards_exec_hides_trap(void);

/* Call around an exec, also in a vfork child. */
void signal_guards_exec_begin(bool hide_trap);
void signal_guards_exec_failed(void);

#endif
