/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_map.c - see gpu_map.h. Linear probing; a removal closes its gap, so there are no tombstones. */
#include "record/agent/gpu/gpu_map.h"

#include <stdint.h>
#include <stdlib.h>

#define ROOM_FIRST 64u

static size_t home_of(const struct gpu_map *map, const void *key)
{
	return (size_t)(((uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) &
	       (map->capacity - 1);
}

/* The key's slot, or the free slot for it. */
static struct gpu_map_slot *slot_of(const struct gpu_map *map, const void *key)
{
	size_t at = home_of(map, key);

	while (map->slots[at].key && map->slots[at].key != key)
		at = (at + 1) & (map->capacity - 1);
	return &map->slots[at];
}

void *gpu_map_get(const struct gpu_map *map, const void *key)
{
	return map->capacity && key ? slot_of(map, key)->value : NULL;
}

static int grow(struct gpu_map *map)
{
	struct gpu_map larger = {
		.capacity = map->capacity ? 2 * map->capacity : ROOM_FIRST, .count = map->count};

	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return -1;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slots[i].key)
			*slot_of(&larger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = larger;
	return 0;
}

int gpu_map_put(struct gpu_map *map, const void *key, void *value)
{
	struct gpu_map_slot *slot;

	if (2 * map->count >= map->capacity && grow(map))
		return -1;
	slot = slot_of(map, key);
	map->count += !slot->key;
	*slot = (struct gpu_map_slot){key, value};
	return 0;
}

void *gpu_map_take(struct gpu_map *map, const void *key)
{
	struct gpu_map_slot *slot = map->capacity && key ? slot_of(map, key) : NULL;
	void *value = slot ? slot->value : NULL;
	size_t gap, at, mask = map->capacity - 1;

	if (!slot || !slot->key)
		return NULL;
	map->count--;
	gap = at = (size_t)(slot - map->slots);
	for (;;) {
		at = (at + 1) & mask;
		if (!map->slots[at].key)
			break;
		/* An entry may move into the gap if its home is at or before the gap. */
		if (((at - home_of(map, map->slots[at].key)) & mask) < ((at - gap) & mask))
			continue;
		map->slots[gap] = map->slots[at];
		gap = at;
	}
	map->slots[gap] = (struct gpu_map_slot){NULL, NULL};
	return value;
}
