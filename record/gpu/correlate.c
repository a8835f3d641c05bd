/* SPDX-License-Identifier: Apache-2.0 */
/*
 * correlate.c - see correlate.h. Launches come from the rings of threads; operations, queues and devices from
 * the activity ring, whose records are taken here one by one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "record/base/clock.h"
#include "record/gpu/correlate_internal.h"

#define NO_NUMBER UINT32_MAX /* `-` in a stream's identity */

static struct correlate *correlate_of(struct gpu_process *process)
{
	if (!process->correlate)
		process->correlate = calloc(1, sizeof(*process->correlate));
	return process->correlate;
}

uint64_t correlate_launch(struct gpu_process *process, uint64_t correlation, uint32_t stream,
	enum correlate_work work, const struct store_record *call)
{
	static uint64_t links; /* unique in this collector's store */
	struct correlate *correlate = correlation ? correlate_of(process) : NULL;
	struct correlate_launch *launch =
		correlate ? correlate_launches_add(&correlate->launches, correlation) : NULL;

	if (!launch)
		return 0;
	launch->link = ++links;
	launch->begin_ns = call->begin_ns;
	launch->end_ns = call->end_ns;
	launch->context = call->context;
	launch->stream = stream;
	launch->is_queued = work != CORRELATE_UNQUEUED;
	launch->is_kernel = work == CORRELATE_KERNEL;
	process->kernels_pending += launch->is_kernel;
	process->launches++;
	return launch->link;
}

uint64_t correlate_said(struct gpu_process *process, uint64_t correlation, const struct store_record *span)
{
	struct correlate_launch *launch =
		process->correlate ? correlate_launches_find(&process->correlate->launches, correlation)
				   : NULL;

	if (!launch)
		return 0;
	launch->said = span->attributes;
	launch->said_bytes = span->bytes;
	process->correlate->has_calls = true;
	return launch->link;
}

/* ---- records of the activity ring ---- */

static void queue_take(struct correlate_pass *at, const struct event_gpu_queue *said)
{
	struct correlate_queue *queue = correlate_queue_find(&at->correlate->queues, at->process, at->writer,
		at->host, said->device, said->context, said->queue);

	if (queue)
		correlate_queue_publish(&at->correlate->queues, at->process, at->writer, queue,
			ring_texts_at(&at->correlate->texts, said->name),
			ring_texts_at(&at->correlate->texts, said->attributes));
}

static void device_take(struct correlate_pass *at, const struct event_gpu_device *said)
{
	struct correlate_device device = {said->device, ring_texts_at(&at->correlate->texts, said->name),
		ring_texts_at(&at->correlate->texts, said->uuid)};

	correlate_device_name(&at->correlate->queues, at->process, at->writer, &device);
}

/* The stream of operations whose queue is unknown. */
static struct correlate_queue *queue_unknown(struct correlate_queues *queues,
	const struct gpu_process *process, struct store_writer *writer, uint32_t host)
{
	return correlate_queue_find(queues, process, writer, host, NO_NUMBER, NO_NUMBER, NO_NUMBER);
}

/* NULL: none yet, but for streams of figures, which have no spans. */
static const struct correlate_queue *queue_first(const struct correlate_queues *queues)
{
	for (uint32_t i = 0; i < queues->count; i++)
		if (queues->list[i].queue != EVENT_GPU_UTIL)
			return &queues->list[i];
	return NULL;
}

/* The queue of lost operations is unknown: reports them on the process's first queue; if it has none at the
 * end, on the stream without a queue. */
static void lost_tell(struct correlate_pass *at, const struct event_ring *shared)
{
	struct correlate *correlate = at->correlate;
	const struct correlate_queue *queue = queue_first(&correlate->queues);
	uint64_t lost = shared ? atomic_load(&shared->lost_full) - correlate->lost : 0;
	struct store_record span = {
		.begin_ns = at->now_ns, .end_ns = at->now_ns, .amount = lost, .what = STORE_OP_LOST};
	struct store_stream *stream;

	if (!lost || (!queue && !at->is_last))
		return;
	if (!queue)
		queue = queue_unknown(&correlate->queues, at->process, at->writer, at->host);
	*at->process->lost += lost;
	at->process->lost_operations += lost;
	correlate->lost += lost;
	stream = queue ? store_writer_stream_edit(at->writer, queue->stream) : NULL;
	if (!stream)
		return;
	stream->lost += lost;
	store_writer_append(at->writer, queue->stream, STORE_SPANS, &span, 1);
}

static void gap_take(const struct correlate_pass *at, const struct event_gpu_unmonitored *said)
{
	uint32_t reason = ring_texts_at(&at->correlate->texts, said->reason);
	size_t size = 0;
	const char *text = reason ? store_writer_text_at(at->writer, reason, &size) : NULL;

	correlate_queues_gap(&at->correlate->queues, at->writer,
		said->time_ns < at->now_ns ? said->time_ns : at->now_ns, reason);
	if (text)
		snprintf(at->process->unwatched, sizeof(at->process->unwatched), "%.*s", (int)size, text);
}

static void fault_take(const struct correlate_pass *at, const struct event_gpu_fault *said)
{
	struct correlate_fault *fault = &at->correlate->fault;

	if (!fault->time_ns && said->time_ns <= at->now_ns)
		*fault = (struct correlate_fault){
			said->time_ns, said->since_ns, ring_texts_at(&at->correlate->texts, said->error)};
}

/* The first value counts; impossible times count as unknown. */
static void used_take(const struct correlate_pass *at, const struct event_gpu_used *said)
{
	struct correlate_queues *queues = &at->correlate->queues;

	if (!queues->used_ns && said->time_ns < at->now_ns)
		queues->used_ns = said->time_ns;
}

static bool record_take(void *context, const struct event_header *h)
{
	struct correlate_pass *at = context;

	at->records++;
	if (h->type == EVENT_GPU) {
		correlate_operation_take(at, (const void *)h);
		return true;
	}
	if (h->type == EVENT_TEXT)
		return ring_texts_add(&at->correlate->texts, at->writer, (const void *)h);
	correlate_queues_flush(&at->correlate->queues, at->writer);
	switch (h->type) {
	case EVENT_GPU_QUEUE:
		queue_take(at, (const void *)h);
		return true;
	case EVENT_GPU_DEVICE:
		device_take(at, (const void *)h);
		return true;
	case EVENT_GPU_UNMONITORED:
		gap_take(at, (const void *)h);
		return true;
	case EVENT_GPU_FAULT:
		fault_take(at, (const void *)h);
		return true;
	case EVENT_GPU_USED:
		used_take(at, (const void *)h);
		return true;
	case EVENT_GPU_SAMPLE:
		correlate_sample_take(at, (const void *)h);
		return true;
	case EVENT_GPU_VALUES:
		correlate_values_take(at, (const void *)h);
		return true;
	case EVENT_GPU_UNSAMPLED:
		correlate_unsampled_take(at, (const void *)h);
		return true;
	default:
		return true;
	}
}

/* ---- the whole ---- */

bool correlate_is_filling(const struct gpu_process *process)
{
	struct event_ring *shared = process->activity;

	return shared && ring_unread_bytes(shared) > EVENT_ACTIVITY_DATA / 8;
}

bool correlate_look(struct gpu_process *process)
{
	struct event_ring *shared = process->activity;

	if (!shared ||
		(atomic_load_explicit(&shared->state, memory_order_acquire) != EVENT_RING_CLAIMED &&
			!atomic_load_explicit(&shared->lost_full, memory_order_relaxed)) ||
		!correlate_of(process))
		return false;
	process->correlate->head = atomic_load_explicit(&shared->head, memory_order_acquire);
	return process->correlate->head != atomic_load_explicit(&shared->tail, memory_order_relaxed);
}

static void ring_take(struct correlate_pass *at, struct event_ring *shared)
{
	struct correlate *correlate = at->correlate;
	uint64_t tail = atomic_load_explicit(&shared->tail, memory_order_relaxed), head = correlate->head;

	if (head - tail > EVENT_ACTIVITY_DATA || (head | tail) % sizeof(uint64_t))
		correlate->is_broken = true;
	if (!correlate->is_broken)
		ring_records_walk((const uint8_t *)shared + EVENT_RING_HEADER, EVENT_ACTIVITY_DATA, tail,
			head, record_take, at, &correlate->is_broken);
	atomic_store_explicit(&shared->tail, head, memory_order_release);
}

size_t correlate_drain(
	struct gpu_process *process, struct store_writer *writer, uint32_t host, uint64_t until_ns)
{
	struct correlate_pass at = {.correlate = process->correlate,
		.process = process,
		.writer = writer,
		.host = host,
		.now_ns = clock_now_ns(),
		.is_last = until_ns == UINT64_MAX};
	struct event_ring *shared = process->activity;

	if (!at.correlate)
		return 0;
	correlate_kinds_check(&at);
	correlate_waiting_check(&at);
	if (shared)
		ring_take(&at, shared);
	correlate_queues_flush(&at.correlate->queues, writer);
	correlate_calls_look(&at);
	lost_tell(&at, shared);
	return at.records;
}

void correlate_complete(struct gpu_process *process, struct store_writer *writer, uint64_t complete_ns)
{
	struct correlate *correlate = process->correlate;
	uint64_t oldest_ns;

	if (!correlate || complete_ns < CORRELATE_UNMATCHED_NS)
		return;
	/* Where a call hangs the run goes on: whoever looks at it wants to see the present. */
	oldest_ns = correlate->calls_open ? UINT64_MAX
					  : correlate_launches_oldest(&correlate->launches,
						    complete_ns - CORRELATE_UNMATCHED_NS);
	complete_ns -= CORRELATE_LATE_NS;
	if (oldest_ns < complete_ns)
		complete_ns = oldest_ns;
	for (uint32_t i = 0; i < correlate->queues.count; i++) {
		struct store_stream *stream =
			store_writer_stream_edit(writer, correlate->queues.list[i].stream);

		for (int track = 0; stream && track < STORE_TRACK_COUNT; track++)
			if (stream->complete_ns[track] < complete_ns)
				stream->complete_ns[track] = complete_ns;
	}
}

void correlate_rank(struct gpu_process *process, struct store_writer *writer)
{
	for (uint32_t i = 0; process->correlate && i < process->correlate->queues.count; i++) {
		struct store_stream *stream =
			store_writer_stream_edit(writer, process->correlate->queues.list[i].stream);

		if (stream)
			stream->rank = process->rank;
	}
}

/* Where kernels are missing nothing is known of the GPU: a span of its own for each stretch, on a stream
 * without device, context and queue, since none of them is known. They may be the operations that the ring or
 * the runtime dropped, or that came without a launch: none is counted twice. */
static void missing_tell(
	struct gpu_process *process, struct store_writer *writer, uint32_t host, uint64_t end_ns)
{
	struct correlate *correlate = process->correlate;
	uint64_t known = correlate->lost + correlate->kernels_late, number = 0;
	uint64_t lost = process->kernels_pending > known ? process->kernels_pending - known : 0;
	struct correlate_queue *queue = lost ? correlate_queue_find(&correlate->queues, process, writer, host,
						       NO_NUMBER, NO_NUMBER, NO_NUMBER)
					     : NULL;
	struct store_stream *stream = queue ? store_writer_stream_edit(writer, queue->stream) : NULL;
	struct correlate_missing missing;

	process->lost_operations += lost;
	*process->lost += lost;
	if (!stream)
		return;
	stream->lost += lost;
	while (lost && correlate_launches_missing(&correlate->launches, &number, &missing)) {
		struct store_record span = {.begin_ns = missing.begin_ns,
			.end_ns = missing.end_ns < end_ns ? missing.end_ns : end_ns,
			.amount = missing.count < lost ? missing.count : lost,
			.what = STORE_OP_LOST};

		if (span.end_ns < span.begin_ns)
			span.end_ns = span.begin_ns;
		lost -= span.amount;
		correlate_queue_put(&correlate->queues, queue, writer, &span);
	}
	correlate_queues_flush(&correlate->queues, writer);
}

/* A mark where the kernel was launched: of those that may have faulted the first. Where none is known, at the
 * time when the program was told. */
void correlate_fault_tell(struct gpu_process *process, struct store_writer *writer, uint32_t host)
{
	const struct correlate_fault *fault = process->correlate ? &process->correlate->fault : NULL;
	struct store_record span = {.what = STORE_OP_MARK};
	const struct correlate_launch *launch;
	struct correlate_queue *queue = NULL;
	char text[256];
	const char *error;
	uint64_t count;
	size_t size = 0;

	if (!fault || !fault->time_ns)
		return;
	count = correlate_launches_doubtful(
		&process->correlate->launches, fault->since_ns, fault->time_ns, &launch);
	error = fault->error ? store_writer_text_at(writer, fault->error, &size) : "";
	size = (size_t)snprintf(text, sizeof(text), "name=GPU fault,error=%.*s,candidates=%llu", (int)size,
		error, (unsigned long long)count);
	span.attributes = store_writer_text(writer, text, size < sizeof(text) ? size : sizeof(text) - 1);
	span.begin_ns = span.end_ns = launch ? launch->begin_ns : fault->time_ns;
	if (launch) {
		span.context = launch->is_untimed ? launch->kernel : launch->context;
		store_writer_append(writer, launch->stream, STORE_SPANS, &span, 1);
		return;
	}
	queue = queue_unknown(&process->correlate->queues, process, writer, host);
	if (queue)
		correlate_queue_put(&process->correlate->queues, queue, writer, &span);
}

void correlate_finish(
	struct gpu_process *process, struct store_writer *writer, uint32_t host, uint64_t end_ns)
{
	if (!process->correlate)
		return;
	missing_tell(process, writer, host, end_ns);
	correlate_queues_close(&process->correlate->queues, process, writer, end_ns);
}

void correlate_free(struct correlate *correlate)
{
	if (!correlate)
		return;
	correlate_launches_fini(&correlate->launches);
	correlate_queues_fini(&correlate->queues);
	u64_map_fini(&correlate->attributes);
	free(correlate->texts.list);
	free(correlate->waiting);
	free(correlate);
}
