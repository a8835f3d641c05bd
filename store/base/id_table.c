/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_table.c - growing arrays and hash tables of ids.
 */
#include "store/base/id_table.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"

#define TABLE_FIRST 16u

void *store_id_table_add(void *array, uint32_t *count, uint32_t *capacity, size_t element_bytes)
{
	char *elements;

	if (*count == *capacity) {
		uint32_t wanted = *capacity ? *capacity * 2 : TABLE_FIRST;

		if (*capacity > UINT32_MAX / 4 || !array_resize(array, wanted, element_bytes))
			return NULL;
		*capacity = wanted;
	}
	memcpy(&elements, array, sizeof elements);
	return memset(elements + (size_t)(*count)++ * element_bytes, 0, element_bytes);
}

bool store_id_table_reserve(void *array, uint32_t *capacity, uint32_t wanted, size_t element_bytes)
{
	if (wanted <= *capacity)
		return true;
	if (!array_resize(array, wanted, element_bytes))
		return false;
	*capacity = wanted;
	return true;
}

bool store_id_table_index(struct hash_index *index, uint32_t count, hash_index_hash *hash, const void *table)
{
	bool is_empty = !index->count;

	if (!hash_index_reserve(index, count, hash, table))
		return false;
	for (uint32_t id = 1; is_empty && id < count; id++)
		hash_index_put(index, hash(table, id), id);
	return true;
}
