/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_map.h - handles of a GPU runtime to what the agent knows of them. Who uses a
 * map holds a lock of its own around it; never from a signal handler.
 */
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

/* NULL: not there, or the key is NULL. */
void *gpu_map_get(const struct gpu_map *map, const void *key);

/* Adds or replaces; neither is NULL. 0 or negative: no memory, the map is as it was. */
int gpu_map_put(struct gpu_map *map, const void *key, void *value);

/* Removes; gives what was there, NULL: nothing. */
void *gpu_map_take(struct gpu_map *map, const void *key);

#endif
