/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlate_samples.c - samples of GPU instructions: a stream of their own for each GPU context. Which launch
 * they belong to is a query of readers.
 */
#include <stdio.h>
#include <string.h>

#include "record/base/attribute_write.h"
#include "record/gpu/correlate_internal.h"

static struct correlate_queue *queue_of(struct correlate_pass *at, uint32_t device, uint32_t context)
{
	return correlate_queue_find(
		&at->correlate->queues, at->process, at->writer, at->host, device, context, EVENT_GPU_PC);
}

/* <gpu kernel> ; function ; instruction */
static uint32_t context_of(struct correlate_pass *at, const struct event_gpu_sample *said)
{
	uint64_t address = said->module ? gpu_module_address(&at->process->kernels, said->module,
						  said->symbol, said->offset)
					: 0;
	uint32_t name = ring_texts_at(&at->correlate->texts, said->function);
	struct store_module module = {.kind = STORE_MODULE_GPU, .build_id_bytes = sizeof(said->module)};
	uint32_t context = store_writer_context(
		at->writer, STORE_CONTEXT_PROGRAM_ROOT, STORE_MODULE_RESERVED, STORE_FRAME_GPU_KERNEL);

	if (name)
		context =
			store_writer_context(at->writer, context, store_writer_text_module(at->writer), name);
	if (!address)
		return context;
	for (unsigned i = 0; i < sizeof(said->module); i++)
		module.build_id[i] = (uint8_t)(said->module >> (56 - 8 * i));
	return store_writer_context(at->writer, context, store_writer_module(at->writer, &module), address);
}

void correlate_sample_take(struct correlate_pass *at, const struct event_gpu_sample *said)
{
	struct correlate_queue *queue = queue_of(at, said->device, said->context);
	uint32_t metric = ring_texts_at(&at->correlate->texts, said->metric);
	uint64_t time_ns = said->time_ns < at->now_ns ? said->time_ns : at->now_ns;
	struct store_record sample = {.begin_ns = time_ns, .end_ns = time_ns, .amount = said->weight};
	char name[128];
	const char *text;
	size_t size = 0;

	if (!queue || !metric)
		return;
	text = store_writer_text_at(at->writer, metric, &size);
	snprintf(name, sizeof(name), "%.*s", (int)(size < sizeof(name) ? size : sizeof(name) - 1), text);
	sample.what = store_writer_metric(at->writer, name, "cycles", false);
	sample.context = context_of(at, said);
	store_writer_append(at->writer, queue->stream, STORE_SAMPLES, &sample, 1);
	at->process->samples++;
}

/* Of figures over time: nothing shows that some are missing but the summary. */
static void uncounted_take(struct correlate_pass *at, uint32_t reason)
{
	size_t size = 0;
	const char *why = reason ? store_writer_text_at(at->writer, reason, &size) : "";

	snprintf(at->process->uncounted, sizeof(at->process->uncounted), "%.*s", (int)size, why);
}

void correlate_unsampled_take(struct correlate_pass *at, const struct event_gpu_unsampled *said)
{
	const bool is_util = said->context == EVENT_GPU_UTIL;
	struct correlate_queue *queue = is_util ? NULL : queue_of(at, said->device, said->context);
	uint32_t reason = ring_texts_at(&at->correlate->texts, said->reason);
	uint64_t time_ns = said->time_ns < at->now_ns ? said->time_ns : at->now_ns;
	struct store_record span = {
		.begin_ns = time_ns, .end_ns = time_ns, .amount = said->count, .what = STORE_OP_LOST};
	struct store_stream *stream = queue ? store_writer_stream_edit(at->writer, queue->stream) : NULL;
	struct store_bytes text = {0};
	const char *why = "";
	size_t size = 0;

	if (is_util) {
		uncounted_take(at, reason);
		return;
	}
	if (reason)
		why = store_writer_text_at(at->writer, reason, &size);
	snprintf(at->process->unsampled, sizeof(at->process->unsampled), "%.*s", (int)size, why);
	at->process->samples_lost += said->count;
	if (!stream)
		return;
	stream->lost += said->count;
	attribute_write(&text, "reason", at->process->unsampled);
	span.attributes = text.failed ? 0 : store_writer_text(at->writer, (char *)text.data, text.size);
	store_bytes_fini(&text);
	store_writer_append(at->writer, queue->stream, STORE_SPANS, &span, 1);
}
