/* SPDX-License-Identifier: Apache-2.0 */
/* correlate.c - see correlate.h. Launches come from the rings of threads; operations, queues and devices from
 * the activity ring, whose records are taken here one by one. */
#include <stdio.h>
#include <stdlib.h>

#include "record/base/clock.h"
#include "record/gpu/correlate_internal.h"

static struct join *join_of(struct gpu_process *process)
{
	if (!process->join)
		process->join = calloc(1, sizeof(*process->join));
	return process->join;
}

uint64_t join_launch(
	struct gpu_process *process, uint64_t correlation, uint32_t stream, const struct store_record *call)
{
	static uint64_t links; /* of the one store of this collector */
	struct join *join = correlation ? join_of(process) : NULL;
	struct join_launch *launch = join ? join_launches_add(&join->launches, correlation) : NULL;

	if (!launch)
		return 0;
	launch->link = ++links;
	launch->begin_ns = call->begin_ns;
	launch->end_ns = call->end_ns;
	launch->context = call->context;
	launch->stream = stream;
	process->launches++;
	return launch->link;
}

/* ---- records of the activity ring ---- */

static void queue_take(struct joining *at, const struct event_gpu_queue *said)
{
	struct join_queue *queue = join_queue_find(&at->join->queues, at->process, at->writer, at->host,
		said->device, said->context, said->queue);

	if (queue)
		join_queue_tell(&at->join->queues, at->process, at->writer, queue,
			texts_at(&at->join->texts, said->name), texts_at(&at->join->texts, said->attributes));
}

static void device_take(struct joining *at, const struct event_gpu_device *said)
{
	struct join_device device = {
		said->device, texts_at(&at->join->texts, said->name), texts_at(&at->join->texts, said->uuid)};

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
	*at->process->lost += lost;
	at->process->lost_operations += lost;
	join->lost += lost;
	stream = queue ? store_writer_stream_edit(at->writer, queue->stream) : NULL;
	if (!stream)
		return;
	stream->lost += lost;
	store_writer_append(at->writer, queue->stream, STORE_SPANS, &span, 1);
}

static void gap_take(const struct joining *at, const struct event_gpu_unmonitored *said)
{
	uint32_t reason = texts_at(&at->join->texts, said->reason);
	size_t size = 0;
	const char *text = reason ? store_writer_text_at(at->writer, reason, &size) : NULL;

	join_queues_gap(&at->join->queues, at->writer,
		said->time_ns < at->now_ns ? said->time_ns : at->now_ns, reason);
	if (text)
		snprintf(at->process->unwatched, sizeof(at->process->unwatched), "%.*s", (int)size, text);
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
	if (h->type == EVENT_GPU) {
		join_operation_take(at, (const void *)h);
		return true;
	}
	if (h->type == EVENT_TEXT)
		return texts_add(&at->join->texts, at->writer, (const void *)h);
	join_queues_flush(&at->join->queues, at->writer);
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
	case EVENT_GPU_USED:
		used_take(at, (const void *)h);
		return true;
	default:
		return true;
	}
}

/* ---- the whole ---- */

bool join_is_filling(const struct gpu_process *process)
{
	struct event_ring *shared = process->activity;

	return shared && ring_waiting(shared) > EVENT_ACTIVITY_DATA / 8;
}

bool join_look(struct gpu_process *process)
{
	struct event_ring *shared = process->activity;

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

size_t join_drain(struct gpu_process *process, struct store_writer *writer, uint32_t host, uint64_t until_ns)
{
	struct joining at = {.join = process->join,
		.process = process,
		.writer = writer,
		.host = host,
		.now_ns = clock_now_ns(),
		.is_last = until_ns == UINT64_MAX};
	struct event_ring *shared = process->activity;

	if (!at.join)
		return 0;
	join_kinds_look(&at);
	join_waiting_look(&at);
	if (shared)
		ring_take(&at, shared);
	join_queues_flush(&at.join->queues, writer);
	lost_tell(&at, shared);
	return at.records;
}

void join_complete(struct gpu_process *process, struct store_writer *writer, uint64_t complete_ns)
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

void join_rank(struct gpu_process *process, struct store_writer *writer)
{
	for (uint32_t i = 0; process->join && i < process->join->queues.count; i++) {
		struct store_stream *stream =
			store_writer_stream_edit(writer, process->join->queues.list[i].stream);

		if (stream)
			stream->rank = process->rank;
	}
}

void join_finish(struct gpu_process *process, struct store_writer *writer, uint64_t end_ns)
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
