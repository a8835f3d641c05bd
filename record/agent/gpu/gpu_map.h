/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_map.h - maps handles of a GPU runtime to the agent's data. The caller holds a lock; not signal safe. */
#ifndef RECORD_AGENT_GPU_MAP_H
#define RECORD_AGENT_GPU_MAP_H

#include <stddef.h>

struct gpu_map_slot {
	const void *key; /* NULL: free */
	void *value;
};

/* All zero: empty. */
struct gpu_map {
	struct gpu_map_slot *slots;
	size_t capacity; /* a power of two */
	size_t count;
};

/* NULL: not found, or the key is NULL. */
void *gpu_map_get(const struct gpu_map *map, const void *key);

/* Adds or replaces; neither is NULL. Negative: no memory, the map is unchanged. */
int gpu_map_put(struct gpu_map *map, const void *key, void *value);

/* Removes and returns the value, NULL: not found. */
void *gpu_map_take(struct gpu_map *map, const void *key);

#endif
