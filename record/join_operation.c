/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_operation.c - one operation of a GPU to its launch: what path it has, on which queue it ran, and when.
 * An operation whose launch is not known yet waits for it; join.h says how long.
 */
#include <stdio.h>
#include <stdlib.h>

#include "record/join_state.h"
#include "store/attribute.h"

#define ATTRIBUTES_MAX 4000u
#define AHEAD_NS UINT64_C(10000000) /* a GPU's clock may be that far ahead of ours */

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
	name = texts_at(&at->join->texts, gpu->name);
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
 * (static memory of a binary) the first. So did a compilation whose times it does not know. */
static void call_take(struct store_record *span, const struct join_launch *launch)
{
	bool is_of_call =
		span->what == STORE_OP_ALLOC || span->what == STORE_OP_FREE || span->what == STORE_OP_COMPILE;

	if (!is_of_call || span->begin_ns != span->end_ns || !launch || launch->is_matched)
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
	uint32_t attributes = texts_at(&at->join->texts, gpu->attributes),
		 name = texts_at(&at->join->texts, gpu->name), known;
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
		struct join_waiting *wider =
			room <= JOIN_WAITING_MAX ? realloc(join->waiting, room * sizeof(*wider)) : NULL;

		if (!wider) {
			span_put(at, gpu, NULL);
			return;
		}
		join->waiting = wider;
		join->waiting_room = room;
	}
	join->waiting[join->waiting_count++] = (struct join_waiting){*gpu, at->now_ns};
}

void join_operation_take(struct joining *at, const struct event_gpu *gpu)
{
	struct join_launch *launch = join_launches_find(&at->join->launches, gpu->correlation);

	if (!placeholder_of(gpu->operation))
		return;
	if (launch || !gpu->correlation || at->is_last)
		span_put(at, gpu, launch);
	else
		wait_for_launch(at, gpu);
}

void join_waiting_look(struct joining *at)
{
	struct join *join = at->join;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < join->waiting_count; i++) {
		const struct join_waiting waiting = join->waiting[i];
		struct join_launch *launch =
			join_launches_find(&join->launches, waiting.operation.correlation);

		if (!launch && !at->is_last && at->now_ns - waiting.since_ns < JOIN_WAIT_NS)
			join->waiting[kept++] = waiting;
		else
			span_put(at, &waiting.operation, launch);
	}
	join->waiting_count = kept;
}
