/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_stop.h - sampling switched off and on by the program, for all threads of the
 * process at once. Timers and signals go on meanwhile; the handler leaves them alone.
 * The collector learns of it from a log in the shared memory (event_process.pause_ns), so
 * that threads that sleep, and such that die, are told of in time.
 *
 *   CPU clock of a thread   begin ---- samples ---- stop ......... start ---- samples ---- end
 *   event_ring                                      pause_cpu_ns   paused_cpu_ns += the dots
 *
 * The weights of a thread add up to its CPU clock without the dots.
 */
#ifndef RECORD_AGENT_START_STOP_H
#define RECORD_AGENT_START_STOP_H

#include "record/agent/sample/thread.h"

/* Once, when the agent is loaded; `delayed`: off at first. */
void start_stop_init(bool delayed);

/* Once per process, its shared memory there: a child of fork goes on as its parent was. */
void start_stop_process_begin(void);

/* Of a new ring, its cpu_begin_ns set. */
void start_stop_ring_begin(struct event_ring *ring);

/* Is sampling off? Signal safe. */
bool start_stop_is_off(void);

/* Of the thread's CPU clock at cpu_ns: what was not sampled. */
uint64_t start_stop_off_ns(const struct event_ring *ring, uint64_t cpu_ns);

/* What the samples of a thread do not yet stand for. Signal safe. */
uint64_t start_stop_uncovered_ns(const struct thread *t);

/* Weight of a sample of `weight` ns: the first one after a pause stands for what the thread's clock says.
 * Signal safe. */
uint64_t start_stop_weight(struct thread *t, uint64_t weight);

void start_stop_switch_off(void);
void start_stop_switch_on(void);

/* Spans that the program opens and closes, of operation STORE_OP_MARK or STORE_OP_RANGE. */
void start_stop_mark(const char *name);
void start_stop_span_open(uint32_t operation, const char *name);
void start_stop_span_close(uint32_t operation);

/* Closes what the calling thread has left open. */
void start_stop_thread_end(struct thread *t);

#endif
