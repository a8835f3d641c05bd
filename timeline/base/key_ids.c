/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_ids.c - an index over a dense array of keys.
 */
#include "timeline/base/key_ids.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/hash.h"

void key_ids_init(struct key_ids *ids, size_t key_bytes)
{
	*ids = (struct key_ids){.key_bytes = key_bytes};
}

void key_ids_fini(struct key_ids *ids)
{
	free(ids->keys);
	free(ids->index.slots);
	key_ids_init(ids, ids->key_bytes);
}

void key_ids_clear(struct key_ids *ids)
{
	ids->count = 0;
	if (ids->index.slots)
		memset(ids->index.slots, 0, ids->index.count * sizeof *ids->index.slots);
}

const void *key_ids_key(const struct key_ids *ids, uint32_t number)
{
	return ids->keys + (size_t)number * ids->key_bytes;
}

static uint64_t key_hash(const void *ids, uint32_t number)
{
	return store_hash64(key_ids_key(ids, number), ((const struct key_ids *)ids)->key_bytes, 0);
}

static bool key_equal(const void *ids, uint32_t number, const void *key)
{
	return memcmp(key_ids_key(ids, number), key, ((const struct key_ids *)ids)->key_bytes) == 0;
}

static uint32_t *slot_of(const struct key_ids *ids, const void *key)
{
	return hash_index_slot(&ids->index, store_hash64(key, ids->key_bytes, 0), key_equal, ids, key);
}

uint32_t key_ids_put(struct key_ids *ids, const void *key, bool *is_new)
{
	uint32_t *slot;

	if (is_new)
		*is_new = false;
	if (ids->count >= UINT32_MAX / 2 || !hash_index_reserve(&ids->index, ids->count, key_hash, ids) ||
		!array_widen(&ids->keys, &ids->capacity, ids->count, ids->key_bytes))
		return KEY_IDS_NONE;
	slot = slot_of(ids, key);
	if (*slot)
		return *slot - 1;
	memcpy(ids->keys + (size_t)ids->count * ids->key_bytes, key, ids->key_bytes);
	*slot = ++ids->count;
	if (is_new)
		*is_new = true;
	return ids->count - 1;
}

uint32_t key_ids_find(const struct key_ids *ids, const void *key)
{
	return ids->index.count ? *slot_of(ids, key) - 1 : KEY_IDS_NONE; /* a free slot gives KEY_IDS_NONE */
}
