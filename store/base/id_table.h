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

/* Appends a cleared element to *array; NULL without memory or 32-bit ids. */
void *store_id_table_add(void **array, uint32_t *count, uint32_t *capacity, size_t element_bytes);

/* Reserves `wanted` elements without touching them; large arrays use huge pages where available: page faults
 * are half the cost of a large table. False: no memory. */
bool store_id_table_reserve(void **array, uint32_t *capacity, uint32_t wanted, size_t element_bytes);

/* Keeps a table of 1 + id (0: free) at most half full for `count` ids and one more; a grown table is
 * refilled with `hash` of each id. Id 0 is never in it. False: no memory. */
bool store_id_table_grow(uint32_t **slots, size_t *slot_count, uint32_t count,
	uint64_t (*hash)(const void *table, uint32_t id), const void *table);

#endif
