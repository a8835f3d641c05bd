/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - heap arrays that grow. `list` is the address of the pointer to the items, `room` the number of
 * items allocated; free() ends it. Each function returns false without memory, and the array is then
 * unchanged. Large ones are in huge pages where available. For arrays indexed by 32-bit ids see id_table.h.
 */
#ifndef STORE_ARRAY_H
#define STORE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Memory for exactly `count` items; new ones are undefined. */
bool array_resize(void *list, size_t count, size_t item_bytes);
/* The same for a list of `before` items; new ones are all-zero. */
bool array_resize_zero(void *list, size_t before, size_t count, size_t item_bytes);

/* What the functions below do where the room is too small. */
bool array_grow(void *list, size_t *room, size_t wanted, size_t item_bytes, bool is_zero);

/* Doubles the room until it is at least `wanted`. */
static inline bool array_reserve(void *list, size_t *room, size_t wanted, size_t item_bytes)
{
	return wanted <= *room || array_grow(list, room, wanted, item_bytes, false);
}

/* The same; new items are all-zero. */
static inline bool array_reserve_zero(void *list, size_t *room, size_t wanted, size_t item_bytes)
{
	return wanted <= *room || array_grow(list, room, wanted, item_bytes, true);
}

/* Makes room for one more than `count` items. */
static inline bool array_widen(void *list, size_t *room, size_t count, size_t item_bytes)
{
	return count < *room || array_grow(list, room, count + 1, item_bytes, false);
}

#endif
