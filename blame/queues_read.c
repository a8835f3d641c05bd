/* SPDX-License-Identifier: Apache-2.0 */
/* queues_read.c - see queues_parts.h: batches of a queue's spans to items, and whether the queue is simple.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/queues_parts.h"

enum { CLASS_NOTHING, CLASS_STATE, CLASS_KERNEL, CLASS_OTHER };
enum { NOT_TOLD, COMPUTES, COMMUNICATES };

static uint8_t class_of(uint32_t op)
{
	if (op == STORE_OP_KERNEL || op == STORE_OP_GRAPH)
		return CLASS_KERNEL;
	if (op == STORE_OP_NONE || op == STORE_OP_MARK || op == STORE_OP_RANGE || op == STORE_OP_THINNED)
		return CLASS_NOTHING;
	return store_op_is_state(op) || op == STORE_OP_SYNC ? CLASS_STATE : CLASS_OTHER;
}

void queues_tell_classes(struct queues *queues)
{
	for (uint32_t op = 0; op < STORE_OP_TEXT; op++)
		queues->classes[op] = class_of(op);
}

/* Told once per context. */
static uint32_t kernel_work(struct queues *queues, uint32_t context)
{
	struct waits *waits = queues->question.waits;

	if (context >= queues->context_count)
		return waits_context(waits, context) ? WORK_COMM : WORK_KERNEL;
	if (queues->kernels[context] == NOT_TOLD)
		queues->kernels[context] = waits_context(waits, context) ? COMMUNICATES : COMPUTES;
	return queues->kernels[context] == COMMUNICATES ? WORK_COMM : WORK_KERNEL;
}

/* A state: monitored for the whole life is as it should be. */
static void take_state(
	struct queues *queues, struct queue *queue, uint32_t op, uint64_t begin_ns, uint64_t end_ns)
{
	if (op == STORE_OP_MONITORED && begin_ns <= queue->life_begin_ns && end_ns >= queue->life_end_ns)
		queue->is_monitored = true;
	else
		queues->is_odd = true;
}

static void take_rows(struct queues *queues, uint32_t number, const struct batch *batch)
{
	struct queue *queue = &queues->list[number];
	struct item *item = queue->items + queue->count;
	uint64_t reach_ns = queue->reach_ns;
	uint32_t reach_work = queue->reach_work;
	bool is_odd = false;

	for (size_t row = 0; row < batch->count; row++) {
		uint64_t begin_ns = batch->begin_ns[row], end_ns = batch->end_ns[row];
		uint32_t op = batch->what[row], work = WORK_OTHER;
		uint8_t class = op < STORE_OP_TEXT ? queues->classes[op] : CLASS_OTHER;

		if (class < CLASS_KERNEL) {
			if (class == CLASS_STATE)
				take_state(queues, queue, op, begin_ns, end_ns);
			continue;
		}
		if (end_ns <= begin_ns)
			continue;
		if (class == CLASS_KERNEL)
			work = kernel_work(queues, batch->context[row]);
		is_odd |= (begin_ns < queue->life_begin_ns) | (end_ns > queue->life_end_ns) |
			  ((begin_ns < reach_ns) & (work != reach_work));
		reach_ns = end_ns > reach_ns ? end_ns : reach_ns;
		reach_work = work;
		*item++ = (struct item){begin_ns, end_ns, queues->since_ns[row], batch->context[row],
			number & 0x3fffffff, work & 3};
	}
	queue->reach_ns = reach_ns;
	queue->reach_work = reach_work;
	queue->count = (size_t)(item - queue->items);
	queues->is_odd |= is_odd;
}

/* For one batch more. */
static bool make_room(struct queue *queue)
{
	struct item *items;
	size_t room;

	queue->count -= queue->at;
	if (queue->at)
		memmove(queue->items, queue->items + queue->at, queue->count * sizeof(*queue->items));
	queue->at = 0;
	if (queue->count + BATCH_ROWS <= queue->room)
		return true;
	room = 2 * (queue->count + BATCH_ROWS);
	items = realloc(queue->items, room * sizeof(*items));
	if (!items)
		return false;
	queue->items = items;
	queue->room = room;
	return true;
}

int queue_fill(struct queues *queues, uint32_t number, struct error *error)
{
	struct queue *queue = &queues->list[number];
	const struct batch *batch;
	size_t before;

	if (!make_room(queue))
		return error_memory(error);
	before = queue->count;
	while (queue->count == before) {
		long count = scan_next(queue->scan, &batch, error);

		queue->is_over = count <= 0;
		if (count <= 0)
			return (int)count;
		if (queues->question.launches)
			queued_since(queues->question.launches, &queue->hint, batch->link, batch->begin_ns,
				queues->since_ns, batch->count);
		take_rows(queues, number, batch);
	}
	return 0;
}

int queue_open(struct queues *queues, uint32_t number, uint32_t stream, struct error *error)
{
	const struct store_stream *s = &run_stream(queues->run, stream)->s;
	const struct queues_question *question = &queues->question;
	uint64_t end_ns = question->end_ns;
	unsigned columns = STORE_END | STORE_WHAT | STORE_CONTEXT;

	queues->list[number] = (struct queue){.stream = stream,
		.life_begin_ns = s->begin_ns,
		.life_end_ns = s->end_ns,
		.reach_work = WORK_OTHER};
	queues->is_odd |= s->end_ns <= s->begin_ns || s->end_ns == STORE_OPEN_NS;
	if (question->launches) {
		columns |= STORE_LINK;
		if (end_ns < UINT64_MAX - QUEUED_REACH_NS)
			end_ns += QUEUED_REACH_NS;
	}
	return scan_open(&queues->list[number].scan, queues->run, stream, STORE_SPANS, question->begin_ns,
		end_ns, columns, 0, error);
}
