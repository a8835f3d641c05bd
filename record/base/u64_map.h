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

#define U64_MAP_NONE UINT32_MAX

struct u64_map_key {
	uint64_t high, low;
};

struct u64_map_slot {
	struct u64_map_key key;
	uint32_t value; /* U64_MAP_NONE: empty */
};

struct u64_map {
	struct u64_map_slot *slots;
	size_t count, capacity; /* capacity is a power of two, or 0 */
	uint64_t seed;
};

/* U64_MAP_NONE: not there. */
uint32_t u64_map_get(const struct u64_map *map, struct u64_map_key key);
/* Adds or replaces; `value` is not U64_MAP_NONE. False: no memory. */
bool u64_map_put(struct u64_map *map, struct u64_map_key key, uint32_t value);
void u64_map_remove(struct u64_map *map, struct u64_map_key key);
void u64_map_fini(struct u64_map *map);

#endif
