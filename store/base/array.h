/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - heap arrays that double when full, for lists whose final length is unknown. For arrays indexed
 * by 32-bit ids see id_table.h. */
#ifndef STORE_ARRAY_H
#define STORE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* The slow path of array_widen(): the array is full. */
bool array_double(void **list, size_t *room, size_t item_bytes);

/* Makes room for one more item behind `count` items of `item_bytes` bytes; `*room` is the capacity. The
 * caller frees the list. False: no memory, and the list is unchanged. */
static inline bool array_widen(void **list, size_t *room, size_t count, size_t item_bytes)
{
	return count < *room || array_double(list, room, item_bytes);
}

#endif
