/* SPDX-License-Identifier: Apache-2.0 */
/* drain.c - see drain.h. */
#include "record/drain.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "record/attributes.h"
#include "record/clock.h"
#include "record/join.h"
#include "record/kernel.h"
#include "record/switches.h"

#define BATCH 256
#define KEPT_BYTES 32768     /* of a ring that waits for its next thread */
#define NODES_MAX (1u << 24) /* of one thread */
#define TEXTS_MAX (1u << 22)

struct event_ring *ring_at(const struct measured *process, uint32_t index)
{
	return (struct event_ring *)((char *)process->shared + process->rings_at +
				     (uint64_t)index * EVENT_RING_STRIDE);
}

/* Samples on their way to the writer. */
struct batch {
	struct store_record record[BATCH];
	size_t count;
};

struct drain {
	struct measured *process;
	struct ring *ring;
	struct store_writer *writer;
	uint32_t host;
	struct batch samples;
	size_t records;
	uint64_t now_ns; /* no time in a record is later: the end of time means "open" in the store */
};

static uint64_t credible(const struct drain *drain, uint64_t time_ns)
{
	return time_ns < drain->now_ns ? time_ns : drain->now_ns;
}

/* Counts what the store does not get. */
static void discard(struct drain *drain, uint64_t count)
{
	struct store_stream *stream = store_writer_stream_edit(drain->writer, drain->ring->stream);

	drain->process->lost += count;
	if (stream)
		stream->lost += count;
}

static void batch_flush(struct drain *drain)
{
	if (drain->process->is_discarded)
		discard(drain, drain->samples.count);
	else
		store_writer_append(drain->writer, drain->ring->stream, STORE_SAMPLES, drain->samples.record,
			drain->samples.count);
	drain->samples.count = 0;
}

static void span_put(struct drain *drain, const struct store_record *record)
{
	if (!drain->process->is_discarded)
		store_writer_append(drain->writer, drain->ring->stream, STORE_SPANS, record, 1);
}

static uint32_t context_partial(struct store_writer *writer, uint32_t root)
{
	return store_writer_context(writer, root, STORE_MODULE_RESERVED, STORE_FRAME_PARTIAL);
}

/* Store context of a node; CONTEXT_NONE for an id the ring never defined. */
static uint32_t context_of(const struct drain *drain, uint32_t node)
{
	switch (node) {
	case EVENT_NODE_PROGRAM_ROOT:
		return STORE_CONTEXT_PROGRAM_ROOT;
	case EVENT_NODE_THREAD_ROOT:
		return STORE_CONTEXT_THREAD_ROOT;
	case EVENT_NODE_PARTIAL_PROGRAM:
		return context_partial(drain->writer, STORE_CONTEXT_PROGRAM_ROOT);
	case EVENT_NODE_PARTIAL_THREAD:
		return context_partial(drain->writer, STORE_CONTEXT_THREAD_ROOT);
	default:
		if (node < EVENT_NODE_FIRST || node - EVENT_NODE_FIRST >= drain->ring->contexts.count)
			return STORE_CONTEXT_NONE;
		return drain->ring->contexts.list[node - EVENT_NODE_FIRST];
	}
}

/* Nodes come with ids that count up; anything else is damage. */
static bool node_take(struct drain *drain, const struct event_node_record *node)
{
	struct ring *ring = drain->ring;
	uint32_t parent = context_of(drain, node->parent), module;
	uint64_t offset = node->offset;

	if (node->h.node != EVENT_NODE_FIRST + ring->contexts.count || !parent)
		return false;
	if (node->module == EVENT_MODULE_RESERVED) {
		module = STORE_MODULE_RESERVED;
		offset = offset < STORE_FRAME_COUNT ? offset : STORE_FRAME_UNKNOWN;
	} else {
		module = modules_find(&drain->process->modules, drain->writer,
			(struct event_module *)((char *)drain->process->shared + EVENT_MODULES_AT),
			node->module, drain->process->pid, drain->process->executable);
		if (module == MODULES_NONE) {
			module = STORE_MODULE_RESERVED;
			offset = STORE_FRAME_UNKNOWN;
		}
	}
	return numbers_add(
		&ring->contexts, store_writer_context(drain->writer, parent, module, offset), NODES_MAX);
}

/* What a counter has come by: a value, not a stretch of time. */
static bool counter_take(struct drain *drain, const struct event_sample *sample, uint64_t time_ns)
{
	struct store_record record = {.begin_ns = time_ns,
		.end_ns = time_ns,
		.amount = sample->weight,
		.context = context_of(drain, sample->h.node)};

	if (sample->metric > drain->process->counter_count)
		return false;
	record.what = drain->process->counters[sample->metric - 1];
	if (drain->process->is_discarded)
		discard(drain, 1);
	else
		store_writer_append(drain->writer, drain->ring->stream, STORE_VALUES, &record, 1);
	return true;
}

static bool value_take(struct drain *drain, const struct event_value *value)
{
	struct event_sample sample = {.h = value->h, .weight = value->value, .metric = value->metric};

	return value->metric && counter_take(drain, &sample, credible(drain, value->time_ns));
}

static void sample_put(struct drain *drain, const struct event_sample *sample, uint64_t time_ns,
	uint64_t weight, const struct hit *hit)
{
	struct store_record *record;
	uint32_t context = context_of(drain, sample->h.node);

	if (hit && hit->depth && context)
		context = kernel_context(drain->writer, context, hit->address, hit->depth);
	if (drain->samples.count == BATCH)
		batch_flush(drain);
	record = &drain->samples.record[drain->samples.count++];
	*record = (struct store_record){.begin_ns = time_ns,
		.end_ns = time_ns,
		.amount = weight,
		.context = context,
		.what = drain->process->metric,
		.flags = sample->h.flags & EVENT_F_EXTENT ? STORE_RECORD_EXTENT : 0};
	drain->process->weight_ns += weight;
}

/* The hits that a sample stands for: those inside one system call come as one signal when it is over. Each
 * gets its part of the weight, at its own time, but not before what readers were told to be complete. */
static void hits_take(struct drain *drain, const struct event_sample *sample, uint64_t time_ns)
{
	struct ring *ring = drain->ring;
	const struct store_stream *stream = store_writer_stream_edit(drain->writer, ring->stream);
	uint64_t known_ns = stream ? stream->complete_ns[STORE_SAMPLES] : 0, part;
	struct hit last = {0};
	uint32_t count;

	switches_read_until(drain->process, time_ns);
	count = hits_until(&ring->hits, time_ns);
	if (count > 1 && sample->h.flags & EVENT_F_SAVED) { /* whose the others were is not known */
		hits_drop(&ring->hits, count - 1);
		count = 1;
	}
	part = count ? sample->weight / count : 0;
	drain->process->shared_hits += count > 1 ? count - 1 : 0;
	for (uint32_t i = 0; i + 1 < count; i++) {
		const struct hit hit = hits_at(&ring->hits, i);

		if (hit.time_ns >= known_ns && hit.time_ns >= ring->last_ns) {
			sample_put(drain, sample, hit.time_ns, part, &hit);
			ring->last_ns = hit.time_ns;
		} else {
			sample_put(drain, sample, time_ns, part, &hit);
		}
	}
	if (count)
		last = hits_at(&ring->hits, count - 1);
	sample_put(drain, sample, time_ns, sample->weight - part * (count ? count - 1 : 0), &last);
	hits_drop(&ring->hits, count);
}

static bool sample_take(struct drain *drain, const struct event_sample *sample)
{
	uint64_t time_ns = credible(drain, sample->time_ns);

	if (!sample->metric && drain->process->trap == EVENT_TRAP_SAMPLES &&
		!(sample->h.flags & (EVENT_F_FIRST | EVENT_F_LAST)))
		hits_take(drain, sample, time_ns);
	else if (!sample->metric)
		sample_put(drain, sample, time_ns, sample->weight, NULL);
	if (time_ns > drain->ring->last_ns)
		drain->ring->last_ns = time_ns;
	return !sample->metric || counter_take(drain, sample, time_ns);
}

/* Texts come with ids that count up from 1. */
static bool text_take(struct drain *drain, const struct event_text *text)
{
	struct ring *ring = drain->ring;

	if (text->id != (uint64_t)ring->texts.count + 1 || text->h.node > text->h.words * 8u - sizeof(*text))
		return false;
	return numbers_add(
		&ring->texts, store_writer_text(drain->writer, text->bytes, text->h.node), TEXTS_MAX);
}

/* Store text of an id in the ring, 0 for none and for an id that it never defined. */
static uint32_t text_of(const struct drain *drain, uint32_t id)
{
	return id && id <= drain->ring->texts.count ? drain->ring->texts.list[id - 1] : 0;
}

/* STORE_OP_NONE: no operation that a program can have. */
static uint32_t operation_of(const struct drain *drain, uint32_t operation)
{
	const char *name;
	size_t size = 0;

	if (!(operation & EVENT_TEXT_BIT))
		return operation < STORE_OP_COUNT ? operation : STORE_OP_NONE;
	name = store_writer_text_at(drain->writer, text_of(drain, operation & ~EVENT_TEXT_BIT), &size);
	return name && size ? store_writer_op(drain->writer, name, size) : STORE_OP_NONE;
}

static struct store_record span_of(const struct drain *drain, const struct event_span *span, uint32_t op)
{
	return (struct store_record){.begin_ns = span->begin_ns,
		.end_ns = span->end_ns,
		.bytes = span->bytes,
		.link = span->link,
		.context = context_of(drain, span->h.node),
		.what = op,
		.attributes = text_of(drain, span->attributes)};
}

/* A wait. The kernel's records tell its parts; without them it is blocked time as a whole. */
static void wait_take(struct drain *drain, const struct store_record *wait)
{
	struct ring *ring = drain->ring;

	if (switches_cover(drain->process->switches, ring->tid))
		waits_add(&ring->waits, wait->begin_ns, wait->end_ns, wait->context);
	else if (!drain->process->is_discarded)
		waits_put_wait(&ring->waits, drain->writer, ring->stream, wait);
}

/* Spans with impossible times or operations are passed over. An open span's handle is its id: 0 is the
 * `monitored` span's. */
static bool span_take(struct drain *drain, const struct event_span *span)
{
	uint32_t op = operation_of(drain, span->operation);
	bool is_open = span->h.type == EVENT_OPEN;
	struct store_record record = span_of(drain, span, op);

	if (op == STORE_OP_NONE || span->begin_ns > drain->now_ns ||
		(!is_open && (span->end_ns < span->begin_ns || span->end_ns > drain->now_ns)) ||
		(span->h.type != EVENT_SPAN && !span->link))
		return true;
	if (op == STORE_OP_BLOCKED && span->h.type == EVENT_SPAN && span->begin_ns == span->end_ns) {
		waits_return(&drain->ring->waits, span->end_ns, record.context);
		return true;
	}
	if (op == STORE_OP_BLOCKED && span->h.type == EVENT_SPAN) {
		wait_take(drain, &record);
		return true;
	}
	if (span->h.type == EVENT_SPAN) {
		span_put(drain, &record);
		return true;
	}
	record.link = 0;
	record.end_ns = is_open ? STORE_OPEN_NS : span->end_ns;
	if (is_open)
		store_writer_span_open(drain->writer, drain->ring->stream, span->link, &record);
	else
		store_writer_span_close(drain->writer, drain->ring->stream, span->link, &record);
	return true;
}

static void lost_put(struct drain *drain, uint64_t begin_ns, uint64_t end_ns, uint64_t count)
{
	struct store_stream *stream = store_writer_stream_edit(drain->writer, drain->ring->stream);

	drain->ring->lost += count;
	drain->process->lost += count;
	if (stream)
		stream->lost += count;
	span_put(drain, &(struct store_record){.begin_ns = begin_ns,
				.end_ns = end_ns > begin_ns ? end_ns : begin_ns,
				.amount = count,
				.what = STORE_OP_LOST});
}

static bool lost_take(struct drain *drain, const struct event_lost *lost)
{
	lost_put(drain, credible(drain, lost->begin_ns), credible(drain, lost->end_ns), lost->count);
	return true;
}

static bool name_take(struct drain *drain, const struct event_text *text)
{
	size_t room = text->h.words * 8u - sizeof(*text);
	struct store_stream *stream = store_writer_stream_edit(drain->writer, drain->ring->stream);

	if (text->h.node > room)
		return false;
	if (stream)
		stream->name =
			store_writer_text(drain->writer, text->bytes, strnlen(text->bytes, text->h.node));
	return true;
}

static bool fork_take(struct drain *drain, const struct event_fork *fork)
{
	struct measured *process = drain->process;

	if (fork->kind == EVENT_FORK_EXEC)
		return true;
	if (fork->kind == EVENT_FORK_EXEC_UNMONITORED) {
		process->unmonitored_ns = credible(drain, fork->time_ns);
		return true;
	}
	if (process->child_count == process->child_room) {
		uint32_t room = process->child_room ? 2 * process->child_room : 16;
		struct measured_child *grown = realloc(process->children, room * sizeof(*grown));

		if (!grown)
			return true;
		process->children = grown;
		process->child_room = room;
	}
	process->children[process->child_count++] =
		(struct measured_child){fork->child_pid, fork->kind, credible(drain, fork->time_ns)};
	return true;
}

/* The call is a span of the thread; the join knows it from here on. */
static bool launch_take(struct drain *drain, const struct event_launch *launch)
{
	struct store_record span = {.begin_ns = credible(drain, launch->begin_ns),
		.end_ns = credible(drain, launch->end_ns),
		.context = context_of(drain, launch->h.node),
		.what = STORE_OP_LAUNCH};

	if (span.end_ns < span.begin_ns)
		span.end_ns = span.begin_ns;
	span.link = join_launch(drain->process, launch->correlation, drain->ring->stream, &span);
	span_put(drain, &span);
	return true;
}

/* One record, its length checked; false: it makes no sense. */
static bool record_take(void *context, const struct event_header *h)
{
	struct drain *drain = context;

	drain->records++;
	switch (h->type) {
	case EVENT_NODE:
		return node_take(drain, (const void *)h);
	case EVENT_SAMPLE:
		return sample_take(drain, (const void *)h);
	case EVENT_VALUE:
		return value_take(drain, (const void *)h);
	case EVENT_SPAN:
	case EVENT_OPEN:
	case EVENT_CLOSE:
		return span_take(drain, (const void *)h);
	case EVENT_LOST:
		return lost_take(drain, (const void *)h);
	case EVENT_NAME:
		return name_take(drain, (const void *)h);
	case EVENT_TEXT:
		return text_take(drain, (const void *)h);
	case EVENT_FORK:
		return fork_take(drain, (const void *)h);
	case EVENT_LAUNCH:
		return launch_take(drain, (const void *)h);
	default:
		return true;
	}
}

/* What the `monitored` span says; the same at its begin and, with the clock's end, at its end. */
static uint32_t monitored_attributes(const struct measured *process, const struct ring *ring,
	struct store_writer *writer, const char *name, uint64_t cpu_end_ns, uint64_t cpu_paused_ns)
{
	struct store_bytes text = {0};
	uint32_t id = 0;

	if (*name)
		attribute_put(&text, "name", name);
	attribute_put(&text, "command", process->command);
	attribute_put(&text, "metric", process->metric_name);
	attribute_put_number(&text, "period_ns", process->period_ns);
	attribute_put_number(&text, "cpu_begin_ns", ring->cpu_begin_ns);
	if (cpu_end_ns)
		attribute_put_number(&text, "cpu_end_ns", cpu_end_ns);
	if (cpu_paused_ns)
		attribute_put_number(&text, "cpu_paused_ns", cpu_paused_ns);
	if (process->rank >= 0)
		attribute_put(&text, "rank_from",
			atomic_load(&process->shared->rank_known) ? "MPI_Comm_rank" : "environment");
	attribute_put_number(&text, "switches", switches_cover(process->switches, ring->tid));
	if (!text.failed)
		id = store_writer_text(writer, (const char *)text.data, text.size);
	store_bytes_fini(&text);
	return id;
}

/* Of the thread's clock from its begin to cpu_end_ns, what passed while sampling was off. */
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

static void stream_open(struct drain *drain, struct event_ring *shared)
{
	struct measured *process = drain->process;
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
		.begin_ns = credible(drain, shared->begin_ns),
		.end_ns = STORE_OPEN_NS};

	memcpy(name, shared->name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	stream.name = store_writer_text(drain->writer, name, strlen(name));
	waits_clear(&ring->waits);
	tallies_clear(&ring->tallies);
	hits_clear(&ring->hits);
	*ring = (struct ring){.claim = ring->claim,
		.waits = ring->waits,
		.contexts = {ring->contexts.list, 0, ring->contexts.room},
		.texts = {ring->texts.list, 0, ring->texts.room},
		.tallies = ring->tallies,
		.hits = ring->hits,
		.begin_ns = stream.begin_ns,
		.last_ns = stream.begin_ns,
		.line = {.known_ns = stream.begin_ns},
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

/* Counters of the thread: into the process's totals and, what readers show, into the stream. */
static void counters_take(struct drain *drain, struct event_ring *shared)
{
	struct measured *process = drain->process;
	struct ring *ring = drain->ring;
	uint64_t now[] = {atomic_load(&shared->signals), atomic_load(&shared->overruns),
		atomic_load(&shared->samples), atomic_load(&shared->partial), atomic_load(&shared->errant),
		atomic_load(&shared->handler_ns), atomic_load(&shared->counts)};
	uint64_t *last[] = {&ring->signals, &ring->overruns, &ring->samples, &ring->partial, &ring->errant,
		&ring->handler_ns, &ring->counts};
	uint64_t *total[] = {&process->signals, &process->overruns, &process->samples, &process->partial,
		&process->errant, &process->handler_ns, &process->counts};

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

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void stream_close(struct drain *drain, struct event_ring *shared, uint64_t end_ns)
{
	struct ring *ring = drain->ring;
	struct store_stream *stream = store_writer_stream_edit(drain->writer, ring->stream);
	uint64_t lost = atomic_load(&shared->lost_full) + atomic_load(&shared->lost_nested) +
			atomic_load(&shared->lost_memory);
	uint64_t cpu_end_ns = atomic_load(&shared->cpu_end_ns);
	struct store_record span;
	size_t size = 0;
	const char *name;

	if (cpu_end_ns > ring->cpu_begin_ns)
		drain->process->cpu_ns += cpu_end_ns - ring->cpu_begin_ns;
	end_ns = later(end_ns, ring->last_ns);
	if (ring->waits.shown_ns) { /* it waits for ever */
		span = (struct store_record){.begin_ns = ring->waits.shown_ns,
			.end_ns = end_ns,
			.context = waits_context(&ring->waits, ring->waits.shown_ns),
			.what = STORE_OP_BLOCKED};
		waits_put_wait(&ring->waits, drain->writer, ring->stream, &span);
	}
	switch_line_end(&ring->line, &ring->waits, drain->writer, ring->stream, end_ns);
	pauses_tell(
		&drain->process->pauses, &ring->pause, drain->writer, ring->stream, ring->begin_ns, end_ns);
	if (lost > ring->lost)
		lost_put(drain, ring->last_ns, end_ns, lost - ring->lost);
	if (!stream)
		return;
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

static void tally_put(void *context, uint32_t node, uint32_t metric, uint64_t more)
{
	struct drain *drain = context;

	if (metric)
		counter_take(drain, &(struct event_sample){.h.node = node, .metric = metric, .weight = more},
			drain->now_ns);
	drain->records++;
}

/* What was tallied until the head was read, as values of now, or of the end if that was before. */
static void tallies_take(struct drain *drain, struct event_ring *shared, uint32_t index, uint32_t count)
{
	const struct measured *process = drain->process;
	uint64_t end_ns = atomic_load(&shared->end_ns);

	if (!count || !process->tallies_at || drain->ring->stream == UINT32_MAX)
		return;
	if (!end_ns && atomic_load(&process->shared->ended))
		end_ns = atomic_load(&process->shared->end_ns);
	drain->now_ns = clock_now_ns();
	if (end_ns >= drain->ring->begin_ns && end_ns < drain->now_ns)
		drain->now_ns = end_ns;
	tallies_walk(&drain->ring->tallies,
		(struct event_tally *)((char *)process->shared + process->tallies_at) +
			(size_t)index * EVENT_TALLY_MAX,
		count, tally_put, drain);
}

size_t ring_drain(struct measured *process, uint32_t index, struct store_writer *writer, uint32_t host)
{
	struct event_ring *shared = ring_at(process, index);
	struct drain drain = {
		.process = process, .ring = &process->rings[index], .writer = writer, .host = host};
	uint32_t state = atomic_load_explicit(&shared->state, memory_order_acquire);
	/* Ahead of the head: a wait that is over now is in the ring. */
	uint64_t since_ns = atomic_load_explicit(&shared->wait_begin_ns, memory_order_acquire);
	/* Likewise: their nodes are in the ring. */
	uint32_t tally_count = atomic_load_explicit(&shared->tally_count, memory_order_acquire);
	uint64_t head = atomic_load_explicit(&shared->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&shared->tail, memory_order_relaxed);

	waits_look(&drain.ring->waits, since_ns);
	if (state == EVENT_RING_FREE)
		return 0;
	if (head == tail && state != EVENT_RING_ENDED) {
		tallies_take(&drain, shared, index, tally_count);
		return drain.records;
	}
	drain.now_ns = clock_now_ns();
	if (drain.ring->stream == UINT32_MAX && head != tail) {
		drain.ring->claim = shared->claim;
		stream_open(&drain, shared);
	}
	if (head - tail > process->fullest_bytes)
		process->fullest_bytes = head - tail;
	if (head - tail > EVENT_RING_DATA || (head | tail) % sizeof(uint64_t))
		drain.ring->is_broken = true;
	if (drain.ring->stream == UINT32_MAX || drain.ring->is_broken)
		tail = head;
	else
		tail = records_walk((const uint8_t *)shared + EVENT_RING_HEADER, EVENT_RING_DATA, tail, head,
			record_take, &drain, &drain.ring->is_broken);
	if (drain.ring->stream != UINT32_MAX) {
		batch_flush(&drain);
		counters_take(&drain, shared);
		tallies_take(&drain, shared, index, tally_count);
	}
	drain.ring->taken_bytes += tail - atomic_load_explicit(&shared->tail, memory_order_relaxed);
	atomic_store_explicit(&shared->tail, tail, memory_order_release);
	if (state == EVENT_RING_ENDED && tail == atomic_load_explicit(&shared->head, memory_order_acquire)) {
		drain.ring->has_ended = true;
		drain.ring->end_ns = credible(&drain, atomic_load(&shared->end_ns));
		if (drain.ring->taken_bytes > KEPT_BYTES)
			madvise((char *)shared + EVENT_RING_HEADER, EVENT_RING_DATA, MADV_REMOVE);
		drain.ring->taken_bytes = 0;
	}
	return drain.records;
}

void ring_pauses(struct measured *process, uint32_t index, struct store_writer *writer)
{
	struct ring *ring = &process->rings[index];

	if (ring->stream != UINT32_MAX)
		pauses_tell(&process->pauses, &ring->pause, writer, ring->stream, ring->begin_ns,
			ring->has_ended ? ring->end_ns : UINT64_MAX);
}

void ring_release(struct measured *process, uint32_t index, struct store_writer *writer)
{
	struct drain drain = {.process = process, .ring = &process->rings[index], .writer = writer};
	struct event_ring *shared = ring_at(process, index);

	if (!drain.ring->has_ended)
		return;
	drain.ring->has_ended = false;
	switches_thread_end(process->switches, shared->tid);
	if (drain.ring->stream != UINT32_MAX)
		stream_close(&drain, shared, drain.ring->end_ns);
	atomic_store_explicit(&shared->state, EVENT_RING_FREE, memory_order_release);
}

void ring_close(struct measured *process, uint32_t index, struct store_writer *writer, uint64_t end_ns)
{
	struct drain drain = {.process = process, .ring = &process->rings[index], .writer = writer};

	if (drain.ring->stream != UINT32_MAX)
		stream_close(&drain, ring_at(process, index), end_ns);
}
