/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter.h - events counted beside the time source: page faults, cache misses, any perf event. Each thread
 * has its own event, which traps (source_trap.c) and writes its count into a small ring: hits that coincide
 * in one system call are all counted, and the kernel may change the period.
 */
#ifndef RECORD_AGENT_COUNTER_H
#define RECORD_AGENT_COUNTER_H

#include <stdint.h>
#include <ucontext.h>

struct thread;

/* Reads the counters of HPCT_EVENTS; once per process, after process_open. */
void counter_open(void);

/* Starts counting, called by the first thread when the agent has finished its start. */
void counter_begin(struct thread *thread);

/* Number of the process's counters. */
unsigned counter_count(void);

/* Starts the calling thread's counters; refused ones are counted. */
void counter_arm(struct thread *thread);
void counter_disarm(struct thread *thread);

/* Takes the samples of counters that have trapped; one SIGTRAP may stand for several. Signal safe. */
void counters_take(struct thread *thread, const ucontext_t *context);

#endif
