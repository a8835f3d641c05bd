/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.h - the data of a screen: exact time by (context, state) in tiles of 2^shift ns, aligned to multiples
 * of 2^shift of the absolute clock (tui/SCREEN.md, "Columns"), and folded into columns. Tiles are cached in
 * memory; a pan reads nothing again. They keep leaf contexts, so the caller projects them to a depth
 * (run_scope_at), unless it declares beforehand which contexts to merge (tiles_project): a tile of many
 * records has a thousand contexts, and a screen shows a dozen functions.
 */
#ifndef TIMELINE_TILE_H
#define TIMELINE_TILE_H

#include "timeline/scan/extent.h"

struct tile_entry {
	uint32_t context; /* run context; 0 for states without one */
	uint32_t op;
	enum extent_state state;
	uint32_t records; /* records that begin in the cell */
	uint64_t time_ns;
};

struct tile {
	const struct tile_entry *entries; /* by context, state, op; their times sum to the tile's length */
	uint32_t count;
};

struct tiles;

int tiles_new(struct tiles **tiles, struct run *run, size_t memory_bytes, struct error *error);
void tiles_free(struct tiles *tiles);
/* After run_renew: drops what may have changed. */
void tiles_renew(struct tiles *tiles);

/* Merges contexts. */
struct tile_projection {
	void *own;
	/* The context that represents this run context: below run_context_count, the same for all contexts
	 * it represents. */
	uint32_t (*stand_in)(void *own, uint32_t context);
	uint32_t level; /* identifies the projection: cached tiles of another level are found again; from
			   2 on */
	/* also caches leaf tiles: another projection of them then reads nothing. Pays off if a tile has not
	 * many more records than contexts. */
	bool keeps_leaves;
};
/* For callers that ignore contexts: level 1. */
extern const struct tile_projection tile_states;
/* Applies to all tiles from now on; must stay valid until the next. NULL: no merging, the default. */
int tiles_project(struct tiles *tiles, const struct tile_projection *projection, struct error *error);

/* `count` tiles of a stream from index `first` on (tile i covers [i << shift, (i + 1) << shift)). Valid
 * until the next call. */
int tiles_row(struct tiles *tiles, uint32_t stream, unsigned shift, uint64_t first, size_t count,
	struct tile *out, struct error *error);

/* A window mapped to columns by the rule of tui/SCREEN.md, "Columns": every edge is a tile edge. */
struct tile_columns {
	unsigned shift;
	uint32_t count;
	uint64_t *edges; /* count + 1 tile indices; the caller's array of capacity + 1 */
};
/* Columns that show [begin, end) in `width` cells. */
void tile_columns_fit(
	struct tile_columns *columns, uint64_t begin_ns, uint64_t end_ns, uint32_t width, uint64_t origin_ns);

/* Where a column begins; `count`: where the last one ends. */
static inline uint64_t tile_columns_ns(const struct tile_columns *columns, uint32_t column)
{
	return columns->edges[column] << columns->shift;
}
/* The column that contains a moment; the first or the last one if it is outside. */
uint32_t tile_columns_at(const struct tile_columns *columns, uint64_t time_ns);

/* The cells of a stream in these columns: out[i] sums the tiles of column i. Valid until the next call. */
int tiles_cells(struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, struct tile *out,
	struct error *error);

#endif
