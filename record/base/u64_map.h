/* SPDX-License-Identifier: Apache-2.0 */
/*
 * u64_map.h - numbers by key, a hash table with open addressing. Empty when zeroed. Keys may be a program's:
 * which fall together it cannot know (hash_seed.h).
 */
#ifndef RECORD_U64_MAP_H
#define RECORD_U64_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map_key {
	uint64_t high, low;
};

struct map_slot {
	struct map_key key;
	uint32_t value; /* MAP_NONE: empty */
};

struct map {
	struct map_slot *slots;
	size_t count, room; /* room is a power of two, or 0 */
	uint64_t secret;
};

/* MAP_NONE: not there. */
uint32_t map_get(const struct map *map, struct map_key key);
/* Adds or replaces; `value` is not MAP_NONE. False: no memory. */
bool map_put(struct map *map, struct map_key key, uint32_t value);
void map_remove(struct map *map, struct map_key key);
void map_fini(struct map *map);

#endif
