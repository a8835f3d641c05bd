/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_sort.h - sorts what is mostly in order, as records are that come stream by stream: the stretches that
 * ascend are merged with neighbours of about their length, so that a list in order costs one look and a long
 * stretch is moved a few times, however many short ones there are. The order of equal items is open. Inline
 * with the comparison and the size of items, which the caller gives as constants.
 *
 *   stack of stretches:  |0 ............................|............|....|..|     each more than twice
 *                                                                     merge <-     as long as the next
 */
#ifndef STORE_MERGE_SORT_H
#define STORE_MERGE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/huge_pages.h"

#define MERGE_SORT_STACK 70u /* each is more than twice as long as the next: 64 have all of 2^64 items */

typedef int merge_sort_compare(const void *a, const void *b);

/* Merges the sorted [0, middle) and [middle, count), upward; `spare` has room for the first. */
static inline __attribute__((always_inline)) void merge_sort_up(
	char *items, char *spare, size_t middle, size_t count, size_t item_bytes, merge_sort_compare *compare)
{
	const char *left = spare, *const left_end = spare + middle * item_bytes;
	const char *right = items + middle * item_bytes, *const right_end = items + count * item_bytes;

	memcpy(spare, items, middle * item_bytes);
	for (; left < left_end && right < right_end; items += item_bytes)
		if (compare(left, right) <= 0) {
			memcpy(items, left, item_bytes);
			left += item_bytes;
		} else {
			memcpy(items, right, item_bytes);
			right += item_bytes;
		}
	memcpy(items, left, (size_t)(left_end - left));
}

/* The same, downward; `spare` has room for the second. */
static inline __attribute__((always_inline)) void merge_sort_down(
	char *items, char *spare, size_t middle, size_t count, size_t item_bytes, merge_sort_compare *compare)
{
	const char *left = items + middle * item_bytes, *right = spare + (count - middle) * item_bytes;
	char *to = items + count * item_bytes;

	memcpy(spare, left, (count - middle) * item_bytes);
	while (left > items && right > spare) {
		bool is_left = compare(left - item_bytes, right - item_bytes) > 0;

		left -= is_left ? item_bytes : 0;
		right -= is_left ? 0 : item_bytes;
		memcpy(to -= item_bytes, is_left ? left : right, item_bytes);
	}
	memcpy(items + (left - items), spare, (size_t)(right - spare));
}

/* Merges [0, middle) and [middle, count); `spare` has room for the shorter one: of a short one behind a long
 * one no more than that is copied. */
static inline __attribute__((always_inline)) void merge_sort_merge(
	char *items, char *spare, size_t middle, size_t count, size_t item_bytes, merge_sort_compare *compare)
{
	const char *right = items + middle * item_bytes;
	size_t first = 0, behind = middle;

	/* What comes before all of the second stays. */
	while (first < behind) {
		size_t half = first + (behind - first) / 2;

		if (compare(items + half * item_bytes, right) <= 0)
			first = half + 1;
		else
			behind = half;
	}
	items += first * item_bytes;
	middle -= first;
	count -= first;
	if (middle <= count - middle)
		merge_sort_up(items, spare, middle, count, item_bytes, compare);
	else
		merge_sort_down(items, spare, middle, count, item_bytes, compare);
}

/* Where the stretch that begins at `begin` ends. */
static inline __attribute__((always_inline)) size_t merge_sort_stretch(
	const char *items, size_t begin, size_t count, size_t item_bytes, merge_sort_compare *compare)
{
	size_t end = begin + 1;

	while (end < count && compare(items + (end - 1) * item_bytes, items + end * item_bytes) <= 0)
		end++;
	return end;
}

static inline __attribute__((always_inline)) void merge_sort(
	void *list, size_t count, size_t item_bytes, merge_sort_compare *compare)
{
	size_t begins[MERGE_SORT_STACK + 1], depth = 0, end = 0;
	char *spare, *items = list;

	if (count < 2 || (end = merge_sort_stretch(list, 0, count, item_bytes, compare)) == count)
		return;
	spare = malloc(count / 2 * item_bytes);
	if (!spare) {
		qsort(list, count, item_bytes, compare);
		return;
	}
	huge_pages_advise(spare, count / 2 * item_bytes);
	begins[depth++] = 0;
	while (end < count || depth > 1) {
		size_t last = end - begins[depth - 1],
		       before = depth > 1 ? begins[depth - 1] - begins[depth - 2] : 0;

		if (depth > 1 && (end == count || before < 2 * last)) {
			size_t begin = begins[depth - 2];

			merge_sort_merge(
				items + begin * item_bytes, spare, before, end - begin, item_bytes, compare);
			depth--;
		} else {
			begins[depth++] = end;
			end = merge_sort_stretch(list, end, count, item_bytes, compare);
		}
	}
	free(spare);
}

#endif
