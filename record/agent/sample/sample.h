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
#define SAMPLE_READ_NS \
	600 /* a read outside the thread's own stack is a system call; so long takes a row, too */
#define SAMPLE_PYTHON_FRAMES                                                                               \
	4		       /* what one of Python takes to be read, joined and folded, in frames walked \
				*/
#define SAMPLE_LONG_WALK 16384 /* frames */
#define SAMPLE_LONG_SHARE 4    /* of a period: a sample could follow such a walk at once */
#define SAMPLE_REST 16	       /* walks take at most 1/16 of the thread's time */

#define SAMPLE_COUNTED_NS 50000 /* per handler, plus ... */
#define SAMPLE_COUNTED_WALKS 4	/* ... times its walk's duration */

static inline uint64_t sample_walk_ns(unsigned walked, unsigned reads)
{
	return walked * (uint64_t)SAMPLE_FRAME_NS + reads * (uint64_t)SAMPLE_READ_NS;
}

/* The part of a handler's elapsed time that counts as overhead: the tick that causes a sample often also
 * preempts the thread, and the time of other threads is not our cost. */
static inline uint64_t sample_counted_ns(uint64_t by_clock_ns, unsigned walked, unsigned reads)
{
	uint64_t most_ns = SAMPLE_COUNTED_NS + SAMPLE_COUNTED_WALKS * sample_walk_ns(walked, reads);

	return by_clock_ns < most_ns ? by_clock_ns : most_ns;
}

/* How long no sample follows a walk of that many frames and reads. Computed from these and not from the
 * clock, by which a preempted handler looks long. */
static inline uint64_t sample_rest_ns(unsigned walked, unsigned reads, uint64_t period_ns)
{
	uint64_t walk_ns = sample_walk_ns(walked, reads);
	bool is_long = walked > SAMPLE_LONG_WALK || walk_ns > period_ns / SAMPLE_LONG_SHARE;

	return is_long ? SAMPLE_REST * walk_ns : 0;
}

#define SAMPLE_CROWDED_MOST 4u	/* handlers in a row that left less than ... */
#define SAMPLE_CROWDED_SHARE 8u /* ... this part of a period to the program */

/* The same by the clock, for a handler that began at begin_ns, after another had ended at before_ns: where
 * samples follow each other at once, whatever they cost, the program would never go on. (Other threads' time
 * between the two makes them look further apart.) *crowded: so many in a row. */
static inline uint64_t sample_crowded_rest_ns(
	unsigned *crowded, uint64_t before_ns, uint64_t begin_ns, uint64_t period_ns)
{
	*crowded = begin_ns - before_ns < period_ns / SAMPLE_CROWDED_SHARE ? *crowded + 1 : 0;
	if (*crowded < SAMPLE_CROWDED_MOST)
		return 0;
	*crowded = 0;
	return SAMPLE_REST * period_ns;
}

/* Handler of AGENT_SIGNAL. In the steady state: no system call, no lock, no allocation. */
void sample_handle(int signal, siginfo_t *info, void *context);

/* Takes one sample of the calling thread, interrupted at `context`, that stands for `periods`. now_ns:
 * when the handler began. */
void sample_take(struct thread *thread, const ucontext_t *context, uint64_t periods, uint64_t now_ns);

/* With a weight that is not a whole number of periods. */
void sample_take_ns(struct thread *thread, const ucontext_t *context, uint64_t periods, uint64_t weight_ns,
	uint64_t now_ns);

/* For a counter, by its index, that increased by `value`. */
void sample_take_counter(struct thread *thread, const ucontext_t *context, unsigned counter, uint64_t value);

/* The thread was switched out and resumes at `context`: publishes its path where no wrapper does. */
void sample_take_wait(struct thread *thread, const ucontext_t *context);

/* Call in a wait, after trace_begin, without a signal; now_ns: the clock just read. If no tick has hit the
 * thread for so long that it seems to yield before each tick, a sample at the waiting path stands for its CPU
 * time. Signals that arrive later for that time stand for the rest. */
void sample_catch_up(struct thread *thread, uint64_t now_ns);

/* Publishes a sample at a known node. False: dropped and counted. The ring must be entered. */
bool sample_publish(struct thread *thread, uint32_t node, uint8_t flags, uint64_t weight, uint64_t now_ns);

/* The same, but what is not published is not counted: see sample_save. */
bool sample_try(struct thread *thread, uint32_t node, uint64_t weight, uint64_t now_ns);

/* A sample met its own thread's publishing: its weight goes to the next one. Signal safe. */
void sample_save(struct thread *thread, uint64_t weight);

/* Publishes the saved weight of a partly published path as weight without path. The ring must be entered. */
void sample_publish_pathless(struct thread *thread, uint64_t now_ns);

/* Takes the saved weight for a record. Exchanges atomically: a signal between a read and a clear would
 * lose its weight. */
static inline uint64_t sample_saved_take(struct thread *thread)
{
	return thread->saved_ns ? __atomic_exchange_n(&thread->saved_ns, 0, __ATOMIC_RELAXED) : 0;
}

/* Publishes a thread's first record: its start routine, or the root. */
void sample_publish_first(struct thread *thread, uint64_t start_routine, uint64_t now_ns);

#endif
