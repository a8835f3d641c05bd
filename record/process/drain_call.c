/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain_call.c - a collective call that a thread is still in: the agent publishes calls when they return, and
 * of one that hangs nobody would know which it is. So the thread tells in its ring where it goes in, and once
 * it has been there for a second the run gets an open span, which the published one replaces.
 *
 *   agent    call_begin_ns, call --------------------- EVENT_SPAN, call_begin_ns = 0
 *   run                           | open span `mpi` ... | dropped; the span itself
 */
#include <stdio.h>
#include <string.h>

#include "record/base/clock.h"
#include "record/process/drain_internal.h"
#include "record/process/sampling_off.h"

#define CALL_HANDLE (SAMPLING_OFF_SPAN_HANDLE - 2) /* of store_writer_span_open */
#define CALL_LEAST_NS UINT64_C(1000000000)

/* What it says of the call that began then. False: it goes on to another one right now. */
static bool call_read(const struct event_ring *shared, uint64_t begin_ns, char text[EVENT_CALL_BYTES])
{
	memcpy(text, shared->call, EVENT_CALL_BYTES);
	text[EVENT_CALL_BYTES - 1] = '\0';
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&shared->call_begin_ns, memory_order_relaxed) == begin_ns;
}

static struct store_record call_span(
	struct drain *drain, uint64_t begin_ns, uint64_t until_ns, const char *text)
{
	struct ring *ring = drain->ring;
	uint32_t context = wait_paths_context(&ring->waits, begin_ns, until_ns);
	char said[EVENT_CALL_BYTES + 16];
	int size = snprintf(said, sizeof(said), "%s,unfinished=1", text);

	if (!context && ring->last_ns >= begin_ns) /* it does not sleep: the last sample was taken in it */
		context = ring->last_context;
	return (struct store_record){.begin_ns = begin_ns,
		.end_ns = STORE_OPEN_NS,
		.context = context,
		.what = STORE_OP_MPI,
		.attributes = store_writer_text(drain->writer, said, (size_t)size)};
}

void drain_call_forget(struct drain *drain)
{
	if (drain->ring->call_ns)
		store_writer_span_close(drain->writer, drain->ring->stream, CALL_HANDLE, NULL);
	drain->ring->call_ns = 0;
}

void drain_call_look(struct drain *drain, const struct event_ring *shared)
{
	uint64_t begin_ns = atomic_load_explicit(&shared->call_begin_ns, memory_order_acquire), now_ns;
	char text[EVENT_CALL_BYTES];
	struct store_record span;

	if (drain->ring->stream == UINT32_MAX || begin_ns == drain->ring->call_ns)
		return;
	drain_call_forget(drain);
	now_ns = clock_now_ns();
	if (begin_ns < drain->ring->begin_ns || begin_ns > now_ns || now_ns - begin_ns < CALL_LEAST_NS ||
		drain->process->is_discarded || !call_read(shared, begin_ns, text))
		return;
	span = call_span(drain, begin_ns, now_ns, text);
	store_writer_span_open(drain->writer, drain->ring->stream, CALL_HANDLE, &span);
	drain->ring->call_ns = begin_ns;
}

void drain_call_close(struct drain *drain, const struct event_ring *shared, uint64_t end_ns)
{
	uint64_t begin_ns = atomic_load_explicit(&shared->call_begin_ns, memory_order_acquire);
	char text[EVENT_CALL_BYTES];
	struct store_record span;

	drain_call_forget(drain);
	if (begin_ns < drain->ring->begin_ns || begin_ns >= end_ns || drain->process->is_discarded ||
		!call_read(shared, begin_ns, text))
		return;
	span = call_span(drain, begin_ns, end_ns, text);
	span.end_ns = end_ns;
	*drain_span_new(drain) = span;
}
