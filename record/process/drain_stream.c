/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain_stream.c - begin and end of a stream: its name, the `monitored` span around it, and final values at
 * its end.
 */
#include "record/process/drain_internal.h"

#include <string.h>
#include <time.h>

#include "record/base/attribute_write.h"
#include "record/base/refusal_text.h"
#include "record/process/switches.h"

#define TICKS_LATE 16
#define MISSED_SHARE 50 /* a part of the CPU clock that weights may lack before that is said */
#define UNSAMPLED_HANDLE (SAMPLING_OFF_SPAN_HANDLE - 1) /* of store_writer_span_open */

/* Of the main thread: who started the process, its title, and how it ended, if that is known. */
static void write_process(struct store_bytes *text, const struct measured_process *process)
{
	if (process->parent_pid)
		attribute_write_number(text, "parent", process->parent_pid);
	if (process->title[0])
		attribute_write(text, "title", process->title);
	if (process->has_status)
		attribute_write_end(text, process->end_status);
}

/* Attributes of the `monitored` span; set at its begin and, with the final CPU clock, at its end. */
static uint32_t monitored_attributes(const struct measured_process *process, const struct ring *ring,
	struct store_writer *writer, const char *name, uint64_t cpu_end_ns, uint64_t cpu_paused_ns)
{
	struct store_bytes text = {0};
	uint32_t id = 0;

	if (*name)
		attribute_write(&text, "name", name);
	attribute_write(&text, "command", process->command);
	attribute_write(&text, "metric", process->metric_name);
	attribute_write_number(&text, "period_ns", process->period_ns);
	attribute_write_number(&text, "cpu_begin_ns", ring->cpu_begin_ns);
	if (cpu_end_ns)
		attribute_write_number(&text, "cpu_end_ns", cpu_end_ns);
	if (cpu_paused_ns)
		attribute_write_number(&text, "cpu_paused_ns", cpu_paused_ns);
	if (process->rank >= 0)
		attribute_write(&text, "rank_from",
			atomic_load(&process->shared->rank_known) ? "MPI_Comm_rank" : "environment");
	attribute_write_number(&text, "switches", switches_cover(process->switches, ring->tid));
	if (ring->stream == process->first_stream)
		write_process(&text, process);
	if (!text.failed)
		id = store_writer_text(writer, (const char *)text.data, text.size);
	store_bytes_fini(&text);
	return id;
}

/* The part of the thread's CPU clock, up to cpu_end_ns, that passed while sampling was off. */
static uint64_t paused_cpu_ns(const struct event_ring *shared, uint64_t cpu_end_ns)
{
	uint64_t since_ns = atomic_load(&shared->pause_cpu_ns);

	return atomic_load(&shared->paused_cpu_ns) + (since_ns < cpu_end_ns ? cpu_end_ns - since_ns : 0);
}

static struct store_record monitored_span(const struct ring *ring, uint64_t end_ns, uint32_t attributes)
{
	return (struct store_record){.begin_ns = ring->begin_ns,
		.end_ns = end_ns,
		.what = STORE_OP_MONITORED,
		.attributes = attributes};
}

void drain_stream_open(struct drain *drain, struct event_ring *shared)
{
	struct measured_process *process = drain->process;
	struct ring *ring = drain->ring;
	char name[sizeof(shared->name)];
	struct store_record span;
	struct store_stream stream = {.kind = STORE_STREAM_CPU,
		.host = drain->host,
		.rank = process->rank,
		.pid = process->pid,
		.generation = process->generation,
		.thread = shared->thread,
		.tid = shared->tid,
		.begin_ns = drain_credible(drain, shared->begin_ns),
		.end_ns = STORE_OPEN_NS};

	memcpy(name, shared->name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	stream.name = store_writer_text(drain->writer, name, strlen(name));
	wait_paths_clear(&ring->waits);
	tally_deltas_clear(&ring->tally_deltas);
	kernel_callchains_clear(&ring->callchains);
	*ring = (struct ring){.claim = ring->claim,
		.waits = ring->waits,
		.contexts = {ring->contexts.list, 0, ring->contexts.capacity},
		.texts = {ring->texts.list, 0, ring->texts.capacity},
		.tally_deltas = ring->tally_deltas,
		.callchains = ring->callchains,
		.begin_ns = stream.begin_ns,
		.last_ns = stream.begin_ns,
		.switch_spans = {.known_ns = stream.begin_ns},
		.tid = stream.tid,
		.cpu_begin_ns = shared->cpu_begin_ns};
	ring->stream = store_writer_stream(drain->writer, &stream);
	if (ring->stream == UINT32_MAX)
		return;
	if (stream.thread == 0)
		process->first_stream = ring->stream;
	span = monitored_span(
		ring, STORE_OPEN_NS, monitored_attributes(process, ring, drain->writer, name, 0, 0));
	store_writer_span_open(drain->writer, ring->stream, 0, &span);
}

void drain_process_told(struct measured_process *process, struct store_writer *writer)
{
	for (uint32_t i = 0; i < process->ring_seen; i++) {
		struct ring *ring = &process->rings[i];
		const struct store_stream *stream;
		struct store_record span;
		const char *name;
		size_t size;

		if (ring->stream == UINT32_MAX || ring->stream != process->first_stream)
			continue;
		stream = store_writer_stream_edit(writer, ring->stream);
		name = stream ? store_writer_text_at(writer, stream->name, &size) : NULL;
		span = monitored_span(ring, STORE_OPEN_NS,
			monitored_attributes(process, ring, writer, name ? name : "", 0, 0));
		store_writer_span_open(writer, ring->stream, 0, &span);
	}
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* CPU time of samples whose record was not written yet. */
static uint64_t saved_ns(const struct event_ring *shared, uint64_t lived_ns)
{
	return least(atomic_load(&shared->saved_ns) & ~EVENT_UNPUBLISHED, lived_ns);
}

/* Upper limit of a thread's last weight, as in record/agent/sample/thread.h: a larger rest means that
 * samples did not come. No longer than the thread lived. */
static uint64_t rest_most_ns(
	const struct measured_process *process, const struct event_ring *shared, uint64_t lived_ns)
{
	uint64_t due_ns = atomic_load(&shared->due_ns);
	struct timespec tick = {0};

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return 2 * process->period_ns + TICKS_LATE * (uint64_t)tick.tv_nsec + least(due_ns, lived_ns) +
	       saved_ns(shared, lived_ns);
}

/* The CPU clock up to which samples, losses and pauses account for the thread's time. */
static uint64_t covered_until(const struct ring *ring, const struct event_ring *shared, uint64_t cpu_end_ns)
{
	return ring->cpu_begin_ns + ring->weight_ns + atomic_load(&shared->lost_weight) +
	       paused_cpu_ns(shared, cpu_end_ns);
}

/* A thread that lives to the end of its process has no last record: the CPU time beyond its samples is
 * charged to the last sample's path. */
static void rest_put(struct drain *drain, struct event_ring *shared, uint64_t cpu_end_ns, uint64_t end_ns)
{
	struct measured_process *process = drain->process;
	struct ring *ring = drain->ring;
	uint64_t covered_ns = covered_until(ring, shared, cpu_end_ns);
	struct store_record sample = {
		.begin_ns = end_ns, .end_ns = end_ns, .context = ring->last_context, .what = process->metric};
	uint64_t lived_ns = end_ns > ring->begin_ns ? end_ns - ring->begin_ns : 0;
	uint64_t most_ns = rest_most_ns(process, shared, lived_ns);

	if (!cpu_end_ns) /* it was killed, and its clock was not read */
		cpu_end_ns = covered_ns + saved_ns(shared, lived_ns);
	if (atomic_load(&shared->unsampled) || atomic_load(&shared->end_ns) || cpu_end_ns <= covered_ns ||
		!process->period_ns || ring->is_broken || process->is_discarded)
		return;
	sample.amount = least(cpu_end_ns - covered_ns, most_ns);
	if (atomic_load(&shared->saved_ns) & EVENT_UNPUBLISHED)
		sample.context = drain_context_reserved(drain,
			shared->start_routine ? EVENT_NODE_PARTIAL_THREAD : EVENT_NODE_PARTIAL_PROGRAM);
	store_writer_append(drain->writer, ring->stream, STORE_SAMPLES, &sample, 1);
	process->weight_ns += sample.amount;
	process->samples++;
}

static struct store_record unsampled_span(struct drain *drain, struct event_ring *shared, uint64_t end_ns)
{
	const char *why = refusal_text_unsampled(atomic_load(&shared->unsampled));
	struct store_record span = {
		.begin_ns = drain->ring->unsampled_ns, .end_ns = end_ns, .what = STORE_OP_UNMONITORED};
	struct store_bytes text = {0};

	attribute_write(&text, "reason", why);
	if (!text.failed)
		span.attributes = store_writer_text(drain->writer, (const char *)text.data, text.size);
	store_bytes_fini(&text);
	return span;
}

void drain_unsampled_open(struct drain *drain, struct event_ring *shared)
{
	uint32_t reason = atomic_load_explicit(&shared->unsampled, memory_order_acquire);
	struct store_record span;

	if (!reason)
		return;
	drain->ring->unsampled_ns =
		later(drain_credible(drain, atomic_load(&shared->unsampled_ns)), drain->ring->begin_ns);
	drain->process->unsampled_threads++;
	drain->process->unsampled_reason = reason;
	span = unsampled_span(drain, shared, STORE_OPEN_NS);
	store_writer_span_open(drain->writer, drain->ring->stream, UNSAMPLED_HANDLE, &span);
}

static void unsampled_close(struct drain *drain, struct event_ring *shared, uint64_t end_ns)
{
	struct store_record span;

	if (!drain->ring->unsampled_ns)
		drain_unsampled_open(drain, shared);
	if (!drain->ring->unsampled_ns)
		return;
	span = unsampled_span(drain, shared, end_ns);
	store_writer_span_close(
		drain->writer, drain->ring->stream, UNSAMPLED_HANDLE, end_ns > span.begin_ns ? &span : NULL);
}

/* The weights of a thread that is sampled add up to its CPU clock. Where the clock went on without them its
 * signals did not come, and since the last one nobody knows what it did. */
static void missed_note(
	struct drain *drain, struct event_ring *shared, uint64_t cpu_end_ns, uint64_t end_ns)
{
	const struct measured_process *process = drain->process;
	const struct ring *ring = drain->ring;
	uint64_t covered_ns = covered_until(ring, shared, cpu_end_ns), since_ns;

	if (!cpu_end_ns || !process->period_ns || process->is_outside || process->is_discarded ||
		ring->is_broken || atomic_load(&shared->unsampled))
		return;
	if (!atomic_load(&shared->end_ns)) /* its last record comes from rest_put() */
		covered_ns += rest_most_ns(
			process, shared, end_ns > ring->begin_ns ? end_ns - ring->begin_ns : 0);
	if (cpu_end_ns <= covered_ns + 2 * process->period_ns ||
		cpu_end_ns - covered_ns <= (cpu_end_ns - ring->cpu_begin_ns) / MISSED_SHARE)
		return;
	since_ns = atomic_load(&shared->timer_signal_ns); /* samples ahead of waits need no signal */
	atomic_store(&shared->unsampled_ns, since_ns ? since_ns : later(ring->sampled_ns, ring->begin_ns));
	atomic_store(&shared->unsampled, EVENT_UNSAMPLED_MISSED);
	atomic_fetch_add(&process->shared->threads_unmonitored, 1);
}

void drain_stream_close(struct drain *drain, struct event_ring *shared, uint64_t end_ns)
{
	struct ring *ring = drain->ring;
	struct store_stream *stream = store_writer_stream_edit(drain->writer, ring->stream);
	uint64_t lost = atomic_load(&shared->lost_full) + atomic_load(&shared->lost_reentered) +
			atomic_load(&shared->lost_memory);
	uint64_t cpu_end_ns = atomic_load(&shared->cpu_end_ns);
	struct store_record span;
	size_t size = 0;
	const char *name;

	if (cpu_end_ns > ring->cpu_begin_ns)
		drain->process->cpu_ns += cpu_end_ns - ring->cpu_begin_ns;
	end_ns = later(end_ns, ring->last_ns);
	drain_lock_open(drain, shared, end_ns);
	drain_call_close(drain, shared, end_ns);
	if (ring->waits.shown_ns) { /* its wait never ends */
		span = (struct store_record){.begin_ns = ring->waits.shown_ns,
			.end_ns = end_ns,
			.context = wait_paths_context(&ring->waits, ring->waits.shown_ns, end_ns),
			.what = STORE_OP_BLOCKED};
		wait_paths_put_wait(&ring->waits, drain->writer, ring->stream, &span);
	}
	switch_spans_end(&ring->switch_spans, &ring->waits, drain->writer, ring->stream, end_ns);
	sampling_off_publish(&drain->process->sampling_off, &ring->sampling_off, drain->writer, ring->stream,
		ring->begin_ns, end_ns);
	missed_note(drain, shared, cpu_end_ns, end_ns);
	unsampled_close(drain, shared, end_ns);
	if (lost > ring->lost)
		drain_lost_put(drain, ring->last_ns, end_ns, lost - ring->lost, 0);
	drain_spans_flush(drain);
	if (!stream)
		return;
	rest_put(drain, shared, cpu_end_ns, end_ns);
	stream = store_writer_stream_edit(drain->writer, ring->stream);
	stream->end_ns = end_ns;
	for (int track = 0; track < STORE_TRACK_COUNT; track++)
		stream->complete_ns[track] = STORE_OPEN_NS;
	name = store_writer_text_at(drain->writer, stream->name, &size);
	span = monitored_span(ring, end_ns,
		monitored_attributes(drain->process, ring, drain->writer, name ? name : "", cpu_end_ns,
			paused_cpu_ns(shared, cpu_end_ns)));
	store_writer_span_close(drain->writer, ring->stream, 0, &span);
	ring->stream = UINT32_MAX;
	ring->contexts.count = ring->texts.count = 0;
}
