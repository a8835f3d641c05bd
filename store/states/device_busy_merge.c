/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_busy_merge.c - merges the spans of a device's queues, each in order, into stretches in which some
 * queue is busy.
 */
#include "store/states/device_busy_internal.h"

/* Queues by when their next spans begin, a heap: the first is at its top. */
struct turns {
	uint32_t count;
	struct turn {
		uint64_t begin_ns;
		struct store_device_busy_queue *queue;
	} list[UNITED_QUEUES_MAX];
};

/* The turn at `at` may be later than those below it. */
static void turn_sink(struct turns *turns, uint32_t at)
{
	const struct turn turn = turns->list[at];
	uint32_t below;

	while ((below = 2 * at + 1) < turns->count) {
		below += below + 1 < turns->count &&
			 turns->list[below + 1].begin_ns < turns->list[below].begin_ns;
		if (turn.begin_ns <= turns->list[below].begin_ns)
			break;
		turns->list[at] = turns->list[below];
		at = below;
	}
	turns->list[at] = turn;
}

static bool has_turn(const struct store_device_busy_queue *queue, uint64_t until_ns)
{
	return queue->head < queue->count && queue->spans[queue->head].begin_ns < until_ns;
}

static void turns_begin(struct turns *turns, const struct store_device_busy *united, uint64_t until_ns)
{
	turns->count = 0;
	for (uint32_t i = 0; i < united->count; i++) {
		struct store_device_busy_queue *queue = &united->queues[i];

		if (has_turn(queue, until_ns))
			turns->list[turns->count++] =
				(struct turn){queue->spans[queue->head].begin_ns, queue};
	}
	for (uint32_t i = turns->count / 2; i-- > 0;)
		turn_sink(turns, i);
}

/* The first queue has had its turn. */
static void turns_next(struct turns *turns, uint64_t until_ns)
{
	struct turn *first = &turns->list[0];

	if (has_turn(first->queue, until_ns))
		first->begin_ns = first->queue->spans[first->queue->head].begin_ns;
	else
		*first = turns->list[--turns->count];
	turn_sink(turns, 0);
}

static void shrink(struct store_device_busy_queue *queue)
{
	if (!queue->head)
		return;
	memmove(queue->spans, queue->spans + queue->head,
		(queue->count - queue->head) * sizeof *queue->spans);
	queue->count -= queue->head;
	queue->head = 0;
}

/* The part of the queue's next span before `until_ns`. */
static struct store_device_busy_span span_take(struct store_device_busy_queue *queue, uint64_t until_ns)
{
	struct store_device_busy_span *span = &queue->spans[queue->head], part = *span;

	if (span->end_ns > until_ns) {
		part.end_ns = until_ns;
		span->begin_ns = until_ns;
	} else {
		queue->head++;
	}
	return part;
}

/* What begins until the union ends lengthens it, in whatever order queues have turns: while most do, that is
 * quicker than to find whose is the first. */
static void lengthen(struct store_device_busy *united, struct store_device_busy_span *all, uint64_t until_ns)
{
	uint32_t taken;

	do {
		taken = 0;
		for (uint32_t i = 0; i < united->count; i++) {
			struct store_device_busy_queue *queue = &united->queues[i];

			while (has_turn(queue, until_ns) &&
				queue->spans[queue->head].begin_ns <= all->end_ns) {
				const uint64_t end_ns = span_take(queue, until_ns).end_ns;

				all->end_ns = end_ns > all->end_ns ? end_ns : all->end_ns;
				taken++;
			}
		}
	} while (taken > united->count / 2);
}

void device_busy_merge(struct store_device_busy *united, uint64_t until_ns)
{
	struct store_device_busy_span all = {0};
	struct turns turns;
	uint32_t beside = 0; /* turns since the union had a gap */

	turns_begin(&turns, united, until_ns);
	while (turns.count) {
		const struct store_device_busy_span part = span_take(turns.list[0].queue, until_ns);

		turns_next(&turns, until_ns);
		beside++;
		if (part.begin_ns > all.end_ns) {
			if (all.end_ns)
				device_busy_fill(united, all.begin_ns, all.end_ns);
			all = part;
			beside = 0;
		}
		all.end_ns = part.end_ns > all.end_ns ? part.end_ns : all.end_ns;
		if (beside > united->count) {
			lengthen(united, &all, until_ns);
			turns_begin(&turns, united, until_ns);
			beside = 0;
		}
	}
	if (all.end_ns)
		device_busy_fill(united, all.begin_ns, all.end_ns);
	for (uint32_t i = 0; i < united->count; i++)
		shrink(&united->queues[i]);
}
