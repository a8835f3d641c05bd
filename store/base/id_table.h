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

/* `array` is the address of the pointer to the elements. Adds a cleared element behind the last, counted;
 * NULL when memory or 32-bit ids are out. */
void *store_id_table_add(void *array, uint32_t *count, uint32_t *capacity, size_t element_bytes);

/* Room for `wanted` elements, of which nothing is touched; large, in huge pages where there are any: to get
 * its memory page by page is half of what a large table costs. False when memory is out. */
bool store_id_table_reserve(void *array, uint32_t *capacity, uint32_t wanted, size_t element_bytes);

/* Keeps a table of 1 + id (0: free) at most half full for `count` ids and one more; grown, it is filled
 * anew with `hash` of each id. Id 0 is never in it. False when memory is out. */
bool store_id_table_grow(uint32_t **slots, size_t *slot_count, uint32_t count,
	uint64_t (*hash)(const void *table, uint32_t id), const void *table);

#endif
