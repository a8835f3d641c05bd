/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - events that are counted beside the time source: page faults, cache
 * misses, whatever perf events there are. Each thread has an event of its own, which
 * traps (source_trap.c) and writes its count into a small ring: hits that meet in one
 * system call are all counted, and the kernel may change the period.
 */
#ifndef RECORD_AGENT_COUNTER_H
#define RECORD_AGENT_COUNTER_H

#include <stdint.h>
#include <ucontext.h>

struct thread;

/* Reads what HPCT_EVENTS asks for; once per process, after process_open. */
void counter_open(void);

/* Starts to count, by the first thread, when the agent has nothing more to do. */
void counter_begin(struct thread *thread);

/* How many counters the process has. */
unsigned counter_count(void);

/* Starts those of the calling thread; what is refused is counted. */
void counter_arm(struct thread *thread);
void counter_disarm(struct thread *thread);

/* Some have trapped; of several at once, SIGTRAP tells of one. Signal safe. */
void counters_take(struct thread *thread, const ucontext_t *context);

#endif
