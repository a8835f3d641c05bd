/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java_trace.h - Java's frames as the machine itself tells them (HotSpot's AsyncGetCallTrace), where the
 * agent's own walk ends among them: of a machine that does not publish its code (java_blobs.h), or of code
 * that it publishes nothing of. Only with hpct-record --java.
 *
 *   the agent's walk            memcpy  stub  ?                  ends at made code that it cannot step over
 *   what the machine tells                    put  fill  main    its methods only, innermost first
 *   the joined path             memcpy        put  fill  main
 *
 * Of the walk the native frames stay that come before the first one of code made at run time; all from that
 * one on are the machine's. If it reached the thread's begin, those stay, too, that called all made code.
 *
 * The call is not meant for others by its makers, and has crashed machines: it is made only under collectors
 * that stop the program's threads while they move objects (Serial, Parallel, G1), and only for a thread
 * of the machine, whose own state says that it is not passing from one state to another; a fault in it leads
 * back here, and it is never made again. Faults of the loads with which the machine tries whether memory can
 * be read (its SafeFetch) are not meant: its own handler goes on behind them.
 */
#ifndef RECORD_AGENT_JAVA_TRACE_H
#define RECORD_AGENT_JAVA_TRACE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/agent/base/arch.h"
#include "record/agent/unwind/unwind.h"

struct java_trace_machine {
	void (*get)(void *trace, int32_t most, void *context);			/* AsyncGetCallTrace */
	int (*environment)(void *machine, void **environment, int32_t version); /* JNI's GetEnv */
	void *machine;								/* JavaVM */
	int64_t thread; /* from a thread's environment to its object, in bytes */
	uint64_t state; /* of its state, in that object */
};

/* A walk has ended among frames of made code. Signal safe. */
void java_trace_want(void);
/* There were some of them: it is worth being opened. */
bool java_trace_is_wanted(void);

/* This handler of SIGSEGV, before the program's, calls java_trace_recover. */
void java_trace_guarded_by(void (*handler)(int, siginfo_t *, void *));

/* Called in a thread of the machine that runs native code: false: its state is not where it should be, or
 * faults are not guarded. */
bool java_trace_open(const struct java_trace_machine *machine, void *environment);
/* The machine ends. */
void java_trace_close(void);
bool java_trace_is_open(void);

/* Any thread, signal safe: replaces the frames from the first made one on, of a walk from `at`, by those that
 * the machine tells: outside all modules, with a method's id for an address. *is_whole: the walk was, in
 * which case its native frames outside all made ones stay; afterwards, whether the path leads to the thread's
 * begin. Returns the new number; without a change if the machine tells nothing. */
unsigned java_trace_join(const struct arch_registers *at, struct unwind_frame *frames, unsigned count,
	unsigned most, bool *is_whole);

/* An id that java_trace_join was the first to see, which has no name yet; 0: none. Any thread. */
uint64_t java_trace_next(void);

/* From a handler of SIGSEGV, with its ucontext_t: does not return if the fault came in the machine's call and
 * is not one that the handler of the machine, the next, expects. */
void java_trace_recover(const void *context);

/* In a fork child: its machine has lost its threads. */
void java_trace_child(void);

#endif
