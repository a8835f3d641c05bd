/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queues_unite.c - see queues_parts.h: slices merged two at a time, then one pass that keeps how far the
 * spans reach so far, for three kinds of work. Every row writes a gap, which counts only if it is one: with
 * two queues in step nobody can foresee whose span is next, or whether it leaves a gap.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/queues_parts.h"

/* ---- merge ---- */

static bool scratch_reserve(struct queues *queues, size_t count)
{
	if (count <= queues->merged_room)
		return true;
	for (int i = 0; i < 2; i++) {
		free(queues->merged[i]);
		queues->merged[i] = malloc(2 * count * sizeof(*queues->merged[i]));
	}
	queues->merged_room = queues->merged[0] && queues->merged[1] ? 2 * count : 0;
	return queues->merged_room;
}

/* Of equal begins those of `left` come first. */
static void merge(struct item *to, const struct slice *left, const struct slice *right)
{
	const struct item *a = left->items, *b = right->items;
	const struct item *a_end = a + left->count, *b_end = b + right->count;

	while (a < a_end && b < b_end) {
		size_t is_b = b->begin_ns < a->begin_ns;
		const struct item *from[2] = {a, b};

		*to++ = *from[is_b];
		b += is_b;
		a += 1 - is_b;
	}
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
	memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

/* Neighbours by pairs, until one is left, so that queues stay in order where begins are equal. */
static void merge_all(struct queues *queues, struct slice *whole)
{
	struct slice *slices = queues->slices;
	uint32_t count = 0;

	for (uint32_t i = 0; i < queues->count; i++)
		if (slices[i].count)
			slices[count++] = slices[i];
	for (int which = 0; count > 1; which = !which) {
		struct item *to = queues->merged[which];
		uint32_t pairs = (count + 1) / 2;

		for (uint32_t p = 0; p < pairs; p++) {
			const struct slice none = {NULL, 0}, *left = &slices[2 * p];
			const struct slice *right = 2 * p + 1 < count ? left + 1 : &none;
			struct slice both = {to, left->count + right->count};

			if (right->count)
				merge(to, left, right);
			else
				memcpy(to, left->items, left->count * sizeof(*to));
			slices[p] = both;
			to += both.count;
		}
		count = pairs;
	}
	*whole = count ? slices[0] : (struct slice){NULL, 0};
}

/* ---- gaps ---- */

/* Room for so many more. */
static bool gaps_reserve(struct gap_list *gaps, size_t more)
{
	struct queues_gap *list;
	size_t room, gone = gaps->first - 1;

	if (gaps->count + more <= gaps->room)
		return true;
	if (gone) {
		gaps->count -= gone;
		gaps->first -= gone;
		gaps->final -= gone;
		memmove(gaps->list, gaps->list + gone, gaps->count * sizeof(*gaps->list));
	}
	if (gaps->count + more <= gaps->room / 2)
		return true;
	room = 2 * (gaps->count + more);
	list = realloc(gaps->list, room * sizeof(*list));
	if (!list)
		return false;
	gaps->list = list;
	gaps->room = room;
	return true;
}

static inline uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t largest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Of spans that begin together in the queue whose work ends a gap the last one owns its line. */
static inline void own_end(struct queues_gap *gap, const struct item *item)
{
	bool is_owner = (item->begin_ns == gap->end_ns) & (item->queue == gap->stream);

	gap->context = is_owner ? item->context : gap->context;
}

static inline __attribute__((always_inline)) void unite(
	struct queues *queues, const struct item *items, size_t count, bool by_kernel)
{
	uint64_t from_ns = queues->question.begin_ns, to_ns = queues->question.end_ns;
	uint64_t reach[WORK_COUNT], sum[WORK_COUNT];
	struct queues_gap *gap = queues->gaps.list + queues->gaps.count;

	memcpy(reach, queues->reach_ns, sizeof(reach));
	memcpy(sum, queues->sum_ns, sizeof(sum));
	for (size_t i = 0; i < count; i++) {
		const struct item *item = &items[i];
		uint64_t begin_ns = least(largest(item->begin_ns, from_ns), to_ns);
		uint64_t end_ns = least(largest(item->end_ns, from_ns), to_ns);

		if (by_kernel) {
			/* Behind the last span, as far as another kind of work went on. */
			uint64_t copy_ns = largest(reach[WORK_COMM], gap[-1].end_ns);
			uint64_t copied_ns = least(reach[WORK_OTHER], begin_ns);

			*gap = (struct queues_gap){copy_ns, copied_ns, UINT64_MAX, 0, 0, false, true, false};
			gap += copied_ns > copy_ns;
		}
		*gap = (struct queues_gap){reach[WORK_OTHER], begin_ns, UINT64_MAX, item->queue,
			item->context, false, false, false};
		gap += begin_ns > reach[WORK_OTHER];
		gap[-1].queued_ns = least(gap[-1].queued_ns, item->since_ns);
		own_end(&gap[-1], item);
		for (uint32_t work = 0; work < WORK_COUNT; work++) {
			uint64_t reach_ns = item->work <= work ? end_ns : 0;
			uint64_t since_ns = largest(begin_ns, reach[work]);

			sum[work] += largest(reach_ns, since_ns) - since_ns;
			reach[work] = largest(reach[work], reach_ns);
		}
	}
	memcpy(queues->reach_ns, reach, sizeof(reach));
	memcpy(queues->sum_ns, sum, sizeof(sum));
	queues->gaps.count = (size_t)(gap - queues->gaps.list);
}

static bool unite_slice(struct queues *queues, const struct slice *whole)
{
	if (!gaps_reserve(&queues->gaps, 2 * whole->count + 2))
		return false;
	if (queues->question.by_kernel)
		unite(queues, whole->items, whole->count, true);
	else
		unite(queues, whole->items, whole->count, false);
	return true;
}

bool queues_unite(struct queues *queues)
{
	struct slice whole;
	size_t count = 0;

	for (uint32_t i = 0; i < queues->count; i++)
		count += queues->slices[i].count;
	if (!scratch_reserve(queues, count))
		return false;
	merge_all(queues, &whole);
	return unite_slice(queues, &whole);
}

bool queues_unite_end(struct queues *queues)
{
	const struct item end = {
		queues->question.end_ns, queues->question.end_ns, UINT64_MAX, 0, 0, WORK_OTHER};
	const struct slice last = {&end, 1};

	return unite_slice(queues, &last);
}
