/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - blocks of elements that never move, and an open-addressing index of their numbers.
 * Serves run.c and its kin: strings, functions, frames, scopes, contexts of several stores.
 */
#include "timeline/table.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_ELEMENTS (1u << TABLE_BLOCK_SHIFT)

void table_init(struct table *table, size_t element_bytes)
{
	*table = (struct table){.element_bytes = element_bytes};
}

void table_fini(struct table *table)
{
	for (uint32_t i = 0; i < table->block_count; i++)
		free(table->blocks[i]);
	free(table->blocks);
	free(table->slots);
	table_init(table, table->element_bytes);
}

static bool add_block(struct table *table)
{
	uint32_t count = table->block_count;

	/* The list of blocks grows by doubling: its size is the next power of two. */
	if (!(count & (count - 1))) {
		size_t capacity = count ? 2 * (size_t)count : 1;
		uint8_t **blocks = realloc(table->blocks, capacity * sizeof *blocks);

		if (!blocks)
			return false;
		table->blocks = blocks;
	}
	table->blocks[count] = calloc(BLOCK_ELEMENTS, table->element_bytes);
	if (!table->blocks[count])
		return false;
	table->block_count++;
	return true;
}

bool table_grow(struct table *table, uint32_t count)
{
	while ((uint64_t)table->block_count * BLOCK_ELEMENTS < count)
		if (!add_block(table))
			return false;
	if (count > table->count)
		table->count = count;
	return true;
}

void *table_add(struct table *table, uint32_t *id)
{
	if (table->count == TABLE_NONE || !table_grow(table, table->count + 1))
		return NULL;
	*id = table->count - 1;
	return table_at(table, *id);
}

static void slot_put(struct table_slot *slots, uint32_t mask, struct table_slot slot)
{
	uint32_t i = (uint32_t)slot.hash & mask;

	while (slots[i].id_plus_1)
		i = (i + 1) & mask;
	slots[i] = slot;
}

static bool index_widen(struct table *table)
{
	uint32_t count = table->slot_count ? table->slot_count * 2 : 64;
	struct table_slot *slots = count ? calloc(count, sizeof *slots) : NULL;

	if (!slots)
		return false;
	for (uint32_t i = 0; i < table->slot_count; i++)
		if (table->slots[i].id_plus_1)
			slot_put(slots, count - 1, table->slots[i]);
	free(table->slots);
	table->slots = slots;
	table->slot_count = count;
	return true;
}

bool table_index(struct table *table, uint32_t id, uint64_t hash)
{
	if (table->slots_used >= table->slot_count - table->slot_count / 3 && !index_widen(table))
		return false;
	slot_put(table->slots, table->slot_count - 1, (struct table_slot){hash, id + 1});
	table->slots_used++;
	return true;
}

uint32_t table_find(const struct table *table, uint64_t hash,
	bool (*equal)(const void *element, const void *key), const void *key)
{
	uint32_t mask = table->slot_count - 1;

	if (!table->slot_count)
		return TABLE_NONE;
	for (uint32_t i = (uint32_t)hash & mask; table->slots[i].id_plus_1; i = (i + 1) & mask)
		if (table->slots[i].hash == hash &&
			equal(table_at(table, table->slots[i].id_plus_1 - 1), key))
			return table->slots[i].id_plus_1 - 1;
	return TABLE_NONE;
}
