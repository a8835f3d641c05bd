/* SPDX-License-Identifier: Apache-2.0 */
/* queues_edges.c - see queues_internal.h: a queue's rows to edges, for each requested level, and whether the
 * queue is simple. */
#include <stdlib.h>
#include <string.h>

#include "blame/gpu/queues_internal.h"
#include "store/base/array.h"

/* ---- rows to edges ---- */

/* Those that count at a level. */
static struct rows rows_of(struct queues *queues, const struct rows *rows, enum level level)
{
	struct rows_memory *to = queues->part;
	const uint8_t *kind = queues->work->kind;
	size_t n = 0;

	if (!(rows->kinds >> (level + 1)))
		return *rows;
	for (size_t row = 0; row < rows->count; row++) {
		to->begin_ns[n] = rows->begin_ns[row];
		to->end_ns[n] = rows->end_ns[row];
		n += kind[row] <= level;
	}
	return (struct rows){
		.begin_ns = to->begin_ns, .end_ns = to->end_ns, .count = n, .overlap = rows->overlap};
}

static void edges_put(struct edges *edges, const struct rows *rows)
{
	uint64_t *open_ns = edges->open_ns + edges->count, reach_ns = edges->reach_ns;
	size_t count = rows->count;

	if (!count)
		return;
	memcpy(edges->begin_ns + edges->count, rows->begin_ns, count * sizeof(*edges->begin_ns));
	if (rows->overlap || rows->begin_ns[0] < reach_ns) {
		for (size_t row = 0; row < count; row++) {
			open_ns[row] = reach_ns;
			reach_ns = rows->end_ns[row] > reach_ns ? rows->end_ns[row] : reach_ns;
		}
	} else {
		open_ns[0] = reach_ns;
		memcpy(open_ns + 1, rows->end_ns, (count - 1) * sizeof(*open_ns));
		reach_ns = rows->end_ns[count - 1];
	}
	edges->count += count;
	edges->reach_ns = edges->open_ns[edges->count] = reach_ns;
	edges->begin_ns[edges->count] = UINT64_MAX;
}

/* Within its life. */
static bool are_simple(const struct queue_reader *queue, const struct rows *rows)
{
	bool is_odd = rows->count && rows->begin_ns[0] < queue->life_begin_ns;

	if (!rows->overlap)
		return !is_odd && (!rows->count || rows->end_ns[rows->count - 1] <= queue->life_end_ns);
	for (size_t row = 0; row < rows->count; row++)
		is_odd |= rows->end_ns[row] > queue->life_end_ns;
	return !is_odd;
}

/* Whether rows may begin together with those before them: surely not when it says no. */
static bool may_begin_together(const uint64_t *begin_ns, size_t count)
{
	uint64_t signs = 0;

	for (size_t row = 1; row < count; row++)
		signs |= begin_ns[row] - begin_ns[row - 1] - 1;
	return signs >> 63;
}

/* Of spans that begin together the last one owns the timeline. The new ones begin at `at`. */
static void put_origins(struct queue_reader *queue, const struct rows *rows, uint32_t number, size_t at)
{
	const struct edges *edges = &queue->edges[LEVEL_ANY];
	uint64_t *origin = queue->origin + at;
	size_t before = at > edges->at ? at - 1 : at;

	for (size_t row = 0; row < rows->count; row++)
		origin[row] = queues_origin(number, rows->context[row]);
	if (!may_begin_together(edges->begin_ns + before, edges->count - before))
		return;
	for (size_t row = edges->count; row-- > edges->at + 1;)
		if (edges->begin_ns[row - 1] == edges->begin_ns[row])
			queue->origin[row - 1] = queue->origin[row];
		else if (row <= at)
			break;
}

/* ---- room ---- */

static bool widen(uint64_t **column, size_t capacity)
{
	return array_resize(column, capacity, sizeof(**column));
}

/* For `rows` rows, and the one that begins never. */
static bool queue_widen(const struct queues *queues, struct queue_reader *queue, size_t rows)
{
	bool wants_since = queues->question.launches, wants_origin = queues->question.wants_next;

	for (int level = 0; level < LEVEL_COUNT; level++)
		if (queues->wants[level] && (!widen(&queue->edges[level].open_ns, rows + 1) ||
						    !widen(&queue->edges[level].begin_ns, rows + 1)))
			return false;
	if ((wants_since && (!widen(&queue->links, rows + 1) || !widen(&queue->since_ns, rows + 1))) ||
		(wants_origin && !widen(&queue->origin, rows + 1)))
		return false;
	queue->capacity = rows;
	return true;
}

/* ---- a queue ---- */

/* Kernels that communicate are none that compute, from the first one on: up to there both are the same. */
static bool tell_apart(struct queues *queues)
{
	queues->wants[LEVEL_KERNEL] = true;
	queues->idle_ns[LEVEL_KERNEL] = queues->idle_ns[LEVEL_COMM];
	for (uint32_t i = 0; i < queues->count; i++) {
		struct edges *to = &queues->list[i].edges[LEVEL_KERNEL];
		const struct edges *from = &queues->list[i].edges[LEVEL_COMM];
		size_t bytes = (from->count + 1) * sizeof(*from->open_ns);

		if (!queue_widen(queues, &queues->list[i], queues->list[i].capacity))
			return false;
		memcpy(to->open_ns, from->open_ns, bytes);
		memcpy(to->begin_ns, from->begin_ns, bytes);
		to->reach_ns = from->reach_ns;
		to->at = from->at;
		to->count = from->count;
	}
	return true;
}

bool queue_put_rows(struct queues *queues, uint32_t number, const struct rows *rows)
{
	struct queue_reader *queue = &queues->list[number];
	struct edges *edges = queue->edges;
	size_t at = edges[LEVEL_ANY].count;

	if (rows->kinds & 1u << LEVEL_COMM && !queues->wants[LEVEL_KERNEL] && !tell_apart(queues))
		return false;
	queues->is_odd |= !are_simple(queue, rows);
	for (int level = 0; level < LEVEL_ANY; level++)
		if (queues->wants[level]) {
			const struct rows part = rows_of(queues, rows, (enum level)level);

			edges_put(&edges[level], &part);
		}
	edges_put(&edges[LEVEL_ANY], rows);
	if (rows->count)
		queue->reach_ns = edges[LEVEL_ANY].reach_ns;
	if (queue->links)
		memcpy(queue->links + at, rows->links, rows->count * sizeof(*queue->links));
	if (queue->origin)
		put_origins(queue, rows, number, at);
	return true;
}

static void edges_shift(struct edges *edges)
{
	size_t rows = edges->count - edges->at + 1;

	memmove(edges->open_ns, edges->open_ns + edges->at, rows * sizeof(*edges->open_ns));
	memmove(edges->begin_ns, edges->begin_ns + edges->at, rows * sizeof(*edges->begin_ns));
	edges->count -= edges->at;
	edges->at = 0;
}

static void queue_shift(const struct queues *queues, struct queue_reader *queue)
{
	const struct edges *any = &queue->edges[LEVEL_ANY];
	size_t rows = any->count - any->at;

	if (queue->links)
		memmove(queue->links, queue->links + any->at, rows * sizeof(*queue->links));
	if (queue->origin)
		memmove(queue->origin, queue->origin + any->at, rows * sizeof(*queue->origin));
	for (int level = 0; level < LEVEL_COUNT; level++)
		if (queues->wants[level])
			edges_shift(&queue->edges[level]);
}

bool queue_reserve(const struct queues *queues, struct queue_reader *queue)
{
	queue_shift(queues, queue);
	if (queue->edges[LEVEL_ANY].count + BATCH_ROWS <= queue->capacity)
		return true;
	return queue_widen(queues, queue, 2 * (queue->edges[LEVEL_ANY].count + BATCH_ROWS));
}

bool queue_begin(const struct queues *queues, struct queue_reader *queue)
{
	if (!queue_widen(queues, queue, 2 * BATCH_ROWS))
		return false;
	for (int level = 0; level < LEVEL_COUNT; level++)
		if (queues->wants[level]) {
			struct edges *edges = &queue->edges[level];

			edges->open_ns[0] = edges->reach_ns = queues->question.begin_ns;
			edges->begin_ns[0] = UINT64_MAX;
		}
	return true;
}

void queue_forget(struct queue_reader *queue)
{
	for (int level = 0; level < LEVEL_COUNT; level++) {
		free(queue->edges[level].open_ns);
		free(queue->edges[level].begin_ns);
	}
	free(queue->links);
	free(queue->since_ns);
	free(queue->origin);
}
