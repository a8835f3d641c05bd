/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h - the sampling handler and the publication of samples.
 */
#ifndef RECORD_AGENT_SAMPLE_H
#define RECORD_AGENT_SAMPLE_H

#include <signal.h>
#include <ucontext.h>

#include "record/agent/sample/thread.h"

#define SAMPLE_FRAME_NS 16
#define SAMPLE_READ_NS 600     /* on a stack that is not the thread's own each read is a system call */
#define SAMPLE_LONG_WALK 16384 /* frames */
#define SAMPLE_LONG_SHARE 4    /* of a period: the next sample could follow such a walk at once */
#define SAMPLE_REST 16	       /* times as long as the walk: a sixteenth of the thread's time */

#define SAMPLE_COUNTED_NS 50000 /* of a handler, and ... */
#define SAMPLE_COUNTED_WALKS 4	/* ... times what its walk takes */

static inline uint64_t sample_walk_ns(unsigned walked, unsigned reads)
{
	return walked * (uint64_t)SAMPLE_FRAME_NS + reads * (uint64_t)SAMPLE_READ_NS;
}

/* What of a handler's time by the clock is counted: the tick that brings a sample is often the one that takes
 * the core away, and what others do with it is no cost of ours. */
static inline uint64_t sample_counted_ns(uint64_t by_clock_ns, unsigned walked, unsigned reads)
{
	uint64_t most_ns = SAMPLE_COUNTED_NS + SAMPLE_COUNTED_WALKS * sample_walk_ns(walked, reads);

	return by_clock_ns < most_ns ? by_clock_ns : most_ns;
}

/* How long no sample follows a walk of so many frames and reads. Told by them and not by the clock, to which
 * a handler that was preempted looks long. */
static inline uint64_t sample_rest_ns(unsigned walked, unsigned reads, uint64_t period_ns)
{
	uint64_t walk_ns = sample_walk_ns(walked, reads);
	bool is_long = walked > SAMPLE_LONG_WALK || walk_ns > period_ns / SAMPLE_LONG_SHARE;

	return is_long ? SAMPLE_REST * walk_ns : 0;
}

/* Handler of AGENT_SIGNAL. In the steady state: no system call, no lock, no allocation. */
void sample_handle(int signal, siginfo_t *info, void *context);

/* Takes one sample of the calling thread, interrupted at `context`, that stands for so many periods. now_ns:
 * when the handler began. */
void sample_take(struct thread *thread, const ucontext_t *context, uint64_t periods, uint64_t now_ns);

/* The same where the weight is no whole number of periods. */
void sample_take_ns(struct thread *thread, const ucontext_t *context, uint64_t periods, uint64_t weight_ns,
	uint64_t now_ns);

/* The same for a counter, by its index, that has come by `value`. */
void sample_take_counter(struct thread *thread, const ucontext_t *context, unsigned counter, uint64_t value);

/* The thread was switched out, and goes on at `context`: tells its path where no wrapper will. */
void sample_take_wait(struct thread *thread, const ucontext_t *context);

/* The calling thread has waited, trace_begin was called and no signal comes: if no tick has met it for so
 * long that it seems to give way ahead of each, a sample of the path that waits stands for what it ran. The
 * signals that come for that time, if ever, then stand for the rest. */
void sample_catch_up(struct thread *thread);

/* Publishes a sample at a known node. false: dropped and counted. The ring must be entered. */
bool sample_publish(struct thread *thread, uint32_t node, uint8_t flags, uint64_t weight, uint64_t now_ns);

/* Saved weight of a path that has not been told to its end is that of no other: publishes it as that of a
 * path that is not known. The ring must be entered. */
void sample_publish_pathless(struct thread *thread, uint64_t now_ns);

/* What was saved, for a record that now has it. At once: a signal between reading and clearing would lose its
 * weight. */
static inline uint64_t sample_saved_take(struct thread *thread)
{
	return thread->saved_ns ? __atomic_exchange_n(&thread->saved_ns, 0, __ATOMIC_RELAXED) : 0;
}

/* Publishes the record that opens a thread: its start routine, or the root. */
void sample_publish_first(struct thread *thread, uint64_t start_routine, uint64_t now_ns);

#endif
