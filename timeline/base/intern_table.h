/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern_table.h - gives things numbers in order of first use: elements keep their addresses while the table
 * grows, and a hash index finds them by content.
 */
#ifndef TIMELINE_INTERN_TABLE_H
#define TIMELINE_INTERN_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERN_TABLE_NONE UINT32_MAX
#define INTERN_TABLE_BLOCK_SHIFT 12 /* elements of one block: unused elements touch no memory */

struct intern_table_slot {
	uint64_t hash;
	uint32_t id_plus_1; /* 0: free */
};

struct intern_table_memory {
	uint8_t *at;
	size_t mapped_bytes; /* 0: on the heap */
};

struct intern_table {
	size_t element_bytes;
	uint32_t count;
	uint32_t block_count;
	uint8_t **blocks;
	struct intern_table_memory *memory; /* each of one block or more */
	uint32_t memory_count;
	size_t block_room, memory_room;
	struct intern_table_slot *slots;
	uint32_t slot_count; /* power of two, or 0 */
	uint32_t slots_used;
};

void intern_table_init(struct intern_table *table, size_t element_bytes);
/* Leaves it empty, as new. */
void intern_table_fini(struct intern_table *table);

/* Grows to `count` elements, new ones all-zero; false: no memory. */
bool intern_table_grow(struct intern_table *table, uint32_t count);
/* A new element, all-zero, not in the index; NULL: no memory. */
void *intern_table_add(struct intern_table *table, uint32_t *id);
/* Puts an element into the index; false: no memory. */
bool intern_table_index(struct intern_table *table, uint32_t id, uint64_t hash);

/* The element with this hash for which equal(element, key) is true; INTERN_TABLE_NONE: none. */
uint32_t intern_table_find(const struct intern_table *table, uint64_t hash,
	bool (*equal)(const void *element, const void *key), const void *key);

/* Element `id`, which must be below count. */
static inline void *intern_table_at(const struct intern_table *table, uint32_t id)
{
	return table->blocks[id >> INTERN_TABLE_BLOCK_SHIFT] +
	       (size_t)(id & ((1u << INTERN_TABLE_BLOCK_SHIFT) - 1)) * table->element_bytes;
}

/* Mixes one more value into a hash. */
static inline uint64_t intern_table_hash(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
	return hash ^ hash >> 29;
}

#endif
