/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlate_queues.c - GPU queues as streams, see correlate_internal.h. A queue's stream begins when the
 * process first used GPUs: it was idle from then to its first operation. If that time is unknown, it begins
 * with the process.
 */
#include <stdlib.h>
#include <string.h>

#include "record/base/attribute_write.h"
#include "record/gpu/correlate_internal.h"

#define HANDLE_MONITORED 0
#define HANDLE_GAP 1

static const struct correlate_device *device_find(const struct correlate_queues *queues, uint32_t number)
{
	for (uint32_t i = 0; i < queues->device_count; i++)
		if (queues->devices[i].number == number)
			return &queues->devices[i];
	return NULL;
}

static void text_attribute(
	struct store_bytes *out, struct store_writer *writer, const char *key, uint32_t text)
{
	size_t size = 0;
	const char *bytes = text ? store_writer_text_at(writer, text, &size) : NULL;
	char value[1024];

	if (!size)
		return;
	size = size < sizeof(value) ? size : sizeof(value) - 1;
	memcpy(value, bytes, size);
	value[size] = '\0';
	attribute_write(out, key, value);
}

static struct store_record monitored_span(const struct correlate_queues *queues,
	const struct correlate_queue *queue, const struct gpu_process *process, struct store_writer *writer,
	uint64_t end_ns)
{
	const struct correlate_device *device = device_find(queues, queue->device);
	struct store_record span = {
		.begin_ns = queue->begin_ns, .end_ns = end_ns, .what = STORE_OP_MONITORED};
	struct store_bytes text = {0};
	size_t more = 0;
	const char *said = queue->attributes ? store_writer_text_at(writer, queue->attributes, &more) : NULL;

	text_attribute(&text, writer, "name", queue->name);
	text_attribute(&text, writer, "device", device ? device->name : 0);
	text_attribute(&text, writer, "uuid", device ? device->uuid : 0);
	attribute_write(&text, "command", process->command);
	if (queues->used_ns && queue->begin_ns == queues->used_ns)
		attribute_write(&text, "since", "first-use");
	if (more) {
		store_bytes_put(&text, ",", 1);
		store_bytes_put(&text, said, more);
	}
	if (!text.failed)
		span.attributes = store_writer_text(writer, (const char *)text.data, text.size);
	store_bytes_fini(&text);
	return span;
}

/* A device's figures over time: its stream has no time of its own, so no spans. */
static bool is_figures(const struct correlate_queue *queue)
{
	return queue->queue == EVENT_GPU_UTIL;
}

/* Writes the queue's name and attributes known so far to its stream. */
static void queue_show(const struct correlate_queues *queues, const struct correlate_queue *queue,
	const struct gpu_process *process, struct store_writer *writer)
{
	struct store_stream *stream = store_writer_stream_edit(writer, queue->stream);
	const struct correlate_device *device = device_find(queues, queue->device);
	struct store_record span;

	if (!stream)
		return;
	stream->name = !is_figures(queue) ? queue->name : device ? device->uuid : 0;
	stream->device_name = device ? device->name : 0;
	if (is_figures(queue))
		return;
	span = monitored_span(queues, queue, process, writer, STORE_OPEN_NS);
	store_writer_span_open(writer, queue->stream, HANDLE_MONITORED, &span);
}

static struct store_record gap_span(const struct correlate_gap *gap)
{
	return (struct store_record){.begin_ns = gap->begin_ns,
		.end_ns = gap->end_ns,
		.what = STORE_OP_UNMONITORED,
		.attributes = gap->attributes};
}

static void gap_show(
	const struct correlate_gap *gap, const struct correlate_queue *queue, struct store_writer *writer)
{
	struct store_record span = gap_span(gap);

	if (is_figures(queue))
		return;
	if (gap->end_ns == STORE_OPEN_NS)
		store_writer_span_open(writer, queue->stream, HANDLE_GAP, &span);
	else
		store_writer_append(writer, queue->stream, STORE_SPANS, &span, 1);
}

static struct correlate_queue *queue_new(struct correlate_queues *queues, const struct gpu_process *process,
	struct store_writer *writer, uint32_t host, const struct correlate_queue *like)
{
	bool is_pc = like->queue == EVENT_GPU_PC;
	struct store_stream stream = {.kind = is_figures(like) ? STORE_STREAM_GAUGES
					      : is_pc	       ? STORE_STREAM_PC
							       : STORE_STREAM_GPU,
		.host = host,
		.rank = process->rank,
		.pid = process->pid,
		.generation = process->generation,
		.device = like->device,
		.context = is_figures(like) ? 0 : like->context,
		.queue = is_pc		    ? UINT32_MAX
			 : is_figures(like) ? 0
					    : like->queue,
		.begin_ns = queues->used_ns > process->begin_ns ? queues->used_ns : process->begin_ns,
		.end_ns = STORE_OPEN_NS};
	struct correlate_queue *queue;

	if (queues->count == queues->capacity) {
		uint32_t room = queues->capacity ? 2 * queues->capacity : 16;
		struct correlate_queue *wider = realloc(queues->list, room * sizeof(*wider));

		if (!wider)
			return NULL;
		queues->list = wider;
		queues->capacity = room;
	}
	queue = &queues->list[queues->count];
	*queue = *like;
	queue->begin_ns = stream.begin_ns;
	queue->stream = store_writer_stream(writer, &stream);
	if (queue->stream == UINT32_MAX)
		return NULL;
	queues->count++;
	queue_show(queues, queue, process, writer);
	for (uint32_t i = 0; i < queues->gap_count; i++)
		gap_show(&queues->gaps[i], queue, writer);
	return queue;
}

struct correlate_queue *correlate_queue_find(struct correlate_queues *queues,
	const struct gpu_process *process, struct store_writer *writer, uint32_t host, uint32_t device,
	uint32_t context, uint32_t queue)
{
	struct u64_map_key key = {(uint64_t)device << 32 | context, queue};
	const struct correlate_queue like = {.device = device, .context = context, .queue = queue};
	uint32_t number = u64_map_get(&queues->by_key, key);

	if (number == U64_MAP_NONE) {
		number = queues->count;
		if (!u64_map_put(&queues->by_key, key, number))
			return NULL;
		if (!queue_new(queues, process, writer, host, &like)) {
			u64_map_remove(&queues->by_key, key);
			return NULL;
		}
	}
	queues->recent[correlate_recent_slot(device, context, queue)] = number;
	return &queues->list[number];
}

static void queue_flush(struct correlate_queue *queue, struct store_writer *writer)
{
	if (queue->batch_count)
		store_writer_append(writer, queue->stream, STORE_SPANS, queue->batch, queue->batch_count);
	queue->batch_count = 0;
}

void correlate_queue_put(struct correlate_queues *queues, struct correlate_queue *queue,
	struct store_writer *writer, const struct store_record *span)
{
	if (!queue->batch && queue - queues->list < CORRELATE_BATCHES_MAX)
		queue->batch = malloc(CORRELATE_BATCH * sizeof(*queue->batch));
	if (!queue->batch) {
		store_writer_append(writer, queue->stream, STORE_SPANS, span, 1);
		return;
	}
	queue->batch[queue->batch_count++] = *span;
	if (queue->batch_count == CORRELATE_BATCH)
		queue_flush(queue, writer);
}

void correlate_queue_put_untimed(struct correlate_queue *queue, uint64_t link, uint64_t launched_ns)
{
	if (!queue->untimed_ns) {
		queue->untimed_ns = queue->timed_link < link && queue->timed_end_ns > launched_ns
					    ? queue->timed_end_ns
					    : launched_ns;
		queue->untimed_ns += !queue->untimed_ns;
	}
	if (link > queue->untimed_link)
		queue->untimed_link = link;
}

/* Neither busy nor idle. */
static void untimed_end(struct correlate_queues *queues, struct correlate_queue *queue,
	struct store_writer *writer, uint64_t end_ns)
{
	static const char reason[] = "reason=operations without times";
	struct store_record span = {
		.begin_ns = queue->untimed_ns, .end_ns = end_ns, .what = STORE_OP_UNMONITORED};

	queue->untimed_ns = 0;
	if (span.end_ns <= span.begin_ns)
		return;
	span.attributes = store_writer_text(writer, reason, sizeof(reason) - 1);
	correlate_queue_put(queues, queue, writer, &span);
}

void correlate_queue_put_timed(struct correlate_queues *queues, struct correlate_queue *queue,
	struct store_writer *writer, const struct store_record *span)
{
	if (queue->untimed_ns && span->link > queue->untimed_link)
		untimed_end(queues, queue, writer, span->begin_ns);
	if (span->link >= queue->timed_link) {
		queue->timed_link = span->link;
		queue->timed_end_ns = span->end_ns;
	}
}

void correlate_queues_flush(struct correlate_queues *queues, struct store_writer *writer)
{
	for (uint32_t i = 0; i < queues->count; i++)
		queue_flush(&queues->list[i], writer);
}

void correlate_queue_publish(struct correlate_queues *queues, const struct gpu_process *process,
	struct store_writer *writer, struct correlate_queue *queue, uint32_t name, uint32_t attributes)
{
	queue->name = name ? name : queue->name;
	queue->attributes = attributes ? attributes : queue->attributes;
	queue_show(queues, queue, process, writer);
}

void correlate_device_name(struct correlate_queues *queues, const struct gpu_process *process,
	struct store_writer *writer, const struct correlate_device *device)
{
	struct correlate_device *known = (struct correlate_device *)device_find(queues, device->number);

	if (!known) {
		struct correlate_device *wider =
			realloc(queues->devices, (queues->device_count + 1) * sizeof(*wider));

		if (!wider)
			return;
		queues->devices = wider;
		known = &wider[queues->device_count++];
	}
	*known = *device;
	for (uint32_t i = 0; i < queues->count; i++)
		if (queues->list[i].device == device->number)
			queue_show(queues, &queues->list[i], process, writer);
}

static void gap_close(struct correlate_queues *queues, struct store_writer *writer, uint64_t end_ns)
{
	struct correlate_gap *gap = queues->gap_count ? &queues->gaps[queues->gap_count - 1] : NULL;
	struct store_record span;

	if (!gap || gap->end_ns != STORE_OPEN_NS)
		return;
	gap->end_ns = end_ns > gap->begin_ns ? end_ns : gap->begin_ns;
	span = gap_span(gap);
	for (uint32_t i = 0; i < queues->count; i++)
		if (!is_figures(&queues->list[i]))
			store_writer_span_close(writer, queues->list[i].stream, HANDLE_GAP, &span);
}

static uint32_t reason_attribute(struct store_writer *writer, uint32_t reason)
{
	struct store_bytes text = {0};
	uint32_t id = 0;

	text_attribute(&text, writer, "reason", reason);
	if (!text.failed)
		id = store_writer_text(writer, (const char *)text.data, text.size);
	store_bytes_fini(&text);
	return id;
}

void correlate_queues_gap(
	struct correlate_queues *queues, struct store_writer *writer, uint64_t time_ns, uint32_t reason)
{
	struct correlate_gap *wider;

	gap_close(queues, writer, time_ns);
	if (!reason)
		return;
	wider = realloc(queues->gaps, (queues->gap_count + 1) * sizeof(*wider));
	if (!wider)
		return;
	queues->gaps = wider;
	wider += queues->gap_count++;
	*wider = (struct correlate_gap){time_ns, STORE_OPEN_NS, reason_attribute(writer, reason)};
	for (uint32_t i = 0; i < queues->count; i++)
		gap_show(wider, &queues->list[i], writer);
}

void correlate_queues_close(struct correlate_queues *queues, const struct gpu_process *process,
	struct store_writer *writer, uint64_t end_ns)
{
	gap_close(queues, writer, end_ns);
	for (uint32_t i = 0; i < queues->count; i++) {
		struct correlate_queue *queue = &queues->list[i];
		uint64_t last_ns = queue->last_ns > end_ns ? queue->last_ns : end_ns;
		struct store_record span = monitored_span(queues, queue, process, writer, last_ns);
		struct store_stream *stream = store_writer_stream_edit(writer, queue->stream);

		if (queue->untimed_ns)
			untimed_end(queues, queue, writer, last_ns);
		queue_flush(queue, writer);
		if (!is_figures(queue))
			store_writer_span_close(writer, queue->stream, HANDLE_MONITORED, &span);
		if (!stream)
			continue;
		stream->end_ns = last_ns;
		for (int track = 0; track < STORE_TRACK_COUNT; track++)
			stream->complete_ns[track] = STORE_OPEN_NS;
	}
}

void correlate_queues_fini(struct correlate_queues *queues)
{
	for (uint32_t i = 0; i < queues->count; i++)
		free(queues->list[i].batch);
	free(queues->list);
	free(queues->devices);
	free(queues->gaps);
	u64_map_fini(&queues->by_key);
}
