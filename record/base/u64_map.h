/* SPDX-License-Identifier: Apache-2.0 */
/*
 * u64_map.h - hash table from 64-bit keys to 32-bit values, open addressing. Empty when zeroed. Seeded
 * (hash_seed.h), so that a program that chooses keys cannot make them collide.
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
	uint32_t value; /* U64_MAP_NONE: empty slot */
};

struct u64_map {
	struct u64_map_slot *slots;
	size_t count, capacity; /* capacity is a power of two, or 0 */
	uint64_t seed;
};

/* U64_MAP_NONE if the key is missing. */
uint32_t u64_map_get(const struct u64_map *map, struct u64_map_key key);
/* Adds or replaces; `value` must not be U64_MAP_NONE. False: no memory. */
bool u64_map_put(struct u64_map *map, struct u64_map_key key, uint32_t value);
void u64_map_remove(struct u64_map *map, struct u64_map_key key);
void u64_map_fini(struct u64_map *map);

#endif
