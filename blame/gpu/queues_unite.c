/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues_unite.c - see queues_internal.h: the GPUs are idle where all queues are; so what was read is cut at
 * a moment and the queues' gaps are intersected (gap_intersect.c). If only kernels count, copies split the
 * gaps.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/gpu/queues_internal.h"
#include "store/base/array.h"

#define INLINE static inline __attribute__((always_inline))

/* ---- memory ---- */

/* Room for so many rows more, and the two beside; in the columns that `like` has. */
bool gap_columns_reserve(struct gap_columns *columns, size_t more, const struct gap_columns *like)
{
	size_t capacity = 2 * (columns->count + more + 2);

	if (columns->count + more + 2 <= columns->capacity)
		return true;
	columns->capacity = 0;
	if (!array_resize(&columns->begin_ns, capacity, sizeof(uint64_t)) ||
		!array_resize(&columns->end_ns, capacity, sizeof(uint64_t)) ||
		!array_resize(&columns->queued_ns, capacity, sizeof(uint64_t)) ||
		(like->origin && !array_resize(&columns->origin, capacity, sizeof(uint64_t))) ||
		(like->is_copy && !array_resize(&columns->is_copy, capacity, 1)))
		return false;
	columns->capacity = capacity;
	return true;
}

void gap_columns_begin(struct gap_columns *columns)
{
	columns->count = 1;
	columns->begin_ns[0] = columns->end_ns[0] = 0;
	columns->queued_ns[0] = UINT64_MAX;
	if (columns->origin)
		columns->origin[0] = 0;
	if (columns->is_copy)
		columns->is_copy[0] = false;
}

void gap_columns_fini(struct gap_columns *columns)
{
	free(columns->begin_ns);
	free(columns->end_ns);
	free(columns->queued_ns);
	free(columns->origin);
	free(columns->is_copy);
}

/* ---- queues ---- */

/* The first row that begins then or later. */
static size_t edges_find(const struct edges *edges, uint64_t time_ns)
{
	size_t low = edges->at, high = edges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (edges->begin_ns[middle] < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Differences have no sign, unless they are huge. Without comparisons the loop is vectorized. */
bool queues_are_least(const uint64_t *since_ns, size_t count)
{
	uint64_t signs = 0;

	for (size_t i = 1; i < count; i++)
		signs |= (since_ns[i] - since_ns[i - 1]) | since_ns[i];
	return !(signs >> 63);
}

void queues_make_least(uint64_t *since_ns, size_t known, size_t count)
{
	for (size_t i = count; i-- > 1;) {
		if (i < known && since_ns[i - 1] <= since_ns[i])
			break;
		since_ns[i - 1] = queues_earlier(since_ns[i - 1], since_ns[i]);
	}
}

/* Since when rows of a queue are queued. */
static void tell_since(struct queues *queues, struct queue_reader *queue, struct view *view, size_t at)
{
	gpu_pending_since(
		queues->question.launches, queue->links + at, view->begin_ns, queue->since_ns, view->count);
	queue->since_ns[view->count] = UINT64_MAX;
	if (!queues_are_least(queue->since_ns, view->count))
		queues_make_least(queue->since_ns, 0, view->count);
	view->since_ns = queue->since_ns;
	view->before_ns = *queue->since_ns;
}

/* What of a queue begins before, taken away. */
static struct view queue_cut(
	struct queues *queues, struct queue_reader *queue, enum level level, uint64_t until_ns)
{
	struct edges *edges = &queue->edges[level];
	struct view view = {.open_ns = edges->open_ns + edges->at,
		.begin_ns = edges->begin_ns + edges->at,
		.before_ns = UINT64_MAX};
	size_t at = edges->at;

	edges->at = edges_find(edges, until_ns);
	view.count = edges->at - at;
	if (level != LEVEL_ANY)
		return view;
	if (queue->links)
		tell_since(queues, queue, &view, at);
	view.origin = queue->origin ? queue->origin + at : NULL;
	return view;
}

uint64_t queues_open_ns(const struct queues *queues, enum level level)
{
	uint64_t open_ns = queues->question.begin_ns;

	for (uint32_t i = 0; i < queues->count; i++) {
		const struct edges *edges = &queues->list[i].edges[level];

		open_ns = queues_later(open_ns, edges->open_ns[edges->at]);
	}
	return open_ns;
}

/* The row behind the last one: the columns are the caller's copy, which what is written is no part of. */
INLINE size_t put_at(const struct gap_columns *to, size_t at, uint64_t begin_ns, uint64_t end_ns,
	uint64_t queued_ns, bool is_copy)
{
	to->begin_ns[at] = begin_ns;
	to->end_ns[at] = end_ns;
	to->queued_ns[at] = queued_ns;
	if (to->origin)
		to->origin[at] = 0;
	if (to->is_copy)
		to->is_copy[at] = is_copy;
	return at + (begin_ns < end_ns);
}

static bool unite_level(
	struct queues *queues, enum level level, uint64_t until_ns, bool is_end, struct gap_columns *to)
{
	uint32_t count = queues->count;
	size_t rows = 0, from = to->count;

	for (uint32_t i = 0; i < count; i++) {
		queues->views[i] = queue_cut(queues, &queues->list[i], level, until_ns);
		rows += queues->views[i].count;
	}
	if (!gap_columns_reserve(to, rows + 1, &queues->gaps.of) ||
		!gap_intersect_pairs(queues, &count, rows, &queues->gaps.of))
		return false;
	if (count)
		gap_intersect(&queues->views[0], count > 1 ? &queues->views[1] : NULL, to);
	if (is_end)
		to->count = put_at(to, to->count, queues_open_ns(queues, level), until_ns, UINT64_MAX, false);
	for (size_t i = from; i < to->count; i++)
		queues->idle_ns[level] += to->end_ns[i] - to->begin_ns[i];
	return true;
}

/* ---- gaps of kernels ---- */

struct gap_parts {
	struct gap_columns any, to;
	size_t row; /* of any */
	uint64_t given_ns;
};

/* Splits a gap between kernels where copies run. The time since which work is queued is not needed there: it
 * keeps the last value, so that it never falls. */
INLINE void put_parts(struct gap_parts *parts, uint64_t open_ns, uint64_t until_ns)
{
	const struct gap_columns any = parts->any, to = parts->to;
	uint64_t now_ns = queues_later(parts->given_ns, open_ns);
	size_t row = parts->row, n = to.count;

	for (; row < any.count && any.end_ns[row] <= until_ns; row++) {
		uint64_t begin_ns = any.begin_ns[row], end_ns = any.end_ns[row];

		n = put_at(&to, n, now_ns, begin_ns, any.queued_ns[row - 1], true);
		n = put_at(&to, n, begin_ns, end_ns, any.queued_ns[row], false);
		now_ns = end_ns;
	}
	parts->to.count = n;
	parts->row = row;
	parts->given_ns = now_ns;
}

/* In most gaps of kernels no copy runs. */
INLINE bool put_same(struct gap_parts *parts, uint64_t begin_ns, uint64_t end_ns)
{
	const struct gap_columns any = parts->any, to = parts->to;
	size_t row = parts->row;

	if (row == any.count || any.begin_ns[row] != begin_ns || any.end_ns[row] != end_ns)
		return false;
	parts->to.count = put_at(&to, to.count, begin_ns, end_ns, any.queued_ns[row], false);
	parts->row = row + 1;
	parts->given_ns = end_ns;
	return true;
}

static bool put_kernel_gaps(struct queues *queues)
{
	const struct gap_columns kernel = queues->found[LEVEL_COMM];
	struct gap_columns *to = &queues->gaps.of;
	struct gap_parts parts = {.any = queues->found[LEVEL_ANY], .row = 1, .given_ns = queues->given_ns};

	if (!gap_columns_reserve(to, 2 * parts.any.count + kernel.count, to))
		return false;
	parts.to = *to;
	to->queued_ns[to->count - 1] = queues_earlier(to->queued_ns[to->count - 1], parts.any.queued_ns[0]);
	for (size_t i = 1; i < kernel.count; i++) {
		uint64_t end_ns = kernel.end_ns[i];

		if (put_same(&parts, kernel.begin_ns[i], end_ns))
			continue;
		put_parts(&parts, kernel.begin_ns[i], end_ns);
		parts.to.count = put_at(&parts.to, parts.to.count, parts.given_ns, end_ns,
			parts.any.queued_ns[parts.row - 1], true);
		parts.given_ns = queues_later(parts.given_ns, end_ns);
	}
	/* The rest is in a gap between kernels that continues. */
	if (parts.row < parts.any.count)
		put_parts(&parts, queues_open_ns(queues, LEVEL_COMM), UINT64_MAX);
	to->count = parts.to.count;
	queues->given_ns = parts.given_ns;
	return true;
}

/* ---- all ---- */

/* Drops gaps that were returned once they are as many as the others, so that the current ones stay in the
 * cache. */
static void gaps_shift(struct gap_list *gaps)
{
	struct gap_columns *of = &gaps->of;
	size_t gone = gaps->first - 1, count = of->count - gone;

	if (gone < count)
		return;
	memmove(of->begin_ns, of->begin_ns + gone, count * sizeof(*of->begin_ns));
	memmove(of->end_ns, of->end_ns + gone, count * sizeof(*of->end_ns));
	memmove(of->queued_ns, of->queued_ns + gone, count * sizeof(*of->queued_ns));
	if (of->origin)
		memmove(of->origin, of->origin + gone, count * sizeof(*of->origin));
	if (of->is_copy)
		memmove(of->is_copy, of->is_copy + gone, count);
	of->count = count;
	gaps->first -= gone;
	gaps->final -= gone;
	gaps->ordered = gaps->ordered > gone ? gaps->ordered - gone : 0;
}

/* Behind the window nothing is asked but since when work is queued. */
static void take_queued(struct queues *queues, uint64_t until_ns)
{
	uint64_t *queued_ns = &queues->gaps.of.queued_ns[queues->gaps.of.count - 1];

	for (uint32_t q = 0; q < queues->count; q++) {
		const struct view view = queue_cut(queues, &queues->list[q], LEVEL_ANY, until_ns);

		for (int level = 0; level < LEVEL_ANY; level++)
			queues->list[q].edges[level].at = queues->list[q].edges[level].count;
		*queued_ns = queues_earlier(*queued_ns, view.before_ns);
	}
}

bool queues_unite(struct queues *queues, uint64_t until_ns, bool is_end)
{
	bool by_kernel = queues->question.by_kernel;

	if (queues->has_ended) {
		take_queued(queues, until_ns);
		return true;
	}
	gaps_shift(&queues->gaps);
	for (int level = 0; level < LEVEL_COUNT; level++) {
		struct gap_columns *to =
			level == LEVEL_ANY && !by_kernel ? &queues->gaps.of : &queues->found[level];

		if (!queues->wants[level])
			continue;
		if (to != &queues->gaps.of) {
			to->count = 0;
			if (!gap_columns_reserve(to, 0, &queues->gaps.of))
				return false;
			gap_columns_begin(to);
		}
		if (!unite_level(queues, (enum level)level, until_ns, is_end, to))
			return false;
	}
	queues->has_ended = is_end;
	return !by_kernel || put_kernel_gaps(queues);
}
