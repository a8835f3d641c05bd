/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_sum.h - for tile.c and tile_cache.c: the tile that is being made, time by (context, state, operation).
 * Tiles of long runs have a thousand contexts each: places are looked up in an array by context, and what
 * comes out is in the order of contexts without sorting. Work between samples, which is most of it, is added
 * up by context alone.
 */
#ifndef TIMELINE_TILE_SUM_H
#define TIMELINE_TILE_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/sum/state_sum.h"
#include "timeline/tile/tile.h"

/* Which contexts stand for which: asked for once, kept until it is of another level. */
struct tile_map {
	const struct tile_projection *by; /* NULL: each stands for itself */
	uint32_t *stand_ins;		  /* [context] UINT32_MAX: not asked for yet */
	uint32_t contexts, level;
};

/* All-zero is empty. */
struct tile_sum {
	struct tile_map map;
	uint32_t count; /* of all that was added, at most */
	struct tile_work {
		uint64_t time_ns;
		uint64_t records;
	} * columns;		    /* [context] */
	struct tile_entry *entries; /* of other states and operations, in the order of coming */
	uint32_t *nexts;	    /* [entry] place + 1 of the one before it of the same context */
	uint32_t entry_count, capacity;
	uint32_t *places; /* [context] place + 1 of its last entry */
	uint64_t *words;  /* a bit for each context that is there */
	uint64_t *groups; /* a bit for each word that is not zero */
	uint32_t contexts;
};

/* Whose contexts stand for others from now on (tiles_project); false when memory is out. */
bool tile_sum_project(struct tile_sum *sum, const struct tile_projection *by, uint32_t contexts);
/* Adds to its key; false when memory is out. */
bool tile_sum_add(struct tile_sum *sum, const struct tile_entry *entry);
/* Adds work between samples; `contexts`: of the run, by those of the store; NULL: the same. */
bool tile_sum_add_columns(
	struct tile_sum *sum, const struct store_sum_columns *columns, const uint32_t *contexts);
/* Adds samples [from, to), each a record of its context that works until the next one begins. */
bool tile_sum_add_rows(struct tile_sum *sum, const struct state_sum_rows *rows, size_t from, size_t to);
/* What was added, by context, state, operation, to `out` (NULL: nowhere), which has room for `count` of them;
 * the sum is empty then. How many they are. */
uint32_t tile_sum_take(struct tile_sum *sum, struct tile_entry *out);
void tile_sum_fini(struct tile_sum *sum);

#endif
