/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_ids.c - open addressing over a dense array of keys; grows at three quarters.
 */
#include "timeline/base/key_ids.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/hash.h"

#define SLOTS_FIRST 64u

void key_ids_init(struct key_ids *ids, size_t key_bytes)
{
	*ids = (struct key_ids){.key_bytes = key_bytes};
}

void key_ids_fini(struct key_ids *ids)
{
	free(ids->keys);
	free(ids->table);
	key_ids_init(ids, ids->key_bytes);
}

void key_ids_clear(struct key_ids *ids)
{
	ids->count = 0;
	if (ids->slots)
		memset(ids->table, 0, ids->slots * sizeof *ids->table);
}

const void *key_ids_key(const struct key_ids *ids, uint32_t number)
{
	return ids->keys + (size_t)number * ids->key_bytes;
}

/* The slot of the key, or the free one where it belongs. */
static uint32_t find_slot(const struct key_ids *ids, const void *key)
{
	uint32_t mask = ids->slots - 1;
	uint32_t slot = (uint32_t)store_hash64(key, ids->key_bytes, 0) & mask;

	while (ids->table[slot] != 0 &&
		memcmp(key_ids_key(ids, ids->table[slot] - 1), key, ids->key_bytes) != 0)
		slot = (slot + 1) & mask;
	return slot;
}

static bool grow(struct key_ids *ids)
{
	uint32_t slots = ids->slots ? ids->slots * 2 : SLOTS_FIRST;
	uint32_t *table, capacity = slots / 4 * 3;
	uint8_t *keys;

	if (slots == 0)
		return false;
	keys = realloc(ids->keys, (size_t)capacity * ids->key_bytes);
	if (!keys)
		return false;
	ids->keys = keys;
	ids->capacity = capacity;
	table = calloc(slots, sizeof *table);
	if (!table)
		return false;
	free(ids->table);
	ids->table = table;
	ids->slots = slots;
	for (uint32_t i = 0; i < ids->count; i++)
		table[find_slot(ids, key_ids_key(ids, i))] = i + 1;
	return true;
}

uint32_t key_ids_put(struct key_ids *ids, const void *key, bool *is_new)
{
	uint32_t slot;

	if (is_new)
		*is_new = false;
	if ((ids->slots == 0 || ids->count >= ids->slots / 4 * 3) && !grow(ids))
		return KEY_IDS_NONE;
	slot = find_slot(ids, key);
	if (ids->table[slot] != 0)
		return ids->table[slot] - 1;
	memcpy(ids->keys + (size_t)ids->count * ids->key_bytes, key, ids->key_bytes);
	ids->table[slot] = ++ids->count;
	if (is_new)
		*is_new = true;
	return ids->count - 1;
}

uint32_t key_ids_find(const struct key_ids *ids, const void *key)
{
	if (ids->slots == 0)
		return KEY_IDS_NONE;
	return ids->table[find_slot(ids, key)] - 1; /* a free slot gives KEY_IDS_NONE */
}
