/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.c - exact cells of one or more tiles, each made once: walks over the stream's timeline fill the
 * missing cells of a row, and the least recently used cells are dropped when memory is short.
 *
 *   requested row    [ C0 | C1 | -- | -- | C4 | -- ]      a walk over C2 and C3, one over C5
 */
#include "timeline/tile/tile.h"

#include <stdlib.h>

#include "timeline/run/run_internal.h"
#include "timeline/tile/tile_cache.h"

/* Before and behind all time columns have nothing to show. */
static bool is_nothing(const struct tile_columns *columns, size_t i)
{
	return columns->edges[i] == columns->edges[i + 1];
}

static struct tile_cached *cell_find(const struct tiles *tiles, uint32_t stream,
	const struct tile_columns *columns, size_t i, uint32_t level)
{
	const uint64_t *edge = &columns->edges[i];
	struct tile_place place = {stream, (uint32_t)(edge[1] - edge[0]), columns->shift, level, edge[0]};

	return tile_cache_find(tiles, &place);
}

static int check_place(
	const struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, struct error *error)
{
	if (columns->shift <= 63 && stream < run_stream_count(tiles->run))
		return 0;
	return error_set(error, ERROR_USAGE, "no such tiles: stream %u, shift %u", stream, columns->shift);
}

/* Reads what is not there, neither at this level nor at `also`. */
static int read_cells(struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, uint32_t also,
	struct error *error)
{
	uint32_t from = 0, level = tile_level(tiles);
	int code = 0;

	/* What is missing from `from` on is made at once when a cell that is there, or the end, comes. */
	for (uint32_t i = 0; i <= columns->count && !code; i++) {
		struct tile_cached *c =
			i < columns->count ? cell_find(tiles, stream, columns, i, also) : NULL;

		if (!c && also != level && i < columns->count)
			c = cell_find(tiles, stream, columns, i, level);
		if (!c && i < columns->count && !is_nothing(columns, i))
			continue;
		if (from < i)
			code = tile_fill(
				tiles, stream, columns->shift, columns->edges + from, i - from, error);
		from = i + 1;
		if (c)
			tile_cache_touch(tiles, c);
	}
	return code;
}

/* A cell of this level out of its leaves. */
static int project_cell(struct tiles *tiles, const struct tile_cached *leaves, struct error *error)
{
	struct tile_cached what = *leaves;

	what.level = tile_level(tiles);
	tile_sum_take(&tiles->sum, NULL);
	for (uint32_t i = 0; i < leaves->tile.count; i++)
		if (!tile_sum_add(&tiles->sum, &leaves->entries[i]))
			return error_memory(error);
	return tile_cache_keep(tiles, &what, error);
}

/* What is not there of this level, but as leaves. */
static int project_cells(
	struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, struct error *error)
{
	int code = 0;

	for (uint32_t i = 0; i < columns->count && !code; i++) {
		struct tile_cached *leaves;

		if (is_nothing(columns, i) || cell_find(tiles, stream, columns, i, tile_level(tiles)))
			continue;
		leaves = cell_find(tiles, stream, columns, i, 0);
		code = leaves ? project_cell(tiles, leaves, error) : 0;
	}
	return code;
}

/* All that is missing; where the projection asks for it as leaves first. */
static int make_cells(
	struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, struct error *error)
{
	const struct tile_projection *by = tiles->sum.map.by;
	int code = 0;

	if (by && by->keeps_leaves) {
		tiles->sum.map.by = NULL;
		code = read_cells(tiles, stream, columns, by->level, error);
		tiles->sum.map.by = by;
	}
	if (by && !code)
		code = project_cells(tiles, stream, columns, error);
	return code ? code : read_cells(tiles, stream, columns, tile_level(tiles), error);
}

int tiles_cells(struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, struct tile *out,
	struct error *error)
{
	int code = check_place(tiles, stream, columns, error);

	tiles->use++;
	if (!code)
		code = make_cells(tiles, stream, columns, error);
	for (uint32_t i = 0; i < columns->count && !code; i++) {
		struct tile_cached *c = cell_find(tiles, stream, columns, i, tile_level(tiles));

		out[i] = c ? c->tile : (struct tile){NULL, 0};
	}
	tile_cache_shrink(tiles);
	return code;
}

int tiles_row(struct tiles *tiles, uint32_t stream, unsigned shift, uint64_t first, size_t count,
	struct tile *out, struct error *error)
{
	struct tile_columns columns = {.shift = shift, .count = (uint32_t)count};
	int code;

	if (count >= UINT32_MAX || first > UINT64_MAX - count)
		return error_set(error, ERROR_USAGE, "no such tiles: %zu from %llu on", count,
			(unsigned long long)first);
	columns.edges = calloc(count + 1, sizeof *columns.edges);
	if (!columns.edges)
		return error_memory(error);
	for (size_t i = 0; i <= count; i++)
		columns.edges[i] = first + i;
	code = tiles_cells(tiles, stream, &columns, out, error);
	free(columns.edges);
	return code;
}

static uint32_t no_context(void *own, uint32_t context)
{
	(void)own, (void)context;
	return 0;
}

const struct tile_projection tile_states = {NULL, no_context, 1, false};

int tiles_project(struct tiles *tiles, const struct tile_projection *projection, struct error *error)
{
	return tile_sum_project(&tiles->sum, projection, run_context_count(tiles->run)) ? 0
											: error_memory(error);
}

/* ---- begin and end ---- */

int tiles_new(struct tiles **tiles, struct run *run, size_t memory_bytes, struct error *error)
{
	*tiles = calloc(1, sizeof **tiles);
	if (!*tiles)
		return error_memory(error);
	(*tiles)->run = run;
	(*tiles)->memory_bytes = memory_bytes;
	return 0;
}

void tiles_free(struct tiles *tiles)
{
	if (!tiles)
		return;
	tile_cache_fini(tiles);
	free(tiles);
}

void tiles_renew(struct tiles *tiles)
{
	tiles->sum.map.by = NULL;
	tiles->sum.map.level = 0;
	for (struct tile_cached *c = tiles->oldest, *newer; c; c = newer) {
		const struct run_line *line;
		bool reads_same =
			!run_line(tiles->run, c->stream, &line, NULL) && c->rules == tile_rules(line);

		newer = c->newer;
		/* Names may have come that tell contexts apart. */
		if (!reads_same || c->level || tile_begin(c->shift, c->index + c->span) > c->stable_ns)
			tile_cache_drop(tiles, c);
	}
}
