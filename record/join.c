/* SPDX-License-Identifier: Apache-2.0 */
/* join.c - see join.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/clock.h"
#include "record/join_state.h"
#include "store/attribute.h"

#define TEXTS_MAX (1u << 22)
#define ATTRIBUTES_MAX 4000u
#define AHEAD_NS UINT64_C(10000000) /* a GPU's clock may be that far ahead of ours */

/* An operation whose launch was not there yet. */
struct waiting {
	struct event_gpu operation;
	uint64_t since_ns;
};

struct join {
	uint64_t head; /* of the activity ring, as join_look found it */
	bool is_broken;
	struct numbers texts;
	struct map attributes; /* of kernels, by name and what the agent said: a text; see attributes_of() */
	uint32_t attributes_since; /* binaries known then */
	struct join_launches launches;
	struct join_queues queues;
	struct waiting *waiting;
	uint32_t waiting_count, waiting_room;
	uint64_t lost; /* of the ring's, told on a stream */
};

/* One drain of it. */
struct joining {
	struct join *join;
	struct measured *process;
	struct store_writer *writer;
	uint32_t host;
	uint64_t now_ns;
	bool is_last; /* nothing comes any more */
	size_t records;
};

static struct join *join_of(struct measured *process)
{
	if (!process->join)
		process->join = calloc(1, sizeof(*process->join));
	return process->join;
}

uint64_t join_launch(
	struct measured *process, uint64_t correlation, uint32_t stream, const struct store_record *call)
{
	static uint64_t links; /* of the one store of this collector */
	struct join *join = correlation ? join_of(process) : NULL;
	struct join_launch launch = {.correlation = correlation,
		.link = links + 1,
		.begin_ns = call->begin_ns,
		.end_ns = call->end_ns,
		.context = call->context,
		.stream = stream};

	if (!join || !join_launches_add(&join->launches, &launch))
		return 0;
	process->gpu_launches++;
	return ++links;
}

/* ---- one operation ---- */

static uint32_t placeholder_of(uint32_t operation)
{
	static const uint8_t frame[STORE_OP_COUNT] = {
		[STORE_OP_KERNEL] = STORE_FRAME_GPU_KERNEL,
		[STORE_OP_COPY] = STORE_FRAME_GPU_COPY,
		[STORE_OP_SET] = STORE_FRAME_GPU_SET,
		[STORE_OP_SYNC] = STORE_FRAME_GPU_SYNC,
		[STORE_OP_ALLOC] = STORE_FRAME_GPU_ALLOC,
		[STORE_OP_FREE] = STORE_FRAME_GPU_FREE,
		[STORE_OP_GRAPH] = STORE_FRAME_GPU_GRAPH,
		[STORE_OP_COMPILE] = STORE_FRAME_GPU_COMPILE,
	};

	return operation < STORE_OP_COUNT ? frame[operation] : 0;
}

/* What the host does itself: it is shown where it was called. */
static bool is_of_host(uint32_t operation)
{
	return operation == STORE_OP_ALLOC || operation == STORE_OP_FREE || operation == STORE_OP_SYNC ||
	       operation == STORE_OP_COMPILE;
}

static uint32_t text_of(const struct join *join, uint32_t id)
{
	return id && id <= join->texts.count ? join->texts.list[id - 1] : 0;
}

/* launching call path ; <gpu kernel> ; name of the kernel */
static uint32_t context_of(
	const struct joining *at, const struct event_gpu *gpu, const struct join_launch *launch)
{
	uint32_t context = launch ? launch->context : STORE_CONTEXT_NONE, name;

	if (context == STORE_CONTEXT_NONE) {
		context = store_writer_context(
			at->writer, STORE_CONTEXT_NONE, STORE_MODULE_RESERVED, STORE_FRAME_GPU_ROOT);
		context =
			store_writer_context(at->writer, context, STORE_MODULE_RESERVED, STORE_FRAME_UNKNOWN);
	}
	context = store_writer_context(
		at->writer, context, STORE_MODULE_RESERVED, placeholder_of(gpu->operation));
	name = text_of(at->join, gpu->name);
	if (name)
		context =
			store_writer_context(at->writer, context, store_writer_text_module(at->writer), name);
	return context;
}

/* Impossible times become the launch's own moment. */
static void times_check(const struct joining *at, struct store_record *span, const struct join_launch *launch)
{
	uint64_t instead_ns = launch ? launch->begin_ns : at->now_ns;

	if (span->begin_ns && span->begin_ns <= span->end_ns && span->end_ns < at->now_ns + AHEAD_NS &&
		span->begin_ns + AHEAD_NS >= at->process->begin_ns)
		return;
	at->process->gpu_untimed++;
	span->begin_ns = span->end_ns = instead_ns;
}

/* An allocation that the runtime reports as a moment (CUDA) took what its call took; of several in one call
 * (static memory of a binary) the first. */
static void call_take(struct store_record *span, const struct join_launch *launch)
{
	bool is_memory = span->what == STORE_OP_ALLOC || span->what == STORE_OP_FREE;

	if (!is_memory || span->begin_ns != span->end_ns || !launch || launch->is_matched)
		return;
	span->begin_ns = launch->begin_ns;
	span->end_ns = launch->end_ns;
}

static uint32_t attributes_with(struct store_writer *writer, uint32_t attributes, uint64_t module)
{
	size_t size = 0;
	const char *said = attributes ? store_writer_text_at(writer, attributes, &size) : "";
	char text[ATTRIBUTES_MAX + 32];
	int length;

	if (size > ATTRIBUTES_MAX || attribute_get(said, size, "module", text, sizeof(text)))
		return attributes;
	length = snprintf(text, sizeof(text), "%.*s%smodule=%016llx", (int)size, said, size ? "," : "",
		(unsigned long long)module);
	return store_writer_text(writer, text, (size_t)length);
}

/* A kernel's attributes, with the binary that it is from where the agent did not know but one alone has it.
 */
static uint32_t attributes_of(const struct joining *at, const struct event_gpu *gpu)
{
	const struct gpu_module_kernels *kernels = &at->process->gpu_kernels;
	uint32_t attributes = text_of(at->join, gpu->attributes), name = text_of(at->join, gpu->name), known;
	struct map_key key = {name, attributes};
	const char *bytes;
	uint64_t module;
	size_t size;

	if (gpu->operation != STORE_OP_KERNEL || !name || !kernels->count)
		return attributes;
	if (at->join->attributes_since != kernels->count)
		map_fini(&at->join->attributes);
	at->join->attributes_since = kernels->count;
	known = map_get(&at->join->attributes, key);
	if (known != MAP_NONE)
		return known;
	bytes = store_writer_text_at(at->writer, name, &size);
	module = bytes ? gpu_module_of(kernels, bytes, size) : 0;
	if (module)
		attributes = attributes_with(at->writer, attributes, module);
	map_put(&at->join->attributes, key, attributes);
	return attributes;
}

static void span_put(const struct joining *at, const struct event_gpu *gpu, struct join_launch *launch)
{
	struct store_record span = {.begin_ns = gpu->begin_ns,
		.end_ns = gpu->end_ns,
		.bytes = gpu->bytes,
		.link = launch ? launch->link : 0,
		.what = gpu->operation,
		.attributes = attributes_of(at, gpu)};
	struct join_queue *queue;
	uint32_t stream = launch ? launch->stream : 0;

	times_check(at, &span, launch);
	call_take(&span, launch);
	span.context = context_of(at, gpu, launch);
	if (!launch || !is_of_host(gpu->operation)) {
		queue = join_queue_find(&at->join->queues, at->process, at->writer, at->host, gpu->device,
			gpu->context, gpu->queue);
		if (!queue)
			return;
		if (span.end_ns > queue->last_ns)
			queue->last_ns = span.end_ns;
		stream = queue->stream;
	}
	if (at->process->is_discarded)
		at->process->lost++;
	else
		store_writer_append(at->writer, stream, STORE_SPANS, &span, 1);
	at->process->gpu_operations++;
	at->process->gpu_unmatched += !launch;
	if (launch)
		launch->is_matched = true;
}

/* The oldest that waits gives up when too many do. */
static void wait_for_launch(struct joining *at, const struct event_gpu *gpu)
{
	struct join *join = at->join;

	if (join->waiting_count == join->waiting_room) {
		uint32_t room = join->waiting_room ? 2 * join->waiting_room : 64;
		struct waiting *wider =
			room <= JOIN_WAITING_MAX ? realloc(join->waiting, room * sizeof(*wider)) : NULL;

		if (!wider) {
			span_put(at, gpu, NULL);
			return;
		}
		join->waiting = wider;
		join->waiting_room = room;
	}
	join->waiting[join->waiting_count++] = (struct waiting){*gpu, at->now_ns};
}

static bool operation_take(struct joining *at, const struct event_gpu *gpu)
{
	struct join_launch *launch = join_launches_find(&at->join->launches, gpu->correlation);

	if (!placeholder_of(gpu->operation))
		return true;
	if (launch || !gpu->correlation || at->is_last)
		span_put(at, gpu, launch);
	else
		wait_for_launch(at, gpu);
	return true;
}

/* Those whose launch has come since, and those that waited long enough. */
static void waiting_look(struct joining *at)
{
	struct join *join = at->join;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < join->waiting_count; i++) {
		const struct waiting waiting = join->waiting[i];
		struct join_launch *launch =
			join_launches_find(&join->launches, waiting.operation.correlation);

		if (!launch && !at->is_last && at->now_ns - waiting.since_ns < JOIN_WAIT_NS)
			join->waiting[kept++] = waiting;
		else
			span_put(at, &waiting.operation, launch);
	}
	join->waiting_count = kept;
}

/* ---- records of the activity ring ---- */

static bool text_take(struct joining *at, const struct event_text *text)
{
	if (text->id != (uint64_t)at->join->texts.count + 1 ||
		text->h.node > text->h.words * 8u - sizeof(*text))
		return false;
	return numbers_add(
		&at->join->texts, store_writer_text(at->writer, text->bytes, text->h.node), TEXTS_MAX);
}

static void queue_take(struct joining *at, const struct event_gpu_queue *said)
{
	struct join_queue *queue = join_queue_find(&at->join->queues, at->process, at->writer, at->host,
		said->device, said->context, said->queue);

	if (queue)
		join_queue_tell(&at->join->queues, at->process, at->writer, queue,
			text_of(at->join, said->name), text_of(at->join, said->attributes));
}

static void device_take(struct joining *at, const struct event_gpu_device *said)
{
	struct join_device device = {
		said->device, text_of(at->join, said->name), text_of(at->join, said->uuid)};

	join_device_name(&at->join->queues, at->process, at->writer, &device);
}

/* Whose operations they were is not known: the process's first queue tells of them. */
static void lost_tell(struct joining *at, const struct event_ring *shared)
{
	struct join *join = at->join;
	const struct join_queue *queue = join->queues.count ? &join->queues.list[0] : NULL;
	uint64_t lost = shared ? atomic_load(&shared->lost_full) - join->lost : 0;
	struct store_record span = {
		.begin_ns = at->now_ns, .end_ns = at->now_ns, .amount = lost, .what = STORE_OP_LOST};
	struct store_stream *stream;

	if (!lost || (!queue && !at->is_last))
		return;
	at->process->lost += lost;
	at->process->gpu_lost += lost;
	join->lost += lost;
	stream = queue ? store_writer_stream_edit(at->writer, queue->stream) : NULL;
	if (!stream)
		return;
	stream->lost += lost;
	store_writer_append(at->writer, queue->stream, STORE_SPANS, &span, 1);
}

static void gap_take(const struct joining *at, const struct event_gpu_unmonitored *said)
{
	uint32_t reason = text_of(at->join, said->reason);
	size_t size = 0;
	const char *text = reason ? store_writer_text_at(at->writer, reason, &size) : NULL;

	join_queues_gap(&at->join->queues, at->writer,
		said->time_ns < at->now_ns ? said->time_ns : at->now_ns, reason);
	if (text)
		snprintf(at->process->gpu_unwatched, sizeof(at->process->gpu_unwatched), "%.*s", (int)size,
			text);
}

/* The first word counts; what is not possible is not known. */
static void used_take(const struct joining *at, const struct event_gpu_used *said)
{
	struct join_queues *queues = &at->join->queues;

	if (!queues->used_ns && said->time_ns < at->now_ns)
		queues->used_ns = said->time_ns;
}

static bool record_take(void *context, const struct event_header *h)
{
	struct joining *at = context;

	at->records++;
	switch (h->type) {
	case EVENT_TEXT:
		return text_take(at, (const void *)h);
	case EVENT_GPU:
		return operation_take(at, (const void *)h);
	case EVENT_GPU_QUEUE:
		queue_take(at, (const void *)h);
		return true;
	case EVENT_GPU_DEVICE:
		device_take(at, (const void *)h);
		return true;
	case EVENT_GPU_UNMONITORED:
		gap_take(at, (const void *)h);
		return true;
	case EVENT_GPU_USED:
		used_take(at, (const void *)h);
		return true;
	default:
		return true;
	}
}

/* ---- the whole ---- */

static struct event_ring *activity_ring(const struct measured *process)
{
	return process->activity_at ? (struct event_ring *)((char *)process->shared + process->activity_at)
				    : NULL;
}

bool join_look(struct measured *process)
{
	struct event_ring *shared = activity_ring(process);

	if (!shared ||
		(atomic_load_explicit(&shared->state, memory_order_acquire) != EVENT_RING_CLAIMED &&
			!atomic_load_explicit(&shared->lost_full, memory_order_relaxed)) ||
		!join_of(process))
		return false;
	process->join->head = atomic_load_explicit(&shared->head, memory_order_acquire);
	return process->join->head != atomic_load_explicit(&shared->tail, memory_order_relaxed);
}

static void ring_take(struct joining *at, struct event_ring *shared)
{
	struct join *join = at->join;
	uint64_t tail = atomic_load_explicit(&shared->tail, memory_order_relaxed), head = join->head;

	if (head - tail > EVENT_ACTIVITY_DATA || (head | tail) % sizeof(uint64_t))
		join->is_broken = true;
	if (!join->is_broken)
		records_walk((const uint8_t *)shared + EVENT_RING_HEADER, EVENT_ACTIVITY_DATA, tail, head,
			record_take, at, &join->is_broken);
	atomic_store_explicit(&shared->tail, head, memory_order_release);
}

size_t join_drain(struct measured *process, struct store_writer *writer, uint32_t host, uint64_t until_ns)
{
	struct joining at = {.join = process->join,
		.process = process,
		.writer = writer,
		.host = host,
		.now_ns = clock_now_ns(),
		.is_last = until_ns == UINT64_MAX};
	struct event_ring *shared = activity_ring(process);

	if (!at.join)
		return 0;
	waiting_look(&at);
	if (shared)
		ring_take(&at, shared);
	lost_tell(&at, shared);
	return at.records;
}

void join_complete(struct measured *process, struct store_writer *writer, uint64_t complete_ns)
{
	struct join *join = process->join;
	uint64_t oldest_ns;

	if (!join || complete_ns < JOIN_UNMATCHED_NS)
		return;
	oldest_ns = join_launches_oldest(&join->launches, complete_ns - JOIN_UNMATCHED_NS);
	complete_ns -= JOIN_LATE_NS;
	if (oldest_ns < complete_ns)
		complete_ns = oldest_ns;
	for (uint32_t i = 0; i < join->queues.count; i++) {
		struct store_stream *stream = store_writer_stream_edit(writer, join->queues.list[i].stream);

		for (int track = 0; stream && track < STORE_TRACK_COUNT; track++)
			if (stream->complete_ns[track] < complete_ns)
				stream->complete_ns[track] = complete_ns;
	}
}

void join_rank(struct measured *process, struct store_writer *writer)
{
	for (uint32_t i = 0; process->join && i < process->join->queues.count; i++) {
		struct store_stream *stream =
			store_writer_stream_edit(writer, process->join->queues.list[i].stream);

		if (stream)
			stream->rank = process->rank;
	}
}

void join_finish(struct measured *process, struct store_writer *writer, uint64_t end_ns)
{
	if (process->join)
		join_queues_close(&process->join->queues, process, writer, end_ns);
}

void join_free(struct join *join)
{
	if (!join)
		return;
	join_launches_fini(&join->launches);
	join_queues_fini(&join->queues);
	map_fini(&join->attributes);
	free(join->texts.list);
	free(join->waiting);
	free(join);
}
