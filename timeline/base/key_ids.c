/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_ids.c - open addressing over a dense array of keys; grows at three quarters.
 */
#include "timeline/base/key_ids.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/hash.h"

#define SLOTS_FIRST 64u

void numbering_init(struct numbering *numbering, size_t key_bytes)
{
	*numbering = (struct numbering){.key_bytes = key_bytes};
}

void numbering_fini(struct numbering *numbering)
{
	free(numbering->keys);
	free(numbering->table);
	numbering_init(numbering, numbering->key_bytes);
}

void numbering_clear(struct numbering *numbering)
{
	numbering->count = 0;
	if (numbering->slots)
		memset(numbering->table, 0, numbering->slots * sizeof *numbering->table);
}

const void *numbering_key(const struct numbering *numbering, uint32_t number)
{
	return numbering->keys + (size_t)number * numbering->key_bytes;
}

/* The slot of the key, or the free one where it belongs. */
static uint32_t find_slot(const struct numbering *numbering, const void *key)
{
	uint32_t mask = numbering->slots - 1;
	uint32_t slot = (uint32_t)store_hash64(key, numbering->key_bytes, 0) & mask;

	while (numbering->table[slot] != 0 &&
		memcmp(numbering_key(numbering, numbering->table[slot] - 1), key, numbering->key_bytes) != 0)
		slot = (slot + 1) & mask;
	return slot;
}

static bool grow(struct numbering *numbering)
{
	uint32_t slots = numbering->slots ? numbering->slots * 2 : SLOTS_FIRST;
	uint32_t *table, capacity = slots / 4 * 3;
	uint8_t *keys;

	if (slots == 0)
		return false;
	keys = realloc(numbering->keys, (size_t)capacity * numbering->key_bytes);
	if (!keys)
		return false;
	numbering->keys = keys;
	numbering->capacity = capacity;
	table = calloc(slots, sizeof *table);
	if (!table)
		return false;
	free(numbering->table);
	numbering->table = table;
	numbering->slots = slots;
	for (uint32_t i = 0; i < numbering->count; i++)
		table[find_slot(numbering, numbering_key(numbering, i))] = i + 1;
	return true;
}

uint32_t numbering_put(struct numbering *numbering, const void *key, bool *is_new)
{
	uint32_t slot;

	if (is_new)
		*is_new = false;
	if ((numbering->slots == 0 || numbering->count >= numbering->slots / 4 * 3) && !grow(numbering))
		return NUMBERING_NONE;
	slot = find_slot(numbering, key);
	if (numbering->table[slot] != 0)
		return numbering->table[slot] - 1;
	memcpy(numbering->keys + (size_t)numbering->count * numbering->key_bytes, key, numbering->key_bytes);
	numbering->table[slot] = ++numbering->count;
	if (is_new)
		*is_new = true;
	return numbering->count - 1;
}

uint32_t numbering_find(const struct numbering *numbering, const void *key)
{
	if (numbering->slots == 0)
		return NUMBERING_NONE;
	return numbering->table[find_slot(numbering, key)] - 1; /* a free slot gives NUMBERING_NONE */
}
