/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.c - from a signal to a record in the ring. callpath.c finds what the record
 * stands on.
 */
#include "record/agent/sample/sample.h"
#include "record/agent/sample/signal_guard.h"

#include <errno.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/callpath.h"
#include "record/agent/sample/papi.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/sample/syscall_restart.h"
#include "record/agent/sample/trace.h"

/* metric 0: the time source's, which alone owns a stretch of the line. */
static inline void sample_put(
	struct thread *t, uint32_t node, uint8_t flags, uint32_t metric, uint64_t weight, uint64_t now_ns)
{
	struct event_sample *sample = ring_put(
		&t->ring, EVENT_SAMPLE, metric ? flags : flags | EVENT_F_EXTENT, node, sizeof(*sample));

	sample->time_ns = now_ns;
	sample->weight = weight;
	sample->metric = metric;
	sample->_pad = 0;
	t->node = node;
	ring_count(&t->ring.shared->samples, 1);
	ring_count(&t->ring.shared->partial, t->node_is_partial);
}

bool sample_publish(struct thread *t, uint32_t node, uint8_t flags, uint64_t weight, uint64_t now_ns)
{
	if (!ring_begin(&t->ring, sizeof(struct event_sample), sizeof(struct event_sample), now_ns)) {
		ring_lose(&t->ring, RING_LOST_FULL, weight, now_ns);
		return false;
	}
	sample_put(t, node, flags, 0, weight, now_ns);
	ring_commit(&t->ring);
	return true;
}

void sample_publish_first(struct thread *t, uint64_t start_routine, uint64_t now_ns)
{
	uint32_t node;
	int result = path_open_first(t, start_routine, sizeof(struct event_sample), now_ns, &node);

	if (result != PATH_OPEN) {
		ring_lose(&t->ring, (enum ring_loss)result, 0, now_ns);
		return;
	}
	t->node_is_partial = false;
	sample_put(t, node, EVENT_F_FIRST, 0, 0, now_ns);
	ring_commit(&t->ring);
}

static void untold_add(struct thread *t)
{
	t->untold_ns += sample_saved_take(t);
	t->telling = 0;
}

/* False: the ring has no room for it. */
static bool untold_publish(struct thread *t, uint64_t now_ns)
{
	uint32_t node = t->node;
	bool is_partial = t->node_is_partial;

	if (!ring_begin(&t->ring, sizeof(struct event_sample), sizeof(struct event_sample), now_ns))
		return false;
	t->node_is_partial = true;
	sample_put(t, thread_partial_root(t), EVENT_F_UNTOLD, 0, t->untold_ns, now_ns);
	ring_commit(&t->ring);
	t->untold_ns = 0;
	t->node = node;
	t->node_is_partial = is_partial;
	return true;
}

void sample_untell(struct thread *t, uint64_t now_ns)
{
	if (t->telling)
		untold_add(t);
	if (!t->untold_ns || untold_publish(t, now_ns))
		return;
	ring_lose(&t->ring, RING_LOST_FULL, t->untold_ns, now_ns);
	t->untold_ns = 0;
}

/* The path of which nodes down to `depth` are known now is not, or no longer, the one that was being told. */
static bool is_another(const struct thread *t, unsigned depth)
{
	return depth < t->telling_depth || t->path_nodes[t->telling_depth - 1] != t->telling;
}

/* A sample with its path, and what was saved for it. PATH_OPEN: it is published; else an enum ring_loss. */
HOT static int path_sample(struct thread *t, const ucontext_t *context, uint8_t flags, uint32_t metric,
	uint64_t weight, uint64_t now_ns)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint32_t node;
	int result;

	arch_registers_read(context, start.value);
	result = path_open(t, &start, sizeof(struct event_sample), now_ns, &node);
	if (result != PATH_OPEN)
		return result;
	if (t->telling && !metric && is_another(t, t->path_count))
		untold_add(t);
	if (!metric) {
		weight += sample_saved_take(t);
		t->telling = 0;
	}
	t->node_is_partial = t->path_root != t->root;
	sample_put(t, node, flags, metric, weight, now_ns);
	ring_commit(&t->ring);
	return result;
}

/* The ring has no room for all of a path. Has it taken a part of it, a later sample finds that told and
 * stands for this one. False: it is lost. */
static bool tell_on(struct thread *t, uint64_t weight, uint32_t known)
{
	if (!t->telling && t->tree.count == known)
		return false;
	if (t->telling && is_another(t, t->told_depth))
		untold_add(t);
	if (t->told_depth) {
		t->telling = t->path_nodes[t->told_depth - 1];
		t->telling_depth = t->told_depth;
		t->saved_ns += weight;
	} else {
		t->untold_ns += weight;
	}
	ring_count(&t->ring.shared->signals, UINT64_MAX); /* one less: it was an overrun */
	ring_count(&t->ring.shared->overruns, 1);
	return true;
}

HOT static void took(struct thread *t, uint64_t since_ns)
{
	uint64_t now_ns = process_handler_now_ns();
	unsigned walked = t->unwinder.walked;
	uint64_t rest_ns = sample_rest_ns(walked, t->far_reads, process.settings.period_ns);

	if (rest_ns)
		t->rest_until_ns = now_ns + rest_ns;
	ring_count(&t->ring.shared->handler_ns, sample_counted_ns(now_ns - since_ns, walked, t->far_reads));
}

/* Samples for which stacks had no room; whose they were is not known. */
static void missed_count(struct thread *t, uint64_t now_ns)
{
	uint64_t missed = atomic_exchange(&own_stack_missed, 0);

	while (missed--)
		ring_lose(&t->ring, RING_LOST_NESTED, 0, now_ns);
}

/* The ring is entered. */
HOT static void take(struct thread *t, const ucontext_t *context, uint64_t weight, uint64_t now_ns)
{
	uint8_t flags = t->saved_ns || t->untold_ns ? EVENT_F_SAVED : 0;
	uint32_t known;
	int result;

	if (t->untold_ns && !t->telling)
		untold_publish(t, now_ns); /* else it waits on */
	known = t->tree.count;
	result = path_sample(t, context, flags, 0, weight, now_ns);
	if (result != PATH_OPEN && !tell_on(t, weight, known)) /* what was saved waits for the next one */
		ring_lose(&t->ring, (enum ring_loss)result, weight, now_ns);
	thread_saved_tell(t);
	if (t->papi && !t->telling) /* else the sample that will stand for this one has it */
		papi_take(t, now_ns);
}

HOT void sample_take_ns(
	struct thread *t, const ucontext_t *context, uint64_t periods, uint64_t weight, uint64_t now_ns)
{
	if (control_is_paused())
		return;
	weight = control_weight(t, weight);
	t->covered_ns += weight;
	if (now_ns < t->rest_until_ns) {
		t->saved_ns += weight; /* the next sample has it */
		thread_saved_tell(t);
		ring_count(&t->ring.shared->overruns, periods);
		return;
	}
	ring_count(&t->ring.shared->signals, 1);
	ring_count(&t->ring.shared->overruns, periods - 1);
	if (!ring_enter(&t->ring)) {
		if (t->is_tracing)
			t->deferred_ns += weight; /* trace_end takes the sample */
		else
			ring_lose(&t->ring, RING_LOST_NESTED, weight, now_ns);
		return;
	}
	take(t, context, weight, now_ns);
	ring_leave(&t->ring);
	if (atomic_load_explicit(&own_stack_missed, memory_order_relaxed))
		missed_count(t, now_ns);
	took(t, now_ns);
}

HOT void sample_take(struct thread *t, const ucontext_t *context, uint64_t periods, uint64_t now_ns)
{
	sample_take_ns(t, context, periods, periods * process.settings.period_ns, now_ns);
}

void sample_catch_up(struct thread *t)
{
	uint64_t period_ns = process.settings.period_ns, now_ns = process_now_ns(), least, weight;

	if (source_chosen() != &source_timer)
		return; /* an event's hits do not depend on ticks */
	if (now_ns < t->catch_up_ns || control_is_paused())
		return;
	least = 2 * period_ns + source_tick_ns();
	weight = control_uncovered_ns(t);
	if (weight < least) {
		t->catch_up_ns = now_ns + (least - weight);
		return;
	}
	weight -= weight % period_ns;
	t->covered_ns += weight;
	t->ahead_ns += weight;
	sample_publish(t, trace_path(t), 0, weight, now_ns);
}

void sample_take_counter(struct thread *t, const ucontext_t *context, unsigned counter, uint64_t value)
{
	uint64_t now_ns = process_now_ns();
	int result;

	if (control_is_paused())
		return;
	ring_count(&t->ring.shared->signals, 1);
	ring_count(&t->ring.shared->counts, 1);
	if (!ring_enter(&t->ring)) {
		ring_lose(&t->ring, RING_LOST_NESTED, 0, now_ns);
		return;
	}
	result = path_sample(t, context, 0, counter + 1, value, now_ns);
	if (result != PATH_OPEN)
		ring_lose(&t->ring, (enum ring_loss)result, 0, now_ns);
	ring_leave(&t->ring);
	took(t, now_ns);
}

void sample_take_wait(struct thread *t, const ucontext_t *context)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint64_t now_ns = process_now_ns();
	struct event_span *span;
	uint32_t node;

	if (atomic_load_explicit(&t->ring.shared->wait_begin_ns, memory_order_relaxed) ||
		control_is_paused() || !ring_enter(&t->ring))
		return;
	arch_registers_read(context, start.value);
	if (path_open(t, &start, sizeof(*span), now_ns, &node) == PATH_OPEN) {
		span = ring_put(&t->ring, EVENT_SPAN, 0, node, sizeof(*span));
		span->begin_ns = span->end_ns = now_ns;
		span->bytes = span->link = 0;
		span->operation = STORE_OP_BLOCKED;
		span->attributes = 0;
		ring_commit(&t->ring);
	}
	ring_leave(&t->ring);
}

/* A signal that is, or may be, a sample. */
struct heard {
	struct thread *thread;
	const siginfo_t *info;
	const ucontext_t *context;
	uint64_t periods; /* of the thread's timer; 0: it is not from there */
	bool is_taken;
};

HOT static void heard_take(void *what)
{
	struct heard *heard = what;
	struct thread *t = heard->thread;

	heard->is_taken = true;
	if (heard->periods && atomic_load_explicit(&guards[GUARD_SAMPLES].is_read, memory_order_relaxed))
		source_timer_stop(&t->handle);
	if (heard->periods)
		t->source->tick(t, heard->context, heard->periods);
	else
		heard->is_taken = t->source->take && t->source->take(t, heard->info, heard->context);
}

/* qemu-user 7.2 calls handlers on a stack that is not aligned. */
#if defined(__x86_64__)
__attribute__((force_align_arg_pointer))
#endif
HOT void
sample_handle(int signal, siginfo_t *info, void *context)
{
	struct heard heard = {.thread = thread_self(), .info = info, .context = context};
	int *error_place = heard.thread ? heard.thread->error_place : &errno, error = *error_place;

	heard.is_taken = source_timer_periods(info, &heard.periods);
	if (heard.thread && thread_stack_take(heard.thread)) {
		own_stack_call(heard.thread->handler_stack + OWN_STACK_BYTES, heard_take, &heard);
		thread_stack_give(heard.thread);
	} else if (heard.thread && heard.is_taken) {
		atomic_fetch_add(&own_stack_missed, 1);
	}
	if (heard.is_taken)
		interrupt_settle(context);
	else
		guard_forward(signal, info, context);
	*error_place = error;
}
