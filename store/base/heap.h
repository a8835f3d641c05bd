/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - binary heaps in an array: no item comes before the one at (i - 1) / 2, so the first comes before
 * all others. Inline with the comparison and the size of items, which the caller gives as constants.
 */
#ifndef STORE_HEAP_H
#define STORE_HEAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define HEAP_ITEM_MAX 64u /* bytes */

typedef bool heap_is_before(const void *a, const void *b);

/* The item at `at` may come after those below it. */
static inline __attribute__((always_inline)) void heap_sink(
	void *heap, size_t count, size_t at, size_t item_bytes, heap_is_before *is_before)
{
	_Alignas(max_align_t) char item[HEAP_ITEM_MAX];
	char *const items = heap;
	size_t below;

	assert(item_bytes <= sizeof item);
	memcpy(item, items + at * item_bytes, item_bytes);
	for (; (below = 2 * at + 1) < count; at = below) {
		below += below + 1 < count &&
			 is_before(items + (below + 1) * item_bytes, items + below * item_bytes);
		if (!is_before(items + below * item_bytes, item))
			break;
		memcpy(items + at * item_bytes, items + below * item_bytes, item_bytes);
	}
	memcpy(items + at * item_bytes, item, item_bytes);
}

/* The item at `at`, the last one, may come before those above it. */
static inline __attribute__((always_inline)) void heap_rise(
	void *heap, size_t at, size_t item_bytes, heap_is_before *is_before)
{
	_Alignas(max_align_t) char item[HEAP_ITEM_MAX];
	char *const items = heap;

	assert(item_bytes <= sizeof item);
	memcpy(item, items + at * item_bytes, item_bytes);
	for (; at && is_before(item, items + (at - 1) / 2 * item_bytes); at = (at - 1) / 2)
		memcpy(items + at * item_bytes, items + (at - 1) / 2 * item_bytes, item_bytes);
	memcpy(items + at * item_bytes, item, item_bytes);
}

#endif
