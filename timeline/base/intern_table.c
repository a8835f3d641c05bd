/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern_table.c - blocks of elements that never move, and an index of their numbers. Unlike hash_index.h it
 * stores hashes, because many elements are keyed by more than they contain. Used for a run's strings,
 * functions, frames, scopes and contexts.
 */
#include "timeline/base/intern_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "store/base/array.h"
#include "store/base/huge_pages.h"

#define BLOCK_ELEMENTS (1u << INTERN_TABLE_BLOCK_SHIFT)

void intern_table_init(struct intern_table *table, size_t element_bytes)
{
	*table = (struct intern_table){.element_bytes = element_bytes};
}

/* All-zero memory. A large block is a map of its own, where untouched pages cost nothing, in huge pages
 * where available: page faults are most of the cost of a large table. */
static struct intern_table_memory memory_new(size_t bytes)
{
	struct intern_table_memory memory = {.mapped_bytes = bytes >= HUGE_PAGES_BYTES ? bytes : 0};
	void *map;

	if (!memory.mapped_bytes) {
		memory.at = calloc(1, bytes);
		return memory;
	}
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map != MAP_FAILED) {
		huge_pages_advise(map, bytes);
		memory.at = map;
	}
	return memory;
}

static void memory_free(struct intern_table_memory *memory)
{
	if (memory->mapped_bytes)
		munmap(memory->at, memory->mapped_bytes);
	else
		free(memory->at);
}

void intern_table_fini(struct intern_table *table)
{
	for (uint32_t i = 0; i < table->memory_count; i++)
		memory_free(&table->memory[i]);
	free(table->memory);
	free(table->blocks);
	free(table->slots);
	intern_table_init(table, table->element_bytes);
}

static bool add_blocks(struct intern_table *table, uint32_t more)
{
	const size_t block_bytes = BLOCK_ELEMENTS * table->element_bytes;
	struct intern_table_memory memory;

	if (!array_reserve(&table->blocks, &table->block_room, (size_t)table->block_count + more,
		    sizeof(uint8_t *)) ||
		!array_widen(&table->memory, &table->memory_room, table->memory_count, sizeof *table->memory))
		return false;
	memory = memory_new(more * block_bytes);
	if (!memory.at)
		return false;
	table->memory[table->memory_count++] = memory;
	for (uint32_t i = 0; i < more; i++)
		table->blocks[table->block_count++] = memory.at + i * block_bytes;
	return true;
}

bool intern_table_grow(struct intern_table *table, uint32_t count)
{
	uint32_t blocks = (uint32_t)(((uint64_t)count + BLOCK_ELEMENTS - 1) / BLOCK_ELEMENTS);

	if (blocks > table->block_count && !add_blocks(table, blocks - table->block_count))
		return false;
	if (count > table->count)
		table->count = count;
	return true;
}

void *intern_table_add(struct intern_table *table, uint32_t *id)
{
	if (table->count == INTERN_TABLE_NONE || !intern_table_grow(table, table->count + 1))
		return NULL;
	*id = table->count - 1;
	return intern_table_at(table, *id);
}

static void slot_put(struct intern_table_slot *slots, uint32_t mask, struct intern_table_slot slot)
{
	uint32_t i = (uint32_t)slot.hash & mask;

	while (slots[i].id_plus_1)
		i = (i + 1) & mask;
	slots[i] = slot;
}

static bool index_widen(struct intern_table *table)
{
	uint32_t count = table->slot_count ? table->slot_count * 2 : 64;
	struct intern_table_slot *slots = count ? calloc(count, sizeof *slots) : NULL;

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

bool intern_table_index(struct intern_table *table, uint32_t id, uint64_t hash)
{
	if (table->slots_used >= table->slot_count - table->slot_count / 3 && !index_widen(table))
		return false;
	slot_put(table->slots, table->slot_count - 1, (struct intern_table_slot){hash, id + 1});
	table->slots_used++;
	return true;
}

uint32_t intern_table_find(const struct intern_table *table, uint64_t hash,
	bool (*equal)(const void *element, const void *key), const void *key)
{
	uint32_t mask = table->slot_count - 1;

	if (!table->slot_count)
		return INTERN_TABLE_NONE;
	for (uint32_t i = (uint32_t)hash & mask; table->slots[i].id_plus_1; i = (i + 1) & mask)
		if (table->slots[i].hash == hash &&
			equal(intern_table_at(table, table->slots[i].id_plus_1 - 1), key))
			return table->slots[i].id_plus_1 - 1;
	return INTERN_TABLE_NONE;
}
