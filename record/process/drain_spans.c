/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain_spans.c - records with a duration: operations from the agent, waits, launches, losses. With switch
 * records, a wait goes to wait_paths.h, which splits it into its switched-out parts.
 */
#include "record/process/drain_internal.h"

#include <stdio.h>

#include "record/gpu/correlate.h"
#include "record/process/switches.h"

void drain_spans_flush(struct drain *drain)
{
	struct batch *spans = drain->spans;

	if (spans->count && !drain->process->is_discarded)
		store_writer_append(
			drain->writer, drain->ring->stream, STORE_SPANS, spans->record, spans->count);
	spans->count = 0;
}

/* STORE_OP_NONE: not an operation of programs. */
static uint32_t operation_of(const struct drain *drain, uint32_t operation)
{
	const char *name;
	size_t size = 0;

	if (!(operation & EVENT_TEXT_BIT))
		return operation < STORE_OP_COUNT ? operation : STORE_OP_NONE;
	name = store_writer_text_at(
		drain->writer, ring_texts_at(&drain->ring->texts, operation & ~EVENT_TEXT_BIT), &size);
	return name && size ? store_writer_op(drain->writer, name, size) : STORE_OP_NONE;
}

static struct store_record span_of(const struct drain *drain, const struct event_span *span, uint32_t op)
{
	return (struct store_record){.begin_ns = span->begin_ns,
		.end_ns = span->end_ns,
		.bytes = span->bytes,
		.link = span->link,
		.context = drain_context_of(drain, span->h.node),
		.what = op,
		.attributes = ring_texts_at(&drain->ring->texts, span->attributes)};
}

/* With switch records their spans show the wait's parts; otherwise the whole wait is blocked time. */
static void wait_take(struct drain *drain, const struct store_record *wait)
{
	struct ring *ring = drain->ring;

	if (switches_cover(drain->process->switches, ring->tid)) {
		wait_paths_add(&ring->waits, wait->begin_ns, wait->end_ns, wait->context);
		return;
	}
	drain_spans_flush(drain);
	if (!drain->process->is_discarded)
		wait_paths_put_wait(&ring->waits, drain->writer, ring->stream, wait);
}

/* Ignores spans with impossible times or operations. An open span's handle is its id: 0 is the `monitored`
 * span. */
bool drain_span_take(struct drain *drain, const struct event_span *span)
{
	uint32_t op = operation_of(drain, span->operation);
	bool is_open = span->h.type == EVENT_OPEN;
	struct store_record record = span_of(drain, span, op);

	drain->process->spans_ns = drain->now_ns;
	if (op == STORE_OP_NONE || span->begin_ns > drain->now_ns ||
		(!is_open && (span->end_ns < span->begin_ns || span->end_ns > drain->now_ns)) ||
		(span->h.type != EVENT_SPAN && !span->link))
		return true;
	if (op == STORE_OP_BLOCKED && span->h.type == EVENT_SPAN && span->begin_ns == span->end_ns) {
		wait_paths_return(&drain->ring->waits, span->end_ns, record.context);
		return true;
	}
	if (op == STORE_OP_BLOCKED && span->h.type == EVENT_SPAN) {
		wait_take(drain, &record);
		return true;
	}
	if (span->h.type == EVENT_SPAN) {
		if (record.link)
			record.link = correlate_said(&drain->process->gpu, record.link, &record);
		if (op == STORE_OP_MPI && record.begin_ns == drain->ring->call_ns)
			drain_call_forget(drain);
		*drain_span_new(drain) = record;
		return true;
	}
	drain->process->has_ranges |= op == STORE_OP_RANGE || op == STORE_OP_MARK;
	drain_spans_flush(drain);
	record.link = 0;
	record.end_ns = is_open ? STORE_OPEN_NS : span->end_ns;
	if (is_open)
		store_writer_span_open(drain->writer, drain->ring->stream, span->link, &record);
	else
		store_writer_span_close(drain->writer, drain->ring->stream, span->link, &record);
	return true;
}

/* A thread that waited for a lock at its end never got it: what a span `lock` says of it otherwise. */
void drain_lock_open(struct drain *drain, struct event_ring *shared, uint64_t end_ns)
{
	uint64_t begin_ns = atomic_load_explicit(&shared->lock_begin_ns, memory_order_acquire);
	uint64_t lock = atomic_load_explicit(&shared->lock, memory_order_relaxed);
	uint32_t holder = atomic_load_explicit(&shared->lock_holder, memory_order_relaxed);
	char text[64];
	int size;

	if (!begin_ns || begin_ns != atomic_load_explicit(&shared->wait_begin_ns, memory_order_relaxed) ||
		end_ns <= begin_ns)
		return;
	size = snprintf(text, sizeof(text), "lock=0x%llx", (unsigned long long)lock);
	if (holder)
		size += snprintf(text + size, sizeof(text) - (size_t)size, ",holder=%u", holder);
	*drain_span_new(drain) = (struct store_record){.begin_ns = begin_ns,
		.end_ns = end_ns,
		.context = wait_paths_context(&drain->ring->waits, begin_ns, end_ns),
		.what = store_writer_op(drain->writer, "lock", 4),
		.attributes = store_writer_text(drain->writer, text, (size_t)size)};
}

void drain_lost_put(
	struct drain *drain, uint64_t begin_ns, uint64_t end_ns, uint64_t count, uint32_t attributes)
{
	struct store_stream *stream = store_writer_stream_edit(drain->writer, drain->ring->stream);

	drain->ring->lost += count;
	drain->process->lost += count;
	if (stream)
		stream->lost += count;
	*drain_span_new(drain) = (struct store_record){.begin_ns = begin_ns,
		.end_ns = end_ns > begin_ns ? end_ns : begin_ns,
		.amount = count,
		.attributes = attributes,
		.what = STORE_OP_LOST};
}

/* "samples=1,spans=17": what kind of records they were. */
static uint32_t lost_kinds(const struct drain *drain, const struct event_lost *lost)
{
	static const char *const names[EVENT_LOST_KINDS] = {"samples", "spans", "launches", "blocks"};
	char text[EVENT_LOST_KINDS * 24] = "";
	size_t used = 0;

	for (unsigned i = 0; i < EVENT_LOST_KINDS; i++)
		if (lost->kinds[i])
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s=%u", used ? "," : "",
				names[i], lost->kinds[i]);
	return used ? store_writer_text(drain->writer, text, used) : 0;
}

bool drain_lost_take(struct drain *drain, const struct event_lost *lost)
{
	drain_lost_put(drain, drain_credible(drain, lost->begin_ns), drain_credible(drain, lost->end_ns),
		lost->count, lost_kinds(drain, lost));
	return true;
}

static enum correlate_work work_of(const struct event_launch *launch)
{
	if (launch->h.flags & EVENT_F_UNQUEUED)
		return CORRELATE_UNQUEUED;
	return launch->h.flags & EVENT_F_KERNEL ? CORRELATE_KERNEL : CORRELATE_QUEUED;
}

/* Writes the call as a span of the thread and registers it with the correlator. */
bool drain_launch_take(struct drain *drain, const struct event_launch *launch)
{
	struct store_record *span = drain_span_new(drain);

	*span = (struct store_record){.begin_ns = drain_credible(drain, launch->begin_ns),
		.end_ns = drain_credible(drain, launch->end_ns),
		.context = drain_context_of(drain, launch->h.node),
		.what = STORE_OP_LAUNCH};
	if (span->end_ns < span->begin_ns)
		span->end_ns = span->begin_ns;
	span->link = correlate_launch(
		&drain->process->gpu, launch->correlation, drain->ring->stream, work_of(launch), span);
	return true;
}
