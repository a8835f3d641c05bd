/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switches.c - see switches.h. Reads all rings, sorts the records by thread and time, and takes them thread
 * by thread: switches become spans, and samples inside the kernel go to their thread.
 */
#include "record/process/switches_internal.h"

#include <stdlib.h>
#include <string.h>

#include "record/base/clock.h"
#include "record/kernel/switch_order.h"
#include "record/process/drain.h"
#include "record/process/switch_reader.h"

#define MARGIN_NS UINT64_C(2000000)	/* the kernel may be delayed before it publishes */
#define CALLCHAIN_NS UINT64_C(1000000)	/* between a switch and its record */
#define READ_AGAIN 2048u		/* records: they take the collector about a millisecond */
#define STRANGER_NS UINT64_C(200000000) /* how long an unknown thread may still register */

/* ---- which thread is whose ---- */

static struct tid_slot *slot_of(const struct switches *switches, uint32_t tid)
{
	uint32_t mask = switches->slot_count - 1, at = tid * 2654435761u & mask;

	while (switches->slots[at].ring && switches->slots[at].tid != tid)
		at = (at + 1) & mask;
	return &switches->slots[at];
}

/* Rebuilt for each pass with events, since rings are claimed and freed. */
static bool slots_fill(struct switches *switches, const struct measured_process *process)
{
	uint32_t wanted = 64;

	while (wanted < 2 * process->ring_seen)
		wanted *= 2;
	if (wanted > switches->slot_count) {
		free(switches->slots);
		switches->slot_count = 0;
		switches->slots = malloc(wanted * sizeof(*switches->slots));
		if (!switches->slots)
			return false;
		switches->slot_count = wanted;
	}
	memset(switches->slots, 0, switches->slot_count * sizeof(*switches->slots));
	for (uint32_t i = 0; i < process->ring_seen; i++)
		if (process->rings[i].stream != UINT32_MAX)
			*slot_of(switches, process->rings[i].tid) =
				(struct tid_slot){process->rings[i].tid, i + 1};
	return true;
}

static struct ring *thread_find(
	const struct switches *switches, struct measured_process *process, uint32_t tid)
{
	const struct tid_slot *slot = slot_of(switches, tid);

	return slot->ring ? &process->rings[slot->ring - 1] : NULL;
}

/* ---- kernel call chains ---- */

/* Gives each to its thread; keeps those of unknown threads, which may still register. */
static void callchains_hand_out(struct measured_process *process)
{
	struct switches *switches = process->switches;
	struct kernel_callchains *waiting = &switches->callchains;
	struct kernel_callchains strangers = {0};

	if (!kernel_callchains_count(waiting) || !slots_fill(switches, process))
		return;
	for (uint32_t i = 0; i < kernel_callchains_count(waiting); i++) {
		const struct kernel_callchain callchain = kernel_callchains_at(waiting, i);
		struct ring *ring = thread_find(switches, process, callchain.tid);

		if (ring)
			kernel_callchains_add(&ring->callchains, &callchain);
		else if (callchain.time_ns + STRANGER_NS > switches->read_ns)
			kernel_callchains_add(&strangers, &callchain);
	}
	kernel_callchains_clear(waiting);
	for (uint32_t i = 0; i < kernel_callchains_count(&strangers); i++) {
		const struct kernel_callchain callchain = kernel_callchains_at(&strangers, i);

		kernel_callchains_add(waiting, &callchain);
	}
	kernel_callchains_fini(&strangers);
}

void switches_ring_read(struct switches *switches, struct process_ring *ring)
{
	size_t before = switches->fresh.count;

	switches->records += perf_ring_read(&ring->perf, &switches->fresh);
	switches->read += switches->fresh.count - before;
}

/* Records that the reader has read since the last pass count as read now. */
static size_t rings_read(struct measured_process *process)
{
	struct switches *switches = process->switches;
	size_t records;

	switch_reader_lock();
	switches->read_ns = clock_now_ns();
	for (uint32_t i = 0; i < switches->count; i++)
		switches_ring_read(switches, &switches->rings[i]);
	callchains_hand_out(process);
	records = switches->records;
	switches->behind = switches->fresh.count;
	process->switches_read += switches->read;
	switches->records = switches->read = 0;
	switch_reader_unlock();
	return records;
}

void switches_read_until(struct measured_process *process, uint64_t time_ns)
{
	if (process->switches && time_ns >= process->switches->read_ns)
		rings_read(process);
}

/* The kernel call chain of a span that began then. A later one belongs to the next span. */
static struct kernel_callchain callchain_of(const struct measured_process *process, const struct ring *ring,
	const struct store_record *span, uint32_t *count)
{
	struct kernel_callchain last = {0};

	*count = process->trap == EVENT_TRAP_WAITS
			 ? kernel_callchains_until(&ring->callchains, span->begin_ns)
			 : 0;
	if (*count)
		last = kernel_callchains_at(&ring->callchains, *count - 1);
	return *count && span->what == STORE_OP_BLOCKED && span->begin_ns - last.time_ns < CALLCHAIN_NS
		       ? last
		       : (struct kernel_callchain){0};
}

/* ---- records to spans ---- */

/* UINT64_MAX: not known yet. */
static uint64_t end_of(const struct measured_process *process, const struct ring *ring)
{
	uint64_t end_ns = ring->end_ns ? ring->end_ns : process->end_ns;

	return end_ns ? end_ns : UINT64_MAX;
}

static void lost_put(struct measured_process *process, struct store_writer *writer, struct ring *ring,
	uint64_t begin_ns, uint64_t end_ns, uint64_t count)
{
	struct store_record span = {.begin_ns = begin_ns > ring->begin_ns ? begin_ns : ring->begin_ns,
		.amount = count,
		.what = STORE_OP_LOST};
	struct store_stream *stream = store_writer_stream_edit(writer, ring->stream);

	end_ns = end_ns < end_of(process, ring) ? end_ns : end_of(process, ring);
	span.end_ns = end_ns > span.begin_ns ? end_ns : span.begin_ns;
	process->switches_lost += count;
	if (stream)
		stream->lost += count;
	store_writer_append(writer, ring->stream, STORE_SPANS, &span, 1);
}

/* With EVENT_TRAP_WAITS several waits inside one system call have one return: that of the last. If only
 * faults trap, a return after the next wait belongs to that wait. */
static uint64_t return_until(const struct measured_process *process, const struct switch_event *event)
{
	const struct switch_events *waiting = &process->switches->waiting;
	const struct switch_event *next = event + 1, *end = waiting->events + waiting->count;

	if (process->trap == EVENT_TRAP_WAITS)
		return UINT64_MAX;
	while (next < end && next->tid == event->tid && next->kind != SWITCH_OUT)
		next++;
	return next < end && next->tid == event->tid ? next->time_ns : UINT64_MAX;
}

/* The thread existed before the rings. */
static bool is_before_rings(const struct switches *switches, uint32_t tid, uint64_t time_ns)
{
	for (uint32_t i = 0; i < switches->count; i++)
		if ((!switches->rings[i].tid || switches->rings[i].tid == tid) &&
			time_ns < switches->rings[i].since_ns)
			return true;
	return false;
}

/* A killed thread is woken only to die: its wait lasted to its end. Known for waits that were unfinished
 * or unwound remotely, and that nothing followed. */
static bool is_woken_to_die(
	const struct measured_process *process, const struct ring *ring, const struct switch_event *event)
{
	const struct switch_events *waiting = &process->switches->waiting;
	const struct switch_event *next = event + 1, *end = waiting->events + waiting->count;
	const struct wait_paths *waits = &ring->waits;
	uint64_t out_ns = ring->switch_spans.out_ns;
	bool is_waiting = (waits->since_ns && waits->since_ns <= out_ns) ||
			  (waits->remote_context && waits->remote_ns == out_ns);

	if (!process->end_ns || atomic_load(&process->shared->ended) || event->kind != SWITCH_IN || !out_ns ||
		ring->switch_spans.what != STORE_OP_BLOCKED || !is_waiting || ring->last_ns >= event->time_ns)
		return false;
	while (next < end && next->tid == event->tid && next->kind != SWITCH_OUT)
		next++; /* preempted on its way */
	return next == end || next->tid != event->tid;
}

/* `event` is one of `waiting`. */
static void event_take(struct measured_process *process, struct store_writer *writer, struct ring *ring,
	const struct switch_event *event)
{
	struct store_record span;
	uint64_t until_ns = UINT64_MAX;
	struct kernel_callchain callchain;
	uint32_t callchains;

	ring->is_dying |= is_woken_to_die(process, ring, event);
	if (ring->is_dying || event->time_ns < ring->begin_ns || event->time_ns >= end_of(process, ring) ||
		!switch_spans_take(&ring->switch_spans, event, &span))
		return;
	if (span.what == STORE_OP_LOST && is_before_rings(process->switches, event->tid, span.begin_ns))
		return;
	if (span.what == STORE_OP_LOST) {
		lost_put(process, writer, ring, span.begin_ns, span.end_ns,
			process->switches->has_losses ? 0 : 1);
		return;
	}
	if (span.end_ns > ring->last_ns)
		ring->last_ns = span.end_ns;
	callchain = callchain_of(process, ring, &span, &callchains);
	if (span.what == STORE_OP_BLOCKED) /* a preempted thread has no next wait to search for */
		until_ns = return_until(process, event);
	switch_spans_put(
		&ring->switch_spans, &ring->waits, writer, ring->stream, &span, &callchain, until_ns);
	kernel_callchains_drop(&ring->callchains, callchains);
}

/* The kernel dropped records of one processor, for unknown threads, or of one thread: the count goes to
 * the first stream, the time to all. */
static void losses_take(
	struct measured_process *process, struct store_writer *writer, struct process_ring *from)
{
	struct perf_ring told;
	struct store_stream *stream;
	uint64_t count;

	switch_reader_lock();
	told = from->perf;
	from->perf.lost = 0;
	switch_reader_unlock();
	count = told.lost;
	if (!count)
		return;
	process->switches->has_losses = true;
	for (uint32_t i = 0; i < process->ring_seen; i++) {
		struct ring *ring = &process->rings[i];

		if (ring->stream == UINT32_MAX || (from->tid && from->tid != ring->tid) ||
			told.lost_end_ns < ring->begin_ns || told.lost_begin_ns >= end_of(process, ring))
			continue;
		lost_put(process, writer, ring, told.lost_begin_ns, told.lost_end_ns, count);
		count = 0;
	}
	/* No thread is known. */
	process->switches_lost += count;
	stream = store_writer_stream_edit(writer, process->first_stream);
	if (stream)
		stream->lost += count;
}

/* Appends the fresh records to the waiting ones. False: no memory. */
static bool fresh_move(struct switch_events *waiting, struct switch_events *fresh)
{
	if (!switch_events_reserve(waiting, fresh->count))
		return false;
	memcpy(waiting->events + waiting->count, fresh->events, fresh->count * sizeof(*fresh->events));
	waiting->count += fresh->count;
	fresh->count = 0;
	return true;
}

static bool fresh_take(struct switches *switches)
{
	struct switch_events *waiting = &switches->waiting;
	size_t before = waiting->count;
	bool is_moved;

	switch_reader_lock();
	is_moved = !switches->fresh.count || fresh_move(waiting, &switches->fresh);
	switches->behind = switches->fresh.count;
	switch_reader_unlock();
	if (!is_moved || waiting->count == before)
		return is_moved; /* already sorted */
	return switch_events_order(waiting, &switches->scratch);
}

/* Takes records older than `known_ns`, and all of ended threads; the rest moves to the front and waits.
 * The rings fill meanwhile. */
static void events_take(struct measured_process *process, struct store_writer *writer, uint64_t known_ns)
{
	struct switches *switches = process->switches;
	struct switch_events *waiting = &switches->waiting;
	struct ring *ring = NULL;
	uint32_t tid = 0;
	size_t kept = 0;

	for (size_t i = 0; i < waiting->count; i++) {
		const struct switch_event event = waiting->events[i];

		if (i % READ_AGAIN == READ_AGAIN - 1 && switches->behind < SWITCHES_FRESH_MAX)
			rings_read(process);
		if (event.tid != tid)
			ring = thread_find(process->switches, process, event.tid);
		tid = event.tid;
		if (ring && (event.time_ns < known_ns || ring->has_ended))
			event_take(process, writer, ring, &waiting->events[i]);
		else if (ring || event.time_ns + STRANGER_NS > known_ns)
			waiting->events[kept++] = event;
	}
	waiting->count = known_ns == UINT64_MAX ? 0 : kept;
}

/* Waits that have ended since the last pass give held spans their path. */
static void waits_decide(struct measured_process *process, struct store_writer *writer, uint64_t known_ns)
{
	for (uint32_t i = 0; i < process->ring_seen; i++) {
		struct ring *ring = &process->rings[i];
		uint64_t out_ns = ring->switch_spans.out_ns;

		if (ring->stream != UINT32_MAX)
			wait_paths_settle(&ring->waits, writer, ring->stream,
				out_ns && out_ns < known_ns ? out_ns : known_ns);
	}
}

static void waiting_take(struct measured_process *process, struct store_writer *writer, uint64_t known_ns)
{
	struct switches *switches = process->switches;

	for (uint32_t i = 0; i < switches->count; i++)
		losses_take(process, writer, &switches->rings[i]);
	if (fresh_take(switches) && switches->waiting.count && slots_fill(switches, process))
		events_take(process, writer, known_ns);
}

size_t switches_drain(struct measured_process *process, struct store_writer *writer, uint64_t now_ns)
{
	struct switches *switches = process->switches;
	uint64_t known_ns = now_ns == UINT64_MAX || now_ns < MARGIN_NS ? now_ns : now_ns - MARGIN_NS;
	size_t records = 0;

	if (!switches)
		return 0;
	records = rings_read(process);
	switches_resume(process);
	waiting_take(process, writer, known_ns);
	waits_decide(process, writer, known_ns);
	/* A burst: more records wait than the rings' fill levels show. */
	if (switches->behind > (switch_reader_is_there() ? SWITCHES_FRESH_MAX / 16 : 0))
		process->fullest_bytes = EVENT_RING_DATA;
	return records;
}
