/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_cache.h - shared by tile.c (chooses cells), tile_fill.c (makes them) and tile_cache.c (keeps them).
 */
#ifndef TIMELINE_TILE_CACHE_H
#define TIMELINE_TILE_CACHE_H

#include "timeline/tile/tile_sum.h"

/* Key of a cached sum: some tiles of a stream. */
struct tile_place {
	uint32_t stream;
	uint32_t span; /* tiles in it: 1, or a cell's */
	unsigned shift;
	uint32_t level; /* of the projection; 0: none */
	uint64_t index; /* of the first */
};

struct tile_cached {
	struct tile tile;
	struct tile_cached *newer, *older; /* in order of use */
	struct tile_cached *next;	   /* in its slot */
	uint64_t index;
	uint64_t stable_ns; /* if it ends later, it may change with the next commit */
	uint32_t span, stream;
	uint32_t use; /* call that used it last */
	uint32_t level;
	uint8_t shift;
	uint8_t rules; /* of reading its timeline */
	struct tile_entry entries[];
};

struct tiles {
	struct run *run;
	size_t memory_bytes, used_bytes;
	struct tile_cached **slots;
	size_t slot_count, cached_count;
	struct tile_cached *newest, *oldest;
	uint32_t use; /* counts calls: entries used by the current call are not dropped */
	struct tile_sum sum;
};

/* Where a tile begins. */
static inline uint64_t tile_begin(unsigned shift, uint64_t index)
{
	return index > UINT64_MAX >> shift ? UINT64_MAX : index << shift;
}

/* Level of the current projection; 0: none. */
static inline uint32_t tile_level(const struct tiles *tiles)
{
	return tiles->sum.map.by ? tiles->sum.map.level : 0;
}

/* Makes and caches the `count` cells between `count` + 1 edges, none of which is cached. After a failure,
 * cells already made stay. */
int tile_fill(struct tiles *tiles, uint32_t stream, unsigned shift, const uint64_t *edges, size_t count,
	struct error *error);
/* Facts learnt late that change how the whole timeline is read. */
uint8_t tile_rules(const struct run_line *line);

/* ---- cache ---- */

/* NULL: not cached. */
struct tile_cached *tile_cache_find(const struct tiles *tiles, const struct tile_place *place);
void tile_cache_touch(struct tiles *tiles, struct tile_cached *cached);
void tile_cache_drop(struct tiles *tiles, struct tile_cached *cached);
/* Caches the sum (which is emptied) under `what`: its place, stable_ns and rules. */
int tile_cache_keep(struct tiles *tiles, const struct tile_cached *what, struct error *error);
/* Shrinks to the memory limit. */
void tile_cache_shrink(struct tiles *tiles);
void tile_cache_fini(struct tiles *tiles);

#endif
