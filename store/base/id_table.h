/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_table.h - arrays that grow by doubling and the hash tables of ids beside them; what texts, contexts,
 * modules and streams are kept in.
 */
#ifndef STORE_ID_TABLE_H
#define STORE_ID_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/base/hash_index.h"

/* `array` is the address of the pointer to the elements. Adds a cleared element behind the last, counted;
 * NULL when memory or 32-bit ids are out. */
void *store_id_table_add(void *array, uint32_t *count, uint32_t *capacity, size_t element_bytes);

/* Room for `wanted` elements, of which nothing is touched; large, in huge pages where there are any: to get
 * its memory page by page is half of what a large table costs. False when memory is out. */
bool store_id_table_reserve(void *array, uint32_t *capacity, uint32_t wanted, size_t element_bytes);

/* Makes room in an index of `count` ids for one more; an empty one is filled first: readers need none. Id 0
 * is never in it. False when memory is out. */
bool store_id_table_index(struct hash_index *index, uint32_t count, hash_index_hash *hash, const void *table);

#endif
