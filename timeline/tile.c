/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.c - exact tiles, each made once: what is missing of a row is filled by one walk over the stream's
 * line, and the least recently used tiles go when memory is short.
 *
 *   row asked for    [ T0 | T1 | -- | -- | T4 | -- ]      one walk over T2..T5, T4 is passed over
 */
#include "timeline/tile.h"

#include <stdlib.h>

#include "timeline/line_sum.h"
#include "timeline/run_parts.h"
#include "timeline/tile_cache.h"

#define NEAR 16u /* tiles: walking them again is cheaper than opening another walk */

/* ---- walking what is missing ---- */

static uint64_t tile_begin(unsigned shift, uint64_t index)
{
	return index > UINT64_MAX >> shift ? UINT64_MAX : index << shift;
}

struct fill {
	struct tiles *tiles;
	struct tile_place place; /* of the sum that is being filled */
	uint64_t stable_ns;
	uint8_t rules;
};

static int keep(const struct fill *fill, struct error *error)
{
	struct tile_cached what = {.index = fill->place.index,
		.stable_ns = fill->stable_ns,
		.span = fill->place.span,
		.stream = fill->place.stream,
		.shift = (uint8_t)fill->place.shift,
		.rules = fill->rules};

	return tile_cache_keep(fill->tiles, &what, error);
}

static int finish_tile(struct fill *fill, struct error *error)
{
	int code = 0;

	if (tile_cache_find(fill->tiles, &fill->place))
		tile_sum_reset(&fill->tiles->sum);
	else
		code = keep(fill, error);
	fill->place.index++;
	return code;
}

/* Spreads a piece over the tiles that it crosses. */
static int fill_extent(struct fill *fill, const struct extent *extent, struct error *error)
{
	struct tile_entry entry = {extent->context, extent->op, extent->state, extent->is_record_begin, 0};
	uint64_t at = extent->begin_ns;
	int code = 0;

	while (at < extent->end_ns && !code) {
		uint64_t tile_end = tile_begin(fill->place.shift, fill->place.index + 1);
		uint64_t end = extent->end_ns < tile_end ? extent->end_ns : tile_end;

		entry.time_ns = end - at;
		if (!tile_sum_add(&fill->tiles->sum, &entry))
			return error_memory(error);
		entry.records = 0;
		if (end == tile_end)
			code = finish_tile(fill, error);
		at = end;
	}
	return code;
}

static int take_piece(void *own, const struct extent *extent, struct error *error)
{
	return fill_extent(own, extent, error);
}

/* All of it lies in the tile that is being filled. */
static int take_sum(
	void *own, const struct extent *key, uint64_t time_ns, uint64_t records, struct error *error)
{
	struct fill *fill = own;
	struct tile_entry entry = {key->context, key->op, key->state, (uint32_t)records, time_ns};

	return tile_sum_add(&fill->tiles->sum, &entry) ? 0 : error_memory(error);
}

static int take_reach(void *own, uint64_t at_ns, struct error *error)
{
	struct fill *fill = own;

	return at_ns == tile_begin(fill->place.shift, fill->place.index + 1) ? finish_tile(fill, error) : 0;
}

/* What, learnt late, changes how the whole line is read. */
static uint8_t line_rules(const struct run_line *line)
{
	return (uint8_t)(line->has_monitored | line->has_switches << 1 | (line->period_ns != 0) << 2);
}

/* Until where more records cannot change the line. */
static uint64_t line_stable_ns(const struct run_line *line)
{
	return line->has_monitored || line->complete_ns < line->last_ns ? line->complete_ns : line->last_ns;
}

static int fill_begin(
	struct fill *fill, struct tiles *tiles, const struct tile_place *place, struct error *error)
{
	const struct run_line *line;
	int code = run_line(tiles->run, place->stream, &line, error);

	if (code)
		return code;
	*fill = (struct fill){tiles, *place, line_stable_ns(line), line_rules(line)};
	tile_sum_reset(&tiles->sum);
	return 0;
}

/* Makes `count` tiles from this place on. */
static int fill_tiles(struct tiles *tiles, struct tile_place place, uint64_t count, struct error *error)
{
	struct fill fill;
	const struct line_sink sink = {
		.own = &fill, .piece = take_piece, .sum = take_sum, .reach = take_reach};
	int code = fill_begin(&fill, tiles, &place, error);

	return code ? code
		    : line_sum(tiles->run, place.stream, tile_begin(place.shift, place.index),
			      tile_begin(place.shift, place.index + count), place.shift, &sink, error);
}

/* Makes those of `count` tiles from this place on that are missing. */
static int need_tiles(struct tiles *tiles, struct tile_place place, size_t count, struct error *error)
{
	uint64_t first = place.index;
	size_t from = 0, to = 0;
	int code = 0;

	for (size_t i = 0; i < count && !code; i++) {
		struct tile_cached *c;

		place.index = first + i;
		c = tile_cache_find(tiles, &place);
		if (c) {
			tile_cache_touch(tiles, c);
			continue;
		}
		/* Missing ones near each other share a walk. */
		if (to > from && i - to > NEAR) {
			place.index = first + from;
			code = fill_tiles(tiles, place, to - from, error);
			from = to = i;
		}
		from = to > from ? from : i;
		to = i + 1;
	}
	place.index = first + from;
	return code || to == from ? code : fill_tiles(tiles, place, to - from, error);
}

static int check_place(
	const struct tiles *tiles, const struct tile_place *place, uint64_t count, struct error *error)
{
	if (place->shift <= 63 && place->index <= UINT64_MAX - count &&
		place->stream < run_stream_count(tiles->run))
		return 0;
	return error_set(
		error, ERROR_USAGE, "no such tiles: stream %u, shift %u", place->stream, place->shift);
}

int tiles_row(struct tiles *tiles, uint32_t stream, unsigned shift, uint64_t first, size_t count,
	struct tile *out, struct error *error)
{
	struct tile_place place = {stream, 1, shift, first};
	int code = check_place(tiles, &place, count, error);

	tiles->use++;
	if (!code)
		code = need_tiles(tiles, place, count, error);
	if (code)
		return code;
	for (size_t i = 0; i < count; i++, place.index++) {
		struct tile_cached *c = tile_cache_find(tiles, &place);

		/* Behind the end of time there is nothing to sum. */
		out[i] = c ? c->tile : (struct tile){NULL, 0};
	}
	tile_cache_shrink(tiles);
	return 0;
}

/* ---- cells: sums of some tiles, kept like tiles, since a pan shows most of them again ---- */

/* Sums the tiles of a cell, which are all there. */
static int fill_cell(struct tiles *tiles, const struct tile_place *cell, struct error *error)
{
	struct tile_place place = *cell;
	struct fill fill;
	int code = fill_begin(&fill, tiles, cell, error);

	place.span = 1;
	for (uint32_t i = 0; i < cell->span && !code; i++, place.index++) {
		const struct tile_cached *c = tile_cache_find(tiles, &place);

		for (uint32_t k = 0; c && k < c->tile.count && !code; k++)
			if (!tile_sum_add(&tiles->sum, &c->entries[k]))
				code = error_memory(error);
	}
	return code ? code : keep(&fill, error);
}

/* Makes the cells [from, to) of these columns. */
static int fill_cells(struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, uint32_t from,
	uint32_t to, struct error *error)
{
	const uint64_t *edges = columns->edges;
	struct tile_place place = {stream, 1, columns->shift, edges[from]};
	int code = need_tiles(tiles, place, edges[to] - edges[from], error);

	for (uint32_t i = from; i < to && !code; i++) {
		place.index = edges[i];
		place.span = (uint32_t)(edges[i + 1] - edges[i]);
		if (!tile_cache_find(tiles, &place))
			code = fill_cell(tiles, &place, error);
	}
	return code;
}

static struct tile_cached *cell_find(
	const struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, uint32_t i)
{
	const uint64_t *edges = columns->edges;
	struct tile_place place = {stream, (uint32_t)(edges[i + 1] - edges[i]), columns->shift, edges[i]};

	return tile_cache_find(tiles, &place);
}

int tiles_cells(struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, struct tile *out,
	struct error *error)
{
	struct tile_place place = {stream, 1, columns->shift, columns->edges[0]};
	int code = check_place(tiles, &place, columns->edges[columns->count] - place.index, error);
	uint32_t from = 0;

	tiles->use++;
	/* What is missing from `from` on is made at once when a cell that is there, or the end, comes. */
	for (uint32_t i = 0; i <= columns->count && !code; i++) {
		struct tile_cached *c = i < columns->count ? cell_find(tiles, stream, columns, i) : NULL;

		if (!c && i < columns->count)
			continue;
		if (from < i)
			code = fill_cells(tiles, stream, columns, from, i, error);
		from = i + 1;
		if (c)
			tile_cache_touch(tiles, c);
	}
	for (uint32_t i = 0; i < columns->count && !code; i++) {
		struct tile_cached *c = cell_find(tiles, stream, columns, i);

		out[i] = c ? c->tile : (struct tile){NULL, 0};
	}
	tile_cache_shrink(tiles);
	return code;
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
	for (struct tile_cached *c = tiles->oldest, *newer; c; c = newer) {
		const struct run_line *line;
		bool reads_same =
			!run_line(tiles->run, c->stream, &line, NULL) && c->rules == line_rules(line);

		newer = c->newer;
		if (!reads_same || tile_begin(c->shift, c->index + c->span) > c->stable_ns)
			tile_cache_drop(tiles, c);
	}
}
