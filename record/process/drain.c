/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain.c - see drain.h. One drain: takes the records (drain_take.c), reads the ring's counters, and, when
 * the thread has ended, frees the ring once its switch records are taken.
 */
#include "record/process/drain_internal.h"

#include <sys/mman.h>

#include "record/base/clock.h"
#include "record/process/switches.h"

#define KEPT_BYTES 32768 /* left resident in a free ring */

struct event_ring *ring_at(const struct measured_process *process, uint32_t index)
{
	return (struct event_ring *)((char *)process->shared + process->rings_at +
				     (uint64_t)index * EVENT_RING_STRIDE);
}

/* Adds the thread's counters to the process's totals and writes the visible ones to the stream. */
static void counters_take(struct drain *drain, struct event_ring *shared)
{
	struct measured_process *process = drain->process;
	struct ring *ring = drain->ring;
	uint64_t now[] = {atomic_load(&shared->signals), atomic_load(&shared->overruns),
		atomic_load(&shared->samples), atomic_load(&shared->partial),
		atomic_load(&shared->unwind_faults), atomic_load(&shared->handler_ns),
		atomic_load(&shared->counts), atomic_load(&shared->values_enabled_ns),
		atomic_load(&shared->values_running_ns)};
	uint64_t *last[] = {&ring->signals, &ring->overruns, &ring->samples, &ring->partial,
		&ring->unwind_faults, &ring->handler_ns, &ring->counts, &ring->values_enabled_ns,
		&ring->values_running_ns};
	uint64_t *total[] = {&process->signals, &process->overruns, &process->samples, &process->partial,
		&process->unwind_faults, &process->handler_ns, &process->counts, &process->values_enabled_ns,
		&process->values_running_ns};

	if (now[3] != ring->partial) {
		struct store_stream *stream = store_writer_stream_edit(drain->writer, ring->stream);

		if (stream)
			stream->partial = now[3];
	}
	for (unsigned i = 0; i < sizeof(now) / sizeof(now[0]); i++) {
		*total[i] += now[i] - *last[i];
		*last[i] = now[i];
	}
}

static void tally_put(void *context, uint32_t node, uint32_t metric, uint64_t more)
{
	struct drain *drain = context;

	if (metric)
		drain_counter_take(drain,
			&(struct event_sample){.h.node = node, .metric = metric, .weight = more},
			drain->now_ns);
	drain->records++;
}

/* Writes tallies made before the head was read, as values at the current time, or at the thread's end if
 * earlier. */
static void tallies_take(struct drain *drain, struct event_ring *shared, uint32_t index, uint32_t count)
{
	const struct measured_process *process = drain->process;
	uint64_t end_ns = atomic_load(&shared->end_ns);

	if (!count || !process->tallies_at || drain->ring->stream == UINT32_MAX)
		return;
	if (!end_ns && atomic_load(&process->shared->ended))
		end_ns = atomic_load(&process->shared->end_ns);
	drain->now_ns = clock_now_ns();
	if (end_ns >= drain->ring->begin_ns && end_ns < drain->now_ns)
		drain->now_ns = end_ns;
	tally_deltas_walk(&drain->ring->tally_deltas,
		(struct event_tally *)((char *)process->shared + process->tallies_at) +
			(size_t)index * EVENT_TALLY_MAX,
		count, tally_put, drain);
}

/* Takes the records up to `head`; a claim's first one opens its stream. Returns the new tail. */
static uint64_t records_take_until(
	struct drain *drain, struct event_ring *shared, uint64_t tail, uint64_t head)
{
	struct ring *ring = drain->ring;

	if (ring->stream == UINT32_MAX && head != tail) {
		ring->claim = shared->claim;
		drain_stream_open(drain, shared);
	}
	if (head - tail > EVENT_RING_DATA || (head | tail) % sizeof(uint64_t))
		ring->is_broken = true;
	else if (head - tail > drain->process->fullest_bytes)
		drain->process->fullest_bytes = head - tail;
	if (ring->stream == UINT32_MAX || ring->is_broken)
		return head;
	return ring_records_walk((const uint8_t *)shared + EVENT_RING_HEADER, EVENT_RING_DATA, tail, head,
		drain_record_take, drain, &ring->is_broken);
}

/* The thread has ended and all is taken: ring_release does the rest. */
static void end_note(struct drain *drain, struct event_ring *shared)
{
	drain->ring->has_ended = true;
	drain->ring->end_ns = drain_credible(drain, atomic_load(&shared->end_ns));
	if (drain->ring->taken_bytes > KEPT_BYTES)
		madvise((char *)shared + EVENT_RING_HEADER, EVENT_RING_DATA, MADV_REMOVE);
	drain->ring->taken_bytes = 0;
}

static struct drain drain_of(
	struct measured_process *process, uint32_t index, struct store_writer *writer, uint32_t host)
{
	static struct batch samples, spans;

	return (struct drain){.process = process,
		.ring = &process->rings[index],
		.writer = writer,
		.host = host,
		.samples = &samples,
		.spans = &spans};
}

/* The thread told where it waits: its stack need not be looked at, however often it is woken. */
static void wait_take(struct drain *drain, uint64_t since_ns, uint32_t node)
{
	uint32_t context = since_ns && node ? drain_context_of(drain, node) : STORE_CONTEXT_NONE;

	if (context && drain->ring->waits.remote_ns != since_ns)
		wait_paths_remote_put(&drain->ring->waits, since_ns, UINT64_MAX, context);
}

size_t ring_drain(
	struct measured_process *process, uint32_t index, struct store_writer *writer, uint32_t host)
{
	struct event_ring *shared = ring_at(process, index);
	struct drain drain = drain_of(process, index, writer, host);
	uint32_t state = atomic_load_explicit(&shared->state, memory_order_acquire);
	/* Looked at before the head is read: then a wait, or call, that has ended is in the ring. */
	uint64_t since_ns = atomic_load_explicit(&shared->wait_begin_ns, memory_order_acquire);
	uint32_t wait_node = atomic_load_explicit(&shared->wait_node, memory_order_relaxed);
	/* Likewise: then the tallies' nodes are in the ring. */
	uint32_t tally_count = atomic_load_explicit(&shared->tally_count, memory_order_acquire);
	uint64_t head = atomic_load_explicit(&shared->head, memory_order_acquire);
	uint64_t was = atomic_load_explicit(&shared->tail, memory_order_relaxed), tail;

	wait_paths_look(&drain.ring->waits, since_ns);
	if (state == EVENT_RING_FREE)
		return 0;
	drain_call_look(&drain, shared);
	if (head == was && state != EVENT_RING_ENDED) {
		wait_take(&drain, since_ns, wait_node);
		tallies_take(&drain, shared, index, tally_count);
		return drain.records;
	}
	drain.now_ns = clock_now_ns();
	tail = records_take_until(&drain, shared, was, head);
	wait_take(&drain, since_ns, wait_node);
	if (drain.ring->stream != UINT32_MAX) {
		drain_spans_flush(&drain);
		drain_samples_flush(&drain);
		counters_take(&drain, shared);
		tallies_take(&drain, shared, index, tally_count);
	}
	drain.ring->taken_bytes += tail - was;
	atomic_store_explicit(&shared->tail, tail, memory_order_release);
	if (state == EVENT_RING_ENDED && tail == atomic_load_explicit(&shared->head, memory_order_acquire))
		end_note(&drain, shared);
	return drain.records;
}

void ring_sampling_off(struct measured_process *process, uint32_t index, struct store_writer *writer)
{
	struct ring *ring = &process->rings[index];

	if (ring->stream != UINT32_MAX)
		sampling_off_publish(&process->sampling_off, &ring->sampling_off, writer, ring->stream,
			ring->begin_ns, ring->has_ended ? ring->end_ns : UINT64_MAX);
}

void ring_unsampled(struct measured_process *process, uint32_t index, struct store_writer *writer)
{
	struct drain drain = drain_of(process, index, writer, 0);

	if (drain.ring->stream != UINT32_MAX && !drain.ring->unsampled_ns)
		drain_unsampled_open(&drain, ring_at(process, index));
}

/* The main thread's stream says how the process ended: it is closed when that is known. */
static bool tells_end(const struct measured_process *process, const struct ring *ring)
{
	return ring->stream != UINT32_MAX && ring->stream == process->first_stream &&
	       atomic_load(&process->shared->ended) == EVENT_END_EXIT;
}

void ring_release(struct measured_process *process, uint32_t index, struct store_writer *writer)
{
	struct drain drain = drain_of(process, index, writer, 0);
	struct event_ring *shared = ring_at(process, index);

	if (!drain.ring->has_ended || tells_end(process, drain.ring))
		return;
	drain.ring->has_ended = false;
	if (drain.ring->stream != UINT32_MAX) /* while its switches are known to be recorded */
		drain_stream_close(&drain, shared, drain.ring->end_ns);
	switches_thread_end(process->switches, shared->tid);
	atomic_store_explicit(&shared->state, EVENT_RING_FREE, memory_order_release);
}

void ring_close(
	struct measured_process *process, uint32_t index, struct store_writer *writer, uint64_t end_ns)
{
	struct drain drain = drain_of(process, index, writer, 0);

	if (drain.ring->stream == UINT32_MAX)
		return;
	counters_take(&drain, ring_at(process, index)); /* with sampling off it counts, but has no records */
	drain_stream_close(
		&drain, ring_at(process, index), drain.ring->has_ended ? drain.ring->end_ns : end_ns);
}
