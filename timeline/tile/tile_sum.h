/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_sum.h - for tile.c and tile_cache.c: the tile being made, time by (context, state, operation). Tiles
 * of long runs have a thousand contexts each: entries are found in an array by context, and come out in
 * context order without sorting. Work between samples, which is most of the time, is summed by context only.
 */
#ifndef TIMELINE_TILE_SUM_H
#define TIMELINE_TILE_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/sum/state_sum.h"
#include "timeline/tile/tile.h"

/* Caches the projection's result for each context, until the level changes. */
struct tile_map {
	const struct tile_projection *by; /* NULL: contexts represent themselves */
	uint32_t *stand_ins;		  /* [context] UINT32_MAX: not computed yet */
	uint32_t contexts, level;
};

/* All-zero is empty. */
struct tile_sum {
	struct tile_map map;
	uint32_t count; /* upper bound of the entries */
	struct tile_work {
		uint64_t time_ns;
		uint64_t records;
	} * columns;		    /* [context] */
	struct tile_entry *entries; /* of other states and operations, in order of arrival */
	uint32_t *nexts;	    /* [entry] 1 + index of the previous entry of the same context */
	uint32_t entry_count, capacity;
	uint32_t *places; /* [context] 1 + index of its last entry */
	uint64_t *words;  /* a bit for each context in use */
	uint64_t *groups; /* a bit for each word that is not zero */
	uint32_t contexts;
};

/* Sets the projection (tiles_project); false: no memory. */
bool tile_sum_project(struct tile_sum *sum, const struct tile_projection *by, uint32_t contexts);
/* Adds to its key; false: no memory. */
bool tile_sum_add(struct tile_sum *sum, const struct tile_entry *entry);
/* Adds work between samples; `contexts`: run contexts by store context; NULL: equal numbers. */
bool tile_sum_add_columns(
	struct tile_sum *sum, const struct store_sum_columns *columns, const uint32_t *contexts);
/* Adds samples [from, to), each a record whose context works until the next one begins. */
bool tile_sum_add_rows(struct tile_sum *sum, const struct state_sum_rows *rows, size_t from, size_t to);
/* Takes away what adding these rows adds: of the last one, `with_last`, that it is a record. */
bool tile_sum_remove_rows(struct tile_sum *sum, const struct state_sum_rows *rows, bool with_last);
/* Moves the sum, sorted by context, state, operation, to `out` (NULL: drops it), which has room for `count`
 * entries. Returns their number. */
uint32_t tile_sum_take(struct tile_sum *sum, struct tile_entry *out);
void tile_sum_fini(struct tile_sum *sum);

#endif
