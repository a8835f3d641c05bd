/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlate_operation.c - matches one GPU operation to its launch: sets its call path, queue and times. An
 * operation whose launch is unknown waits for it; correlate.h says how long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/gpu/correlate_internal.h"
#include "store/base/attribute.h"

#define ATTRIBUTES_MAX 4000u
#define TRACE_SAID_MAX 1100u
#define AHEAD_NS UINT64_C(10000000) /* a GPU's clock may be this far ahead of ours */

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

/* Operations that the host executes: shown on the calling thread. */
static bool is_of_host(uint32_t operation)
{
	return operation == STORE_OP_ALLOC || operation == STORE_OP_FREE || operation == STORE_OP_SYNC ||
	       operation == STORE_OP_COMPILE;
}

/* launching call path ; <gpu kernel> ; name of the kernel */
static uint32_t context_of(
	const struct correlate_pass *at, uint32_t launched, uint32_t operation, uint32_t name)
{
	uint32_t context = launched;

	if (context == STORE_CONTEXT_NONE) {
		context = store_writer_context(
			at->writer, STORE_CONTEXT_NONE, STORE_MODULE_RESERVED, STORE_FRAME_GPU_ROOT);
		context =
			store_writer_context(at->writer, context, STORE_MODULE_RESERVED, STORE_FRAME_UNKNOWN);
	}
	context = store_writer_context(at->writer, context, STORE_MODULE_RESERVED, placeholder_of(operation));
	if (name)
		context =
			store_writer_context(at->writer, context, store_writer_text_module(at->writer), name);
	return context;
}

/* Replaces impossible times by the launch's time; returns false if it did. */
static bool times_check(
	const struct correlate_pass *at, struct store_record *span, const struct correlate_launch *launch)
{
	uint64_t instead_ns = launch ? launch->begin_ns : at->now_ns;

	if (span->begin_ns && span->begin_ns <= span->end_ns && span->end_ns < at->now_ns + AHEAD_NS &&
		span->begin_ns + AHEAD_NS >= at->process->begin_ns)
		return true;
	at->process->untimed++;
	span->begin_ns = span->end_ns = instead_ns;
	return false;
}

/* CUDA reports an allocation as a moment: it gets its call's duration; of several in one call (static
 * memory of a binary) only the first does. Likewise a compilation without times. */
static void call_take(struct store_record *span, const struct correlate_launch *launch)
{
	bool is_of_call =
		span->what == STORE_OP_ALLOC || span->what == STORE_OP_FREE || span->what == STORE_OP_COMPILE;

	if (!is_of_call || span->begin_ns != span->end_ns || !launch || launch->is_matched)
		return;
	span->begin_ns = launch->begin_ns;
	span->end_ns = launch->end_ns;
}

/* A kernel has the attributes of the calls that it carries out, after its own. */
static void said_take(
	struct store_writer *writer, struct store_record *span, const struct correlate_launch *launch)
{
	size_t own_size = 0, size = 0;
	const char *own = span->attributes ? store_writer_text_at(writer, span->attributes, &own_size) : "";
	const char *said = launch->said ? store_writer_text_at(writer, launch->said, &size) : NULL;
	char text[ATTRIBUTES_MAX + TRACE_SAID_MAX];
	int length;

	if (!said || !size || own_size > ATTRIBUTES_MAX || size > TRACE_SAID_MAX - 2)
		return;
	length = snprintf(text, sizeof(text), "%.*s%s%.*s", (int)own_size, own ? own : "",
		own_size ? "," : "", (int)size, said);
	span->attributes = store_writer_text(writer, text, (size_t)length);
	span->bytes = launch->said_bytes;
}

static uint32_t attributes_untimed(struct store_writer *writer, uint32_t attributes)
{
	size_t size = 0;
	const char *said = attributes ? store_writer_text_at(writer, attributes, &size) : "";
	char text[ATTRIBUTES_MAX + 32];
	int length;

	if (size > ATTRIBUTES_MAX)
		return attributes;
	length = snprintf(text, sizeof(text), "%.*s%suntimed=1", (int)size, said, size ? "," : "");
	return store_writer_text(writer, text, (size_t)length);
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

/* A kernel's attributes. If the agent does not know the kernel's binary and only one contains it, adds
 * that. */
static uint32_t attributes_of(
	const struct correlate_pass *at, uint32_t operation, uint32_t name, uint32_t attributes)
{
	const struct gpu_module_kernels *kernels = &at->process->kernels;
	struct u64_map_key key = {name, attributes};
	const char *bytes;
	uint64_t module;
	uint32_t known;
	size_t size;

	if (operation != STORE_OP_KERNEL || !name || !kernels->count)
		return attributes;
	known = u64_map_get(&at->correlate->attributes, key);
	if (known != U64_MAP_NONE)
		return known;
	bytes = store_writer_text_at(at->writer, name, &size);
	module = bytes ? gpu_module_of(kernels, bytes, size) : 0;
	if (module)
		attributes = attributes_with(at->writer, attributes, module);
	u64_map_put(&at->correlate->attributes, key, attributes);
	return attributes;
}

void correlate_kinds_check(const struct correlate_pass *at)
{
	struct correlate *correlate = at->correlate;

	if (correlate->attributes_since == at->process->kernels.count)
		return;
	u64_map_fini(&correlate->attributes);
	memset(correlate->kinds, 0, sizeof(correlate->kinds));
	correlate->attributes_since = at->process->kernels.count;
}

static struct correlate_kind kind_new(
	const struct correlate_pass *at, const struct event_gpu *gpu, uint32_t launched)
{
	uint32_t name = ring_texts_at(&at->correlate->texts, gpu->name);

	return (struct correlate_kind){.operation = gpu->operation,
		.launched = launched,
		.name = gpu->name,
		.said = gpu->attributes,
		.context = context_of(at, launched, gpu->operation, name),
		.attributes = attributes_of(
			at, gpu->operation, name, ring_texts_at(&at->correlate->texts, gpu->attributes))};
}

/* Cached, since programs launch the same kernels repeatedly. */
static const struct correlate_kind *kind_of(const struct correlate_pass *at, const struct event_gpu *gpu,
	uint32_t launched, struct correlate_kind *other)
{
	uint64_t mixed = (((uint64_t)launched << 32 | gpu->name) ^ (uint64_t)gpu->attributes << 16 ^
				 (uint64_t)gpu->operation << 56) *
			 UINT64_C(0x9e3779b97f4a7c15);
	struct correlate_kind *kind = &at->correlate->kinds[mixed >> (64 - CORRELATE_KIND_BITS)];

	if (kind->operation == gpu->operation && kind->launched == launched && kind->name == gpu->name &&
		kind->said == gpu->attributes)
		return kind;
	*other = kind_new(at, gpu, launched);
	/* Do not cache: a missing text may still arrive, and memory may become available. */
	if (gpu->name > at->correlate->texts.count || gpu->attributes > at->correlate->texts.count ||
		!other->context)
		return other;
	*kind = *other;
	return kind;
}

/* Chooses the queue's stream, or the calling thread's. False: none. */
static bool stream_put(const struct correlate_pass *at, const struct event_gpu *gpu,
	const struct correlate_launch *launch, const struct store_record *span, bool is_timed)
{
	struct correlate_queue *queue;

	if (launch && is_of_host(gpu->operation)) {
		if (!at->process->is_discarded)
			store_writer_append(at->writer, launch->stream, STORE_SPANS, span, 1);
		return true;
	}
	queue = correlate_queue_recent(&at->correlate->queues, gpu->device, gpu->context, gpu->queue);
	if (!queue)
		queue = correlate_queue_find(&at->correlate->queues, at->process, at->writer, at->host,
			gpu->device, gpu->context, gpu->queue);
	if (!queue)
		return false;
	if (span->end_ns > queue->last_ns)
		queue->last_ns = span->end_ns;
	if (at->process->is_discarded)
		return true;
	if (is_timed)
		correlate_queue_put_timed(&at->correlate->queues, queue, at->writer, span);
	else
		correlate_queue_put_untimed(queue, span->link, span->begin_ns);
	correlate_queue_put(&at->correlate->queues, queue, at->writer, span);
	return true;
}

static void launch_match(struct gpu_process *process, struct store_writer *writer,
	struct correlate_launch *launch, const struct store_record *span, bool is_timed)
{
	process->kernels_pending -= launch->is_kernel && !launch->is_matched;
	if (!launch->is_matched || span->end_ns > launch->end_ns)
		launch->end_ns = span->end_ns;
	if (!is_timed)
		launch->kernel = span->context;
	launch->is_untimed |= !is_timed;
	launch->is_matched = true;
	correlate_call_over(process->correlate, writer, launch);
}

static void span_put(
	const struct correlate_pass *at, const struct event_gpu *gpu, struct correlate_launch *launch)
{
	struct correlate_kind other;
	const struct correlate_kind *kind =
		kind_of(at, gpu, launch ? launch->context : STORE_CONTEXT_NONE, &other);
	struct store_record span = {.begin_ns = gpu->begin_ns,
		.end_ns = gpu->end_ns,
		.bytes = gpu->bytes,
		.link = launch ? launch->link : 0,
		.context = kind->context,
		.what = gpu->operation,
		.attributes = kind->attributes};

	bool is_timed = times_check(at, &span, launch);

	call_take(&span, launch);
	if (launch && launch->said && span.what == STORE_OP_KERNEL)
		said_take(at->writer, &span, launch);
	if (!is_timed && span.begin_ns == span.end_ns)
		span.attributes = attributes_untimed(at->writer, span.attributes);
	if (!stream_put(at, gpu, launch, &span, is_timed))
		return;
	*at->process->lost += at->process->is_discarded;
	at->process->operations++;
	at->process->unmatched += !launch;
	at->correlate->kernels_late += !launch && gpu->correlation && gpu->operation == STORE_OP_KERNEL;
	if (launch)
		launch_match(at->process, at->writer, launch, &span, is_timed);
}

/* If too many operations wait, gives up the oldest. */
static void wait_for_launch(struct correlate_pass *at, const struct event_gpu *gpu)
{
	struct correlate *correlate = at->correlate;

	if (correlate->waiting_count == correlate->waiting_capacity) {
		uint32_t room = correlate->waiting_capacity ? 2 * correlate->waiting_capacity : 64;
		struct correlate_waiting *wider = room <= CORRELATE_WAITING_MAX
							  ? realloc(correlate->waiting, room * sizeof(*wider))
							  : NULL;

		if (!wider) {
			span_put(at, gpu, NULL);
			return;
		}
		correlate->waiting = wider;
		correlate->waiting_capacity = room;
	}
	correlate->waiting[correlate->waiting_count++] = (struct correlate_waiting){*gpu, at->now_ns};
}

void correlate_operation_take(struct correlate_pass *at, const struct event_gpu *gpu)
{
	struct correlate_launch *launch = correlate_launches_find(&at->correlate->launches, gpu->correlation);

	if (!placeholder_of(gpu->operation))
		return;
	if (launch || !gpu->correlation || at->is_last)
		span_put(at, gpu, launch);
	else
		wait_for_launch(at, gpu);
}

void correlate_waiting_check(struct correlate_pass *at)
{
	struct correlate *correlate = at->correlate;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < correlate->waiting_count; i++) {
		const struct correlate_waiting waiting = correlate->waiting[i];
		struct correlate_launch *launch =
			correlate_launches_find(&correlate->launches, waiting.operation.correlation);

		if (!launch && !at->is_last && at->now_ns - waiting.since_ns < CORRELATE_WAIT_NS)
			correlate->waiting[kept++] = waiting;
		else
			span_put(at, &waiting.operation, launch);
	}
	correlate->waiting_count = kept;
}
