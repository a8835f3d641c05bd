/* SPDX-License-Identifier: Apache-2.0 */
/* wait.c - see wait.h. */
#include "record/agent/wrap/wait.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/base/wrap.h"
#include "record/agent/sample/sample.h"
#include "record/agent/sample/tally.h"
#include "record/agent/sample/trace.h"

/* A handler that leaves by longjmp would leave it half obeyed, for ever. */
OWN static void obey_masked(void)
{
	uint64_t all = UINT64_MAX, before;

	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all)))
		return;
	start_stop_obey();
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

OWN void wait_begin_parked(struct wait *wait)
{
	int error = errno;

	if (start_stop_is_asked())
		obey_masked();
	if (atomic_load(&process.is_parked))
		wait->thread = NULL;
	errno = error;
}

const struct timespec *wait_rest(const struct wait *wait, const struct timespec *whole, struct timespec *rest)
{
	uint64_t gone_ns = process_now_ns() - wait->begin_ns;

	if (!whole || !wait->thread)
		return whole;
	*rest = (struct timespec){whole->tv_sec - (time_t)(gone_ns / 1000000000u),
		whole->tv_nsec - (long)(gone_ns % 1000000000u)};
	if (rest->tv_nsec < 0) {
		rest->tv_nsec += 1000000000;
		rest->tv_sec--;
	}
	if (rest->tv_sec < 0)
		*rest = (struct timespec){0};
	return rest;
}

int wait_rest_ms(const struct wait *wait, int whole_ms)
{
	uint64_t gone_ms = (process_now_ns() - wait->begin_ns) / 1000000u;

	if (whole_ms < 0 || !wait->thread)
		return whole_ms;
	return gone_ms < (uint64_t)whole_ms ? whole_ms - (int)gone_ms : 0;
}

/* A program that waits more often than the collector drains keeps half of its ring for samples: then waits
 * lose their path, not their time. */
static bool has_room(const struct ring *ring)
{
	return ring->at - atomic_load_explicit(&ring->shared->tail, memory_order_relaxed) < ring->bytes / 2;
}

/* Reads and writes can be very frequent, and their bytes are counted even without their spans. Other calls
 * leave samples a quarter of the ring: from half of it on short calls of MPI become sums (mpi/mpi_sums.h). */
static bool may_publish(const struct ring *ring, const struct wait_call *call)
{
	if (call && call->operation != STORE_OP_IO && !call->may_drop)
		return ring->at - atomic_load_explicit(&ring->shared->tail, memory_order_relaxed) <
		       ring->bytes / 4 * 3;
	return has_room(ring);
}

void wait_publish_call(struct thread *t, struct event_span *span, const struct wait_call *call)
{
	if (call->tally)
		tally_add_at(t, span->h.node, call->tally, call->bytes);
	if (call->may_drop && !has_room(&t->ring))
		return;
	if (!may_publish(&t->ring, call)) {
		ring_lose_kind(&t->ring, RING_LOST_FULL, EVENT_LOST_SPAN, 0, span->end_ns);
		return;
	}
	if (call->begin_ns)
		span->begin_ns = call->begin_ns;
	span->operation = call->operation ? call->operation : EVENT_TEXT_BIT | trace_text(t, call->name);
	span->bytes = call->bytes;
	span->attributes = trace_text(t, call->attributes);
	trace_span(t, EVENT_SPAN, span);
}

static void publish(struct thread *t, const struct wait *wait, uint64_t end_ns, const void *function,
	const struct wait_call *call)
{
	struct event_span span = {
		.begin_ns = wait->begin_ns, .end_ns = end_ns, .operation = STORE_OP_BLOCKED};
	uint64_t now_ns;

	span.h.node = trace_callpath_into(t, (uintptr_t)function);
	if (end_ns - wait->begin_ns > WAIT_LEAST_NS && !(call && call->is_later) &&
		may_publish(&t->ring, call))
		trace_span(t, EVENT_SPAN, &span);
	if (call)
		wait_publish_call(t, &span, call);
	now_ns = process_now_ns();
	sample_catch_up(t, now_ns);
	ring_count(&t->ring.shared->handler_ns, sample_counted_ns(now_ns - end_ns, 0, 0));
}

OWN void wait_publish(
	const struct wait *wait, uint64_t end_ns, const void *function, const struct wait_call *call)
{
	struct trace_masked masked;
	struct thread *t = (call && !call->may_drop) || has_room(&wait->thread->ring)
				   ? trace_begin_masked(&masked)
				   : NULL;

	if (!t)
		return;
	publish(t, wait, end_ns, function, call);
	trace_end_masked(t, &masked);
}

/* Yields may be all that a thread calls. */
OWN void wait_yielded(struct thread *t)
{
	struct trace_masked masked;

	if (!trace_begin_masked(&masked))
		return;
	sample_catch_up(t, process_now_ns());
	trace_end_masked(t, &masked);
}
