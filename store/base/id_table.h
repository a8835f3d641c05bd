/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_table.h - arrays that double when full, and hash tables of their ids; texts, contexts, modules and
 * streams use them.
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

/* Reserves `wanted` elements without touching them; large arrays use huge pages where available: page faults
 * are half the cost of a large table. False: no memory. */
bool store_id_table_reserve(void *array, uint32_t *capacity, uint32_t wanted, size_t element_bytes);

/* Makes room in an index of `count` ids for one more; fills an empty one first, because readers need none.
 * Id 0 is never in it. False: no memory. */
bool store_id_table_index(struct hash_index *index, uint32_t count, hash_index_hash *hash, const void *table);

#endif
