/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - lists on the heap that grow by doubling, where nobody can tell how much is to come.
 * id_table.h has those whose places are 32-bit ids. */
#ifndef STORE_ARRAY_H
#define STORE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* What array_widen() does when there is none. */
bool array_double(void **list, size_t *room, size_t item_bytes);

/* Makes room for one more than `count` items of `item_bytes` each in a list that has `*room`; free() ends
 * it. False: memory is out, and the list is what it was. */
static inline bool array_widen(void **list, size_t *room, size_t count, size_t item_bytes)
{
	return count < *room || array_double(list, room, item_bytes);
}

#endif
