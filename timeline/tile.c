/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.c - exact cells of one or more tiles, each made once: what is missing of a row is filled by walks over
 * the stream's line, and the least recently used cells go when memory is short.
 *
 *   row asked for    [ C0 | C1 | -- | -- | C4 | -- ]      a walk over C2 and C3, one over C5
 */
#include "timeline/tile.h"

#include <stdlib.h>

#include "timeline/line_sum.h"
#include "timeline/progress.h"
#include "timeline/run_parts.h"
#include "timeline/tile_cache.h"

/* ---- walking what is missing ---- */

static uint64_t tile_begin(unsigned shift, uint64_t index)
{
	return index > UINT64_MAX >> shift ? UINT64_MAX : index << shift;
}

/* Cells on their way: cell i holds tiles [edges[i], edges[i + 1]). */
struct fill {
	struct tiles *tiles;
	const uint64_t *edges;
	uint64_t end_ns, last_ns; /* of the cell that is being filled; of the last one */
	uint64_t stable_ns;
	uint32_t stream, at, count;
	uint8_t shift, rules;
};

static uint32_t level_of(const struct tiles *tiles)
{
	return tiles->sum.map.by ? tiles->sum.map.level : 0;
}

static int finish_cell(struct fill *fill, struct error *error)
{
	const uint64_t *edge = &fill->edges[fill->at++];
	struct tile_cached what = {.index = edge[0],
		.stable_ns = fill->stable_ns,
		.span = (uint32_t)(edge[1] - edge[0]),
		.stream = fill->stream,
		.level = level_of(fill->tiles),
		.shift = fill->shift,
		.rules = fill->rules};
	int code;

	/* Behind the last one nothing comes. */
	if (fill->end_ns < fill->last_ns)
		fill->end_ns = tile_begin(fill->shift, edge[2]);
	/* what is kept is not made again when the rest is asked for once more */
	code = tile_cache_keep(fill->tiles, &what, error);
	if (!code && !progress_at("reading", fill->at, fill->count))
		code = progress_refuse(error);
	return code;
}

/* Spreads a piece over the cells that it crosses; its records begin in the first. */
static int fill_piece(struct fill *fill, const struct tile_entry *piece, uint64_t at_ns, uint64_t end_ns,
	struct error *error)
{
	struct tile_entry entry = *piece;
	int code = 0;

	while (at_ns < end_ns && !code) {
		uint64_t to_ns = end_ns < fill->end_ns ? end_ns : fill->end_ns;

		entry.time_ns = to_ns - at_ns;
		if (!tile_sum_add(&fill->tiles->sum, &entry))
			return error_memory(error);
		entry.records = 0;
		at_ns = to_ns;
		if (to_ns == fill->end_ns)
			code = finish_cell(fill, error);
	}
	return code;
}

static int take_piece(void *own, const struct extent *extent, struct error *error)
{
	return fill_piece(own,
		&(struct tile_entry){extent->context, extent->op, extent->state, extent->is_record_begin, 0},
		extent->begin_ns, extent->end_ns, error);
}

/* The first row from `from` on that does not begin before a moment, or the last one. */
static size_t row_at(const struct line_rows *rows, size_t from, uint64_t time_ns)
{
	size_t to = rows->count - 1;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (rows->begin_ns[middle] < time_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return to;
}

/* Row by row, what ends behind the cell's end is cut there. */
static int take_rows(void *own, const struct line_rows *rows, struct error *error)
{
	const uint64_t *begin_ns = rows->begin_ns;
	struct fill *fill = own;
	int code = 0;

	for (size_t from = 0, to; from + 1 < rows->count && !code; from = to) {
		uint64_t end_ns = fill->end_ns - rows->shift_ns;

		to = row_at(rows, from, end_ns);
		if (begin_ns[to] > end_ns)
			to--;
		if (!tile_sum_add_rows(&fill->tiles->sum, rows, from, to))
			return error_memory(error);
		if (begin_ns[to] == end_ns) {
			code = finish_cell(fill, error);
		} else if (to + 1 < rows->count) {
			uint32_t context = rows->context[to];

			code = fill_piece(fill,
				&(struct tile_entry){rows->contexts ? rows->contexts[context] : context,
					STORE_OP_NONE, EXTENT_WORK, 1, 0},
				begin_ns[to] + rows->shift_ns, begin_ns[to + 1] + rows->shift_ns, error);
			to++;
		}
	}
	return code;
}

/* All of it lies in the cell that is being filled. */
static int take_sum(
	void *own, const struct extent *key, uint64_t time_ns, uint64_t records, struct error *error)
{
	struct fill *fill = own;
	struct tile_entry entry = {key->context, key->op, key->state, (uint32_t)records, time_ns};

	return tile_sum_add(&fill->tiles->sum, &entry) ? 0 : error_memory(error);
}

static int take_works(
	void *own, const struct store_works *works, const uint32_t *contexts, struct error *error)
{
	struct fill *fill = own;

	return tile_sum_add_works(&fill->tiles->sum, works, contexts) ? 0 : error_memory(error);
}

/* Do both lie in one cell? */
static bool is_one_cell(void *own, uint64_t first_ns, uint64_t last_ns)
{
	const struct fill *fill = own;
	uint32_t from = fill->at, to = fill->count;

	while (from + 1 < to) {
		uint32_t middle = from + (to - from) / 2;

		if (tile_begin(fill->shift, fill->edges[middle]) <= first_ns)
			from = middle;
		else
			to = middle;
	}
	return from < fill->count && last_ns < tile_begin(fill->shift, fill->edges[from + 1]);
}

static int take_reach(void *own, uint64_t at_ns, struct error *error)
{
	struct fill *fill = own;

	return at_ns == fill->end_ns ? finish_cell(fill, error) : 0;
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

/* 2^this ns is as long as the longest cell, at least. */
static unsigned widest(unsigned shift, const uint64_t *edges, size_t count)
{
	uint64_t most = 1;

	for (size_t i = 0; i < count; i++)
		most = edges[i + 1] - edges[i] > most ? edges[i + 1] - edges[i] : most;
	while (shift < 63 && most > 1) {
		most -= most / 2;
		shift++;
	}
	return shift;
}

/* Makes the cells between `count` + 1 edges, of which none is there. */
static int fill_cells(struct tiles *tiles, uint32_t stream, unsigned shift, const uint64_t *edges,
	size_t count, struct error *error)
{
	struct fill fill = {.tiles = tiles,
		.edges = edges,
		.end_ns = tile_begin(shift, edges[1]),
		.last_ns = tile_begin(shift, edges[count]),
		.stream = stream,
		.count = (uint32_t)count,
		.shift = (uint8_t)shift};
	const struct line_sink sink = {.own = &fill,
		.piece = take_piece,
		.rows = take_rows,
		.sum = take_sum,
		.works = take_works,
		.is_one = is_one_cell,
		.reach = take_reach};
	struct store_reader *reader = run_store(tiles->run, run_stream(tiles->run, stream)->store);
	const struct run_line *line;
	int code;

	store_reader_expect_scattered(reader, run_sums_rollups(tiles->run));
	code = run_line(tiles->run, stream, &line, error);
	if (!code) {
		fill.stable_ns = line_stable_ns(line);
		fill.rules = line_rules(line);
		tile_sum_take(&tiles->sum, NULL);
		code = line_sum(tiles->run, stream, tile_begin(shift, edges[0]), fill.last_ns,
			widest(shift, edges, count), &sink, error);
	}
	store_reader_expect_scattered(reader, false);
	return code;
}

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
	uint32_t from = 0, level = level_of(tiles);
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
			code = fill_cells(
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

	what.level = level_of(tiles);
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

		if (is_nothing(columns, i) || cell_find(tiles, stream, columns, i, level_of(tiles)))
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
	return code ? code : read_cells(tiles, stream, columns, level_of(tiles), error);
}

int tiles_cells(struct tiles *tiles, uint32_t stream, const struct tile_columns *columns, struct tile *out,
	struct error *error)
{
	int code = check_place(tiles, stream, columns, error);

	tiles->use++;
	if (!code)
		code = make_cells(tiles, stream, columns, error);
	for (uint32_t i = 0; i < columns->count && !code; i++) {
		struct tile_cached *c = cell_find(tiles, stream, columns, i, level_of(tiles));

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
			!run_line(tiles->run, c->stream, &line, NULL) && c->rules == line_rules(line);

		newer = c->newer;
		/* Names may have come that tell contexts apart. */
		if (!reads_same || c->level || tile_begin(c->shift, c->index + c->span) > c->stable_ns)
			tile_cache_drop(tiles, c);
	}
}
