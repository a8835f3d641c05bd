/* SPDX-License-Identifier: Apache-2.0 */
/* u64_map.c - see u64_map.h. Linear probing; a removal moves back what comes after it. */
#include "record/base/u64_map.h"

#include <stdlib.h>
#include <string.h>

#include "record/base/hash_seed.h"
#include "store/base/hash.h"

#define ROOM_LEAST 64

static size_t place_of(const struct u64_map *map, struct u64_map_key key)
{
	return (size_t)store_hash64(&key, sizeof(key), map->seed) & (map->capacity - 1);
}

static bool is_same(struct u64_map_key a, struct u64_map_key b)
{
	return a.high == b.high && a.low == b.low;
}

/* The slot that contains the key, or the free one for it. */
static struct u64_map_slot *slot_find(const struct u64_map *map, struct u64_map_key key)
{
	size_t at = place_of(map, key);

	while (map->slots[at].value != U64_MAP_NONE && !is_same(map->slots[at].key, key))
		at = (at + 1) & (map->capacity - 1);
	return &map->slots[at];
}

uint32_t u64_map_get(const struct u64_map *map, struct u64_map_key key)
{
	return map->capacity ? slot_find(map, key)->value : U64_MAP_NONE;
}

static bool u64_map_widen(struct u64_map *map)
{
	struct u64_map wider = {.capacity = map->capacity ? 2 * map->capacity : ROOM_LEAST,
		.seed = map->capacity ? map->seed : hash_seed_new()};

	wider.slots = malloc(wider.capacity * sizeof(*wider.slots));
	if (!wider.slots)
		return false;
	memset(wider.slots, 0xff, wider.capacity * sizeof(*wider.slots));
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slots[i].value != U64_MAP_NONE)
			*slot_find(&wider, map->slots[i].key) = map->slots[i];
	wider.count = map->count;
	free(map->slots);
	*map = wider;
	return true;
}

bool u64_map_put(struct u64_map *map, struct u64_map_key key, uint32_t value)
{
	struct u64_map_slot *slot;

	if (2 * (map->count + 1) > map->capacity && !u64_map_widen(map))
		return false;
	slot = slot_find(map, key);
	map->count += slot->value == U64_MAP_NONE;
	*slot = (struct u64_map_slot){key, value};
	return true;
}

void u64_map_remove(struct u64_map *map, struct u64_map_key key)
{
	size_t hole, at;

	if (u64_map_get(map, key) == U64_MAP_NONE)
		return;
	hole = at = (size_t)(slot_find(map, key) - map->slots);
	map->count--;
	for (;;) {
		size_t place;

		at = (at + 1) & (map->capacity - 1);
		if (map->slots[at].value == U64_MAP_NONE)
			break;
		/* An entry whose home slot is between the hole and here stays. */
		place = place_of(map, map->slots[at].key);
		if (((at - place) & (map->capacity - 1)) < ((at - hole) & (map->capacity - 1)))
			continue;
		map->slots[hole] = map->slots[at];
		hole = at;
	}
	map->slots[hole].value = U64_MAP_NONE;
}

void u64_map_fini(struct u64_map *map)
{
	free(map->slots);
	*map = (struct u64_map){0};
}
