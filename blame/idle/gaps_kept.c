/* SPDX-License-Identifier: Apache-2.0 */
/* gaps_kept.c - see gaps.h: the largest gaps as a heap, or all of them, in memory or on disk. */
#include <stdlib.h>

#include "blame/idle/gaps_internal.h"
#include "blame/idle/idle_group.h"
#include "store/base/array.h"

static int gap_compare(const void *left, const void *right)
{
	const struct gap *a = left, *b = right;
	uint64_t size_a = a->end_ns - a->begin_ns, size_b = b->end_ns - b->begin_ns;

	if (size_a != size_b)
		return size_a > size_b ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static void heap_sink(struct gap *heap, size_t count)
{
	struct gap sinking = heap[0];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count && gap_compare(&heap[child + 1], &heap[child]) > 0)
			child++;
		if (gap_compare(&heap[child], &sinking) <= 0)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = sinking;
}

/* Sorted backwards a list is a heap. */
static void heap_make(struct gaps *gaps)
{
	qsort(gaps->list, gaps->count, sizeof(*gaps->list), gap_compare);
	for (size_t i = 0; i < gaps->count / 2; i++) {
		struct gap swapped = gaps->list[i];

		gaps->list[i] = gaps->list[gaps->count - 1 - i];
		gaps->list[gaps->count - 1 - i] = swapped;
	}
}

bool gaps_keep(struct gaps *gaps, const struct gap *gap)
{
	if (gaps->spill) {
		if (!gaps->failure.code)
			external_sort_put(gaps->spill, gap, &gaps->failure);
		return true;
	}
	if (gaps->count == gaps->limit) {
		if (gaps->limit && gap_compare(gap, &gaps->list[0]) < 0) {
			gaps->list[0] = *gap;
			heap_sink(gaps->list, gaps->count);
		}
		return true;
	}
	if (!array_widen((void **)&gaps->list, &gaps->capacity, gaps->count, sizeof *gaps->list))
		return false;
	gaps->list[gaps->count++] = *gap;
	if (gaps->count == gaps->limit)
		heap_make(gaps);
	return true;
}

uint64_t gaps_least_ns(const struct gaps *gaps)
{
	uint64_t least_ns = 0;

	if (gaps->count == gaps->limit)
		least_ns = gaps->limit ? gaps->list[0].end_ns - gaps->list[0].begin_ns : UINT64_MAX;
	return least_ns > gaps->min_ns ? least_ns : gaps->min_ns;
}

const struct gap *gaps_list(struct gaps *gaps, size_t *count)
{
	if (!gaps->is_sorted && gaps->count)
		qsort(gaps->list, gaps->count, sizeof(*gaps->list), gap_compare);
	gaps->is_sorted = true;
	*count = gaps->count;
	return gaps->list;
}

int gaps_spill(struct gaps *gaps, uint64_t mem_bytes, struct error *error)
{
	return external_sort_new(&gaps->spill, sizeof(struct gap), gap_compare, mem_bytes, error);
}

bool gaps_are_spilled(const struct gaps *gaps)
{
	return gaps->spill;
}

bool gaps_add(
	struct gaps *gaps, const struct gap *list, size_t count, const struct gap_class classes[GAP_CLASSES])
{
	for (int i = 0; i < GAP_CLASSES; i++) {
		gaps->classes[i].count += classes[i].count;
		gaps->classes[i].time_ns += classes[i].time_ns;
	}
	for (size_t i = 0; i < count; i++)
		if (!gaps_keep(gaps, &list[i]))
			return false;
	return true;
}

int gaps_rewind(struct gaps *gaps, struct error *error)
{
	size_t count;

	gaps->given = 0;
	if (!gaps->spill) {
		gaps_list(gaps, &count);
		return 0;
	}
	if (gaps->failure.code) {
		*error = gaps->failure;
		return -gaps->failure.code;
	}
	return external_sort_rewind(gaps->spill, error);
}

const struct gap *gaps_next(struct gaps *gaps, int *code, struct error *error)
{
	*code = 0;
	if (gaps->spill)
		return external_sort_next(gaps->spill, code, error);
	return gaps->given < gaps->count ? &gaps->list[gaps->given++] : NULL;
}
