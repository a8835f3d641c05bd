/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.h - what a screen needs: exact time by (context, state) in cells of 2^shift ns, aligned to
 * multiples of 2^shift of the absolute clock (tui/SCREEN.md, "Columns"), and the same folded into columns.
 * Tiles are kept in memory; a pan reads nothing again. Leaf contexts are kept, so that a projection to a
 * depth is the caller's (run_scope_at), unless it says beforehand which contexts are to be one
 * (tiles_project): a tile of many records has a thousand contexts, and a screen shows a dozen functions.
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

/* Contexts that are one to the caller. */
struct tile_projection {
	void *own;
	/* The context that stands for this one of the run's: below run_context_count, the same for each of
	 * them. */
	uint32_t (*stand_in)(void *own, uint32_t context);
	uint32_t level; /* tells projections apart: what is kept of another one is found again; from 2 on */
	/* What is read is kept as leaves, too: another projection of them reads nothing. Worth it where a
	 * tile has not many more records than contexts. */
	bool keeps_leaves;
};
/* To those for whom contexts do not matter: level 1. */
extern const struct tile_projection tile_states;
/* Of all tiles from now on; it must stay until then. NULL: every context for itself, as at first. */
int tiles_project(struct tiles *tiles, const struct tile_projection *projection, struct error *error);

/* `count` tiles of a stream from index `first` on (tile i covers [i << shift, (i + 1) << shift)). The tiles
 * stay valid until the next call. */
int tiles_row(struct tiles *tiles, uint32_t stream, unsigned shift, uint64_t first, size_t count,
	struct tile *out, struct error *error);

/* A window laid on columns by the rule of tui/SCREEN.md, "Columns": every edge is a tile edge. */
struct tile_columns {
	unsigned shift;
	uint32_t count;
	uint64_t *edges; /* count + 1 tile indices; the caller's array of capacity + 1 */
};
/* The columns that show [begin, end) on `width` cells. */
void tile_columns_fit(
	struct tile_columns *columns, uint64_t begin_ns, uint64_t end_ns, uint32_t width, uint64_t origin_ns);

/* Where a column begins; `count`: where the last one ends. */
static inline uint64_t tile_columns_ns(const struct tile_columns *columns, uint32_t column)
{
	return columns->edges[column] << columns->shift;
}
/* The column that holds a moment; the first or the last one for what lies outside. */
uint32_t tile_columns_at(const struct tile_columns *columns, uint64_t time_ns);

/* The cells of a stream under these columns: out[i] sums the tiles of column i. Valid until the next call. */
int tiles_cells(struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, struct tile *out,
	struct error *error);

#endif
