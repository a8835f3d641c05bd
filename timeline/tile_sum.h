/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_sum.h - for tile.c and tile_cache.c: the tile that is being made, time by (context, state, operation).
 * Tiles of long runs have a thousand contexts each: places are looked up in an array by context, and what
 * comes out is in the order of contexts without sorting.
 */
#ifndef TIMELINE_TILE_SUM_H
#define TIMELINE_TILE_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/tile.h"

/* All-zero is empty. */
struct tile_sum {
	struct tile_entry *entries; /* in the order of coming */
	uint32_t *nexts;	    /* [entry] place + 1 of the one before it of the same context */
	uint32_t count, room;
	uint32_t *places; /* [context] place + 1 of its last entry */
	uint64_t *words;  /* a bit for each context that is there */
	uint64_t *groups; /* a bit for each word that is not zero */
	uint32_t contexts;
};

/* Adds to its key; false when memory is out. */
bool tile_sum_add(struct tile_sum *sum, const struct tile_entry *entry);
/* What was added, by context, state, operation, to `out` (NULL: nowhere), which has room for `count` of them;
 * the sum is empty then. */
void tile_sum_take(struct tile_sum *sum, struct tile_entry *out);
void tile_sum_fini(struct tile_sum *sum);

#endif
