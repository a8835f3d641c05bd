/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - turns a signal into a record in the ring. callpath.c finds the record's call path. */
#include "record/agent/sample/sample.h"
#include "record/agent/sample/signal_guard.h"

#include <errno.h>

#include "record/agent/base/hot_section.h"
#include "record/agent/base/wrap.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/adopt.h"
#include "record/agent/sample/callpath.h"
#include "record/agent/sample/counter_group.h"
#include "record/agent/sample/papi.h"
#include "record/agent/sample/start_stop.h"
#include "record/agent/sample/syscall_restart.h"
#include "record/agent/sample/trace.h"

/* metric 0: the time source's, whose samples have an extent in time. */
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

static bool publish(struct thread *t, uint32_t node, uint8_t flags, uint64_t weight, uint64_t now_ns)
{
	if (!ring_begin(&t->ring, sizeof(struct event_sample), sizeof(struct event_sample), now_ns))
		return false;
	sample_put(t, node, flags, 0, weight, now_ns);
	ring_commit(&t->ring);
	return true;
}

bool sample_publish(struct thread *t, uint32_t node, uint8_t flags, uint64_t weight, uint64_t now_ns)
{
	if (publish(t, node, flags, weight, now_ns))
		return true;
	ring_lose(&t->ring, RING_LOST_FULL, weight, now_ns);
	return false;
}

bool sample_try(struct thread *t, uint32_t node, uint64_t weight, uint64_t now_ns)
{
	return publish(t, node, 0, weight, now_ns);
}

/* It was counted as a signal, and becomes an overrun of the next. */
void sample_save(struct thread *t, uint64_t weight)
{
	__atomic_fetch_add(&t->saved_ns, weight, __ATOMIC_RELAXED);
	ring_count(&t->ring.shared->signals, UINT64_MAX); /* subtracts one */
	ring_count(&t->ring.shared->overruns, 1);
	thread_saved_publish(t);
}

void sample_publish_first(struct thread *t, uint64_t start_routine, uint64_t now_ns)
{
	uint32_t node;
	int result = callpath_open_first(t, start_routine, sizeof(struct event_sample), now_ns, &node);

	if (result != CALLPATH_OPEN) {
		ring_lose(&t->ring, (enum ring_loss)result, 0, now_ns);
		return;
	}
	t->node_is_partial = false;
	sample_put(t, node, EVENT_F_FIRST, 0, 0, now_ns);
	ring_commit(&t->ring);
}

static void unpublished_add(struct thread *t)
{
	t->unpublished_ns += sample_saved_take(t);
	t->pending_node = 0;
}

/* False: the ring is full. */
static bool unpublished_publish(struct thread *t, uint64_t now_ns)
{
	uint32_t node = t->node;
	bool is_partial = t->node_is_partial;

	if (!ring_begin(&t->ring, sizeof(struct event_sample), sizeof(struct event_sample), now_ns))
		return false;
	t->node_is_partial = true;
	sample_put(t, thread_partial_root(t), EVENT_F_UNPUBLISHED, 0, t->unpublished_ns, now_ns);
	ring_commit(&t->ring);
	t->unpublished_ns = 0;
	t->node = node;
	t->node_is_partial = is_partial;
	return true;
}

void sample_publish_pathless(struct thread *t, uint64_t now_ns)
{
	if (t->pending_node)
		unpublished_add(t);
	if (!t->unpublished_ns || unpublished_publish(t, now_ns))
		return;
	ring_lose(&t->ring, RING_LOST_FULL, t->unpublished_ns, now_ns);
	t->unpublished_ns = 0;
}

/* True if the path, whose nodes are known down to `depth`, is not the pending one. */
static bool is_another(const struct thread *t, unsigned depth)
{
	return depth < t->pending_depth || t->callpath_nodes[t->pending_depth - 1] != t->pending_node;
}

/* A sample with its path, plus the saved weight. CALLPATH_OPEN: published; else an enum ring_loss. */
HOT static int callpath_sample(struct thread *t, const ucontext_t *context, uint8_t flags, uint32_t metric,
	uint64_t weight, uint64_t now_ns)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint32_t node;
	int result;

	arch_registers_read(context, start.value);
	result = callpath_open(t, &start, sizeof(struct event_sample), now_ns, &node);
	if (result != CALLPATH_OPEN)
		return result;
	if (t->pending_node && !metric && is_another(t, t->callpath_count))
		unpublished_add(t);
	if (!metric) {
		weight += sample_saved_take(t);
		t->pending_node = 0;
	}
	t->node_is_partial = thread_root_is_partial(t->callpath_root);
	sample_put(t, node, flags, metric, weight, now_ns);
	ring_commit(&t->ring);
	return result;
}

/* The ring has no space for the whole path. If it took a part, a later sample finds that part and stands
 * for this one, too. False: lost. */
static bool pending_publish(struct thread *t, uint64_t weight, uint32_t known)
{
	if (!t->pending_node && t->tree.count == known)
		return false;
	if (t->pending_node && is_another(t, t->published_depth))
		unpublished_add(t);
	if (t->published_depth) {
		t->pending_node = t->callpath_nodes[t->published_depth - 1];
		t->pending_depth = t->published_depth;
		t->saved_ns += weight;
	} else {
		t->unpublished_ns += weight;
	}
	ring_count(&t->ring.shared->signals, UINT64_MAX); /* subtracts one: it was an overrun */
	ring_count(&t->ring.shared->overruns, 1);
	return true;
}

HOT static void handler_time_count(struct thread *t, uint64_t since_ns)
{
	uint64_t now_ns = process_handler_now_ns();
	unsigned walked = t->unwinder.walked + SAMPLE_PYTHON_FRAMES * t->python.count;
	unsigned reads = t->far_reads + t->unwinder.rows;
	uint64_t period_ns = process.settings.period_ns;
	uint64_t rest_ns = sample_rest_ns(walked, reads, period_ns);
	uint64_t crowded_ns = sample_crowded_rest_ns(&t->crowded, t->handled_ns, since_ns, period_ns);

	t->handled_ns = now_ns;
	rest_ns = rest_ns > crowded_ns ? rest_ns : crowded_ns;
	if (rest_ns)
		t->rest_until_ns = now_ns + rest_ns;
	ring_count(&t->ring.shared->handler_ns, sample_counted_ns(now_ns - since_ns, walked, reads));
}

/* Counts samples that were lost because stacks had no space; their threads are unknown. */
static void missed_count(struct thread *t, uint64_t now_ns)
{
	uint64_t missed = atomic_exchange(&handler_stack_missed, 0);

	while (missed--)
		ring_lose(&t->ring, RING_LOST_REENTERED, 0, now_ns);
}

/* The ring must be entered. */
HOT static void take(struct thread *t, const ucontext_t *context, uint64_t weight, uint64_t now_ns)
{
	uint8_t flags = t->saved_ns || t->unpublished_ns ? EVENT_F_SAVED : 0;
	uint32_t known;
	int result;

	if (t->unpublished_ns && !t->pending_node)
		unpublished_publish(t, now_ns); /* on failure it waits for the next sample */
	known = t->tree.count;
	result = callpath_sample(t, context, flags, 0, weight, now_ns);
	if (result != CALLPATH_OPEN &&
		!pending_publish(t, weight, known)) /* the saved weight waits for the next sample */
		ring_lose(&t->ring, (enum ring_loss)result, weight, now_ns);
	thread_saved_publish(t);
	if (t->pending_node) /* the sample that will stand for this one publishes them */
		return;
	if (t->papi)
		papi_take(t, now_ns);
	counter_groups_take(t, now_ns);
}

HOT void sample_take_ns(
	struct thread *t, const ucontext_t *context, uint64_t periods, uint64_t weight, uint64_t now_ns)
{
	if (start_stop_is_off())
		return;
	weight = start_stop_weight(t, weight);
	t->covered_ns += weight;
	if (now_ns < t->rest_until_ns) {
		t->saved_ns += weight; /* goes to the next sample */
		thread_saved_publish(t);
		ring_count(&t->ring.shared->overruns, periods);
		return;
	}
	ring_count(&t->ring.shared->signals, 1);
	ring_count(&t->ring.shared->overruns, periods - 1);
	if (!ring_enter(&t->ring)) {
		if (t->is_tracing)
			t->deferred_ns += weight; /* trace_end takes the sample */
		else
			sample_save(t, weight);
		return;
	}
	take(t, context, weight, now_ns);
	ring_leave(&t->ring);
	if (atomic_load_explicit(&handler_stack_missed, memory_order_relaxed))
		missed_count(t, now_ns);
	handler_time_count(t, now_ns);
}

HOT void sample_take(struct thread *t, const ucontext_t *context, uint64_t periods, uint64_t now_ns)
{
	sample_take_ns(t, context, periods, periods * process.settings.period_ns, now_ns);
}

void sample_catch_up(struct thread *t, uint64_t now_ns)
{
	uint64_t period_ns = process.settings.period_ns, least, weight;

	if (source_chosen() != &source_timer)
		return; /* an event's hits do not depend on ticks */
	if (now_ns < t->catch_up_ns || start_stop_is_off())
		return;
	least = 2 * period_ns + source_tick_ns();
	weight = start_stop_uncovered_ns(t);
	if (weight < least) {
		t->catch_up_ns = now_ns + (least - weight);
		return;
	}
	weight -= weight % period_ns;
	t->covered_ns += weight;
	t->ahead_ns += weight;
	sample_publish(t, trace_callpath(t), 0, weight, now_ns);
}

void sample_take_counter(struct thread *t, const ucontext_t *context, unsigned counter, uint64_t value)
{
	uint64_t now_ns = process_now_ns();
	int result;

	if (start_stop_is_off())
		return;
	ring_count(&t->ring.shared->signals, 1);
	ring_count(&t->ring.shared->counts, 1);
	if (!ring_enter(&t->ring)) {
		ring_lose(&t->ring, RING_LOST_REENTERED, 0, now_ns);
		return;
	}
	result = callpath_sample(t, context, 0, counter + 1, value, now_ns);
	if (result != CALLPATH_OPEN)
		ring_lose(&t->ring, (enum ring_loss)result, 0, now_ns);
	ring_leave(&t->ring);
	handler_time_count(t, now_ns);
}

void sample_take_wait(struct thread *t, const ucontext_t *context)
{
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint64_t now_ns = process_now_ns();
	struct event_span *span;
	uint32_t node;

	if (atomic_load_explicit(&t->ring.shared->wait_begin_ns, memory_order_relaxed) ||
		start_stop_is_off() || !ring_enter(&t->ring))
		return;
	arch_registers_read(context, start.value);
	if (callpath_open(t, &start, sizeof(*span), now_ns, &node) == CALLPATH_OPEN) {
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
struct handler_call {
	struct thread *thread;
	const siginfo_t *info;
	const ucontext_t *context;
	uint64_t periods; /* of the thread's timer; 0: not from the timer */
	bool is_taken;
};

/* The program reads our signals out of the queue by itself. */
static void timer_give_up(struct thread *t)
{
	source_timer_stop(&t->handle);
	if (t->source == &source_timer)
		thread_unsampled(t->ring.shared, EVENT_UNSAMPLED_READ, process_handler_now_ns());
}

HOT static void handler_call_take(void *what)
{
	struct handler_call *handler_call = what;
	struct thread *t = handler_call->thread;

	handler_call->is_taken = true;
	if (handler_call->periods &&
		atomic_load_explicit(&signal_guards[SIGNAL_GUARD_SAMPLES].is_read, memory_order_relaxed))
		timer_give_up(t);
	if (handler_call->periods)
		t->source->tick(t, handler_call->context, handler_call->periods);
	else
		handler_call->is_taken =
			t->source->take && t->source->take(t, handler_call->info, handler_call->context);
}

/* The collector's word that start_stop_obey has something to do. A late one says so for nothing. */
HOT static bool is_order(const siginfo_t *info)
{
	return info->si_code == SI_QUEUE && (uintptr_t)info->si_value.sival_ptr == EVENT_CONTROL_VALUE &&
	       process_is_live();
}

HOT static struct thread *thread_of(const ucontext_t *context)
{
	return process.settings.injected ? adopt_enter(arch_stack_pointer(context)) : thread_self();
}

HOT static void handle(int signal, siginfo_t *info, void *context)
{
	struct handler_call handler_call = {.thread = thread_of(context), .info = info, .context = context};
	int *error_place = handler_call.thread ? handler_call.thread->error_place : &errno,
	    error = *error_place;

	handler_call.is_taken = source_timer_periods(info, &handler_call.periods);
	if (!handler_call.is_taken && is_order(info)) {
		if (!process.settings.injected) /* that agent looks by itself */
			start_stop_obey();
		syscall_restart_settle(context);
		if (process.settings.injected)
			adopt_leave();
		*error_place = error;
		return;
	}
	if (handler_call.thread && thread_stack_take(handler_call.thread)) {
		handler_stack_call(handler_call.thread->handler_stack + HANDLER_STACK_BYTES,
			handler_call_take, &handler_call);
		thread_stack_give(handler_call.thread);
	} else if (handler_call.thread && handler_call.is_taken) {
		atomic_fetch_add(&handler_stack_missed, 1);
	}
	if (handler_call.is_taken)
		syscall_restart_settle(context);
	else
		signal_guard_forward(signal, info, context);
	if (process.settings.injected)
		adopt_leave();
	*error_place = error;
}

/* qemu-user 7.2 calls handlers with a misaligned stack. */
#if defined(__x86_64__)
__attribute__((force_align_arg_pointer))
#endif
HOT void
sample_handle(int signal, siginfo_t *info, void *context)
{
	if (!process.settings.injected || adopt_may_enter())
		handle(signal, info, context);
}
