/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_perf.h - common to the sources with perf events (source_trap.c, source_overflow.c): an event on the
 * thread's CPU clock, for more samples per second than the kernel has ticks, and a CPU timer beside it.
 *
 * If hits inside the kernel are counted, each sample stands for all of the thread's CPU time that no earlier
 * sample stands for: hits that coincide in one system call come as one signal. Otherwise a sample stands for
 * one period of user code, and the timer's ticks take the rest, for system calls. So no time counts twice,
 * and if the event fails silently, the timer continues.
 */
#ifndef RECORD_AGENT_SOURCE_PERF_H
#define RECORD_AGENT_SOURCE_PERF_H

#include "record/agent/process/process.h"
#include "record/agent/sample/sample.h"
#include "record/agent/sample/source.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/sample/thread.h"

extern struct source_perf {
	bool kernel;	  /* hits inside the kernel are counted */
	uint64_t tick_ns; /* of the timer */
} source_perf;

/* Opens an event on the calling thread, with additional `flags` of perf.h: PERF_SIGTRAP also for its
 * future threads. The descriptor, or -1 with errno set. */
int source_perf_open(uint64_t flags);
/* Opens it with hits inside the kernel if allowed, for traps only; sets source_perf. The descriptor, or a
 * negative errno. */
int source_perf_open_best(uint64_t flags);
/* struct source's `tick`. */
void source_perf_tick(struct thread *t, const ucontext_t *context, uint64_t periods);

/* In the header, since they are part of the handler. */

/* The thread's CPU time, without intervals of switched-off sampling, minus what samples and losses stand
 * for; negative: they are ahead. */
static inline int64_t source_perf_owed_ns(const struct thread *t)
{
	const struct event_ring *ring = t->ring.shared;
	uint64_t cpu_ns = process_handler_cpu_ns();
	uint64_t ran_ns = cpu_ns - ring->cpu_begin_ns - start_stop_off_ns(ring, cpu_ns);

	return (int64_t)(ran_ns - t->covered_ns);
}

static inline bool source_perf_is_near(int64_t ns, int64_t period_ns)
{
	return ns >= -period_ns / 16 && ns <= period_ns / 16;
}

/* Weight of a sample. A whole number of periods needs the least space and is used unless it is too far
 * from the CPU time: samples may be ahead of the clock by half a period, since the next one comes within a
 * period, and lag a little. A hit has come in time if samples are as far ahead as before. */
static inline void source_perf_owed_take(struct thread *t, const ucontext_t *context, uint64_t now_ns)
{
	int64_t period_ns = (int64_t)process.settings.period_ns, owed = source_perf_owed_ns(t);
	int64_t periods = (owed + period_ns / 2) / period_ns, ahead = periods * period_ns - owed;

	t->hit_ns = 0;
	if (owed <= period_ns / 16)
		return;
	t->believed = 0;
	if (ahead < -period_ns / 16) {
		t->lead_ns = 0;
		sample_take_ns(t, context, (uint64_t)(periods ? periods : 1), (uint64_t)owed, now_ns);
		return;
	}
	if (source_perf_is_near(ahead - t->lead_ns, period_ns))
		t->hit_ns = now_ns;
	t->lead_ns = ahead;
	sample_take(t, context, (uint64_t)periods, now_ns);
}

#define SOURCE_PERF_BELIEVED_MAX 15u
#define SOURCE_PERF_BELIEVED_NS 250000u

/* A hit one period after a hit in time stands for one period: the thread cannot have run longer. It may
 * have run less, since threads that alternate on a processor share one event (the kernel passes it from
 * one to the next); so this holds only for periods shorter than a time slice. The thread's clock, a system
 * call and the most expensive part of a sample, is read now and then, so that errors do not add up. */
static inline bool source_perf_is_one_period(struct thread *t, uint64_t now_ns)
{
	uint64_t period_ns = process.settings.period_ns;

	if (period_ns > SOURCE_PERF_BELIEVED_NS || !t->hit_ns || t->believed == SOURCE_PERF_BELIEVED_MAX)
		return false;
	if (!source_perf_is_near((int64_t)(now_ns - t->hit_ns - period_ns), (int64_t)period_ns))
		return false;
	t->hit_ns = now_ns;
	t->believed++;
	return true;
}

/* A hit in user code stands for one period, but is left out where samples would get ahead of the thread's
 * clock by more than half of one: a signal that is delivered late may come after the tick that took its time,
 * and the event also counts what a hypervisor takes from the thread, which its clock leaves out. */
static inline void source_perf_user_hit(struct thread *t, const ucontext_t *context, uint64_t now_ns)
{
	if (2 * source_perf_owed_ns(t) >= (int64_t)process.settings.period_ns)
		sample_take(t, context, 1, now_ns);
}

/* The event has fired. */
static inline void source_perf_hit(struct thread *t, const ucontext_t *context)
{
	uint64_t now_ns = process_handler_now_ns();

	if (!source_perf.kernel)
		source_perf_user_hit(t, context, now_ns);
	else if (source_perf_is_one_period(t, now_ns))
		sample_take(t, context, 1, now_ns);
	else
		source_perf_owed_take(t, context, now_ns);
}

#endif
