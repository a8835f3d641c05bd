/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_stop.h - the program switches sampling off and on, for all threads of the process at once. Timers and
 * signals continue; the handler ignores them. The collector reads a log in the shared memory
 * (event_process.pause_ns), so that it covers threads that sleep or die in time.
 *
 *   CPU clock of a thread   begin ---- samples ---- stop ......... start ---- samples ---- end
 *   event_ring                                      pause_cpu_ns   paused_cpu_ns += the dots
 *
 * A thread's weights add up to its CPU clock without the dots.
 *
 * Whoever records does the same by hpct-record --stop and --start (start_stop_obey): then the timers stop,
 * too, and hpct_start() has no effect meanwhile.
 */
#ifndef RECORD_AGENT_START_STOP_H
#define RECORD_AGENT_START_STOP_H

#include "record/agent/sample/thread.h"

/* Once, when the agent is loaded; `delayed`: initially off. */
void start_stop_init(bool delayed);

/* Once per process, after its shared memory exists: a fork child inherits its parent's state. */
void start_stop_process_begin(void);

/* Initializes a new ring, after its cpu_begin_ns. */
void start_stop_ring_begin(struct event_ring *ring);

/* True if sampling is off. Signal safe. */
bool start_stop_is_off(void);

/* The part of the thread's CPU clock, up to cpu_ns, that was not sampled. */
uint64_t start_stop_off_ns(const struct event_ring *ring, uint64_t cpu_ns);

/* CPU time of a thread that its samples do not stand for yet. Signal safe. */
uint64_t start_stop_uncovered_ns(const struct thread *t);

/* Weight of a sample of `weight` ns: the first one after a pause takes its weight from the thread's clock.
 * Signal safe. */
uint64_t start_stop_weight(struct thread *t, uint64_t weight);

/* True until the first sample after a pause has asked for its weight. Signal safe. */
bool start_stop_is_anew(const struct thread *t);

/* Somebody has asked for a start or a stop (event_process.control_wanted), and it was not done yet: does it.
 * Signal safe, on any thread. */
void start_stop_obey(void);
static inline bool start_stop_is_asked(void)
{
	struct event_process *shared = process.shared;

	return shared && atomic_load_explicit(&shared->control_wanted, memory_order_relaxed) !=
				 atomic_load_explicit(&shared->control_done, memory_order_relaxed);
}

void start_stop_switch_off(void);
void start_stop_switch_on(void);

/* Spans that the program opens and closes, of operation STORE_OP_MARK or STORE_OP_RANGE. */
void start_stop_mark(const char *name);
void start_stop_span_open(uint32_t operation, const char *name);
void start_stop_span_close(uint32_t operation);

/* A mark or range of this name begins: from the first `step` on the program has steps of its own. */
void start_stop_step_note(const char *name);
bool start_stop_has_steps(void);

/* Closes the spans that the calling thread left open. */
void start_stop_thread_end(struct thread *t);

#endif
