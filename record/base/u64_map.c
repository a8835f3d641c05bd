/* SPDX-License-Identifier: Apache-2.0 */
/* u64_map.c - see u64_map.h. Linear probing; a removal moves back what comes after it. */
#include "record/base/u64_map.h"

#include <stdlib.h>
#include <string.h>

#include "record/base/hash_seed.h"
#include "store/base/hash.h"

#define ROOM_LEAST 64

static size_t place_of(const struct map *map, struct map_key key)
{
	return (size_t)store_hash64(&key, sizeof(key), map->secret) & (map->room - 1);
}

static bool is_same(struct map_key a, struct map_key b)
{
	return a.high == b.high && a.low == b.low;
}

/* The slot that holds the key or is to. */
static struct map_slot *slot_find(const struct map *map, struct map_key key)
{
	size_t at = place_of(map, key);

	while (map->slots[at].value != MAP_NONE && !is_same(map->slots[at].key, key))
		at = (at + 1) & (map->room - 1);
	return &map->slots[at];
}

uint32_t map_get(const struct map *map, struct map_key key)
{
	return map->room ? slot_find(map, key)->value : MAP_NONE;
}

static bool map_widen(struct map *map)
{
	struct map wider = {.room = map->room ? 2 * map->room : ROOM_LEAST,
		.secret = map->room ? map->secret : secret_new()};

	wider.slots = malloc(wider.room * sizeof(*wider.slots));
	if (!wider.slots)
		return false;
	memset(wider.slots, 0xff, wider.room * sizeof(*wider.slots));
	for (size_t i = 0; i < map->room; i++)
		if (map->slots[i].value != MAP_NONE)
			*slot_find(&wider, map->slots[i].key) = map->slots[i];
	wider.count = map->count;
	free(map->slots);
	*map = wider;
	return true;
}

bool map_put(struct map *map, struct map_key key, uint32_t value)
{
	struct map_slot *slot;

	if (2 * (map->count + 1) > map->room && !map_widen(map))
		return false;
	slot = slot_find(map, key);
	map->count += slot->value == MAP_NONE;
	*slot = (struct map_slot){key, value};
	return true;
}

void map_remove(struct map *map, struct map_key key)
{
	size_t hole, at;

	if (map_get(map, key) == MAP_NONE)
		return;
	hole = at = (size_t)(slot_find(map, key) - map->slots);
	map->count--;
	for (;;) {
		size_t place;

		at = (at + 1) & (map->room - 1);
		if (map->slots[at].value == MAP_NONE)
			break;
		/* What is at home between the hole and here stays. */
		place = place_of(map, map->slots[at].key);
		if (((at - place) & (map->room - 1)) < ((at - hole) & (map->room - 1)))
			continue;
		map->slots[hole] = map->slots[at];
		hole = at;
	}
	map->slots[hole].value = MAP_NONE;
}

void map_fini(struct map *map)
{
	free(map->slots);
	*map = (struct map){0};
}
