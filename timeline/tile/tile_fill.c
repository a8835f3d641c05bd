/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_fill.c - makes cells: walks a stream's timeline once over all of them and cuts pieces, rows of
 * samples and sums of stretches at the cells' edges.
 */
#include "timeline/base/progress.h"
#include "timeline/run/run_internal.h"
#include "timeline/sum/state_sum.h"
#include "timeline/tile/tile_cache.h"

/* Cells on their way: cell i holds tiles [edges[i], edges[i + 1]). */
struct fill {
	struct tiles *tiles;
	const uint64_t *edges;
	uint64_t end_ns, last_ns; /* of the cell that is being filled; of the last one */
	uint64_t stable_ns;
	uint32_t stream, at, count;
	uint8_t shift, rules;
};

static int finish_cell(struct fill *fill, struct error *error)
{
	const uint64_t *edge = &fill->edges[fill->at++];
	struct tile_cached what = {.index = edge[0],
		.stable_ns = fill->stable_ns,
		.span = (uint32_t)(edge[1] - edge[0]),
		.stream = fill->stream,
		.level = tile_level(fill->tiles),
		.shift = fill->shift,
		.rules = fill->rules};
	int code;

	/* Behind the last one nothing comes. */
	if (fill->end_ns < fill->last_ns)
		fill->end_ns = tile_begin(fill->shift, edge[2]);
	/* a cached cell is not made again if the request is repeated */
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
static size_t row_at(const struct state_sum_rows *rows, size_t from, uint64_t time_ns)
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
static int take_rows(void *own, const struct state_sum_rows *rows, struct error *error)
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

/* All of it is in the cell being filled. */
static int take_sum(
	void *own, const struct extent *key, uint64_t time_ns, uint64_t records, struct error *error)
{
	struct fill *fill = own;
	struct tile_entry entry = {key->context, key->op, key->state, (uint32_t)records, time_ns};

	return tile_sum_add(&fill->tiles->sum, &entry) ? 0 : error_memory(error);
}

static int take_columns(
	void *own, const struct store_sum_columns *columns, const uint32_t *contexts, struct error *error)
{
	struct fill *fill = own;

	return tile_sum_add_columns(&fill->tiles->sum, columns, contexts) ? 0 : error_memory(error);
}

/* The cell that is being filled, or a later one, that contains the moment; fill->count: none. */
static uint32_t cell_at(const struct fill *fill, uint64_t first_ns)
{
	uint32_t from = fill->at, to = fill->count;

	while (from + 1 < to) {
		uint32_t middle = from + (to - from) / 2;

		if (tile_begin(fill->shift, fill->edges[middle]) <= first_ns)
			from = middle;
		else
			to = middle;
	}
	return from;
}

/* True when both are in one cell. */
static bool is_one_cell(void *own, uint64_t first_ns, uint64_t last_ns)
{
	const struct fill *fill = own;
	uint32_t cell = cell_at(fill, first_ns);

	return cell < fill->count && last_ns < tile_begin(fill->shift, fill->edges[cell + 1]);
}

static uint64_t edge_between(void *own, uint64_t first_ns, uint64_t last_ns)
{
	const struct fill *fill = own;
	uint32_t cell = cell_at(fill, first_ns);
	uint64_t edge_ns;

	if (cell + 1 >= fill->count)
		return 0;
	edge_ns = tile_begin(fill->shift, fill->edges[cell + 1]);
	return first_ns < edge_ns && edge_ns <= last_ns &&
			       last_ns < tile_begin(fill->shift, fill->edges[cell + 2])
		       ? edge_ns
		       : 0;
}

static int take_less(void *own, const struct state_sum_rows *rows, bool with_last, struct error *error)
{
	struct fill *fill = own;

	return tile_sum_remove_rows(&fill->tiles->sum, rows, with_last) ? 0 : error_memory(error);
}

static int take_reach(void *own, uint64_t at_ns, struct error *error)
{
	struct fill *fill = own;

	return at_ns == fill->end_ns ? finish_cell(fill, error) : 0;
}

uint8_t tile_rules(const struct run_line *line)
{
	return (uint8_t)(line->has_monitored | line->has_switches << 1 | (line->period_ns != 0) << 2);
}

/* Until when more records cannot change the timeline. */
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

int tile_fill(struct tiles *tiles, uint32_t stream, unsigned shift, const uint64_t *edges, size_t count,
	struct error *error)
{
	struct fill fill = {.tiles = tiles,
		.edges = edges,
		.end_ns = tile_begin(shift, edges[1]),
		.last_ns = tile_begin(shift, edges[count]),
		.stream = stream,
		.count = (uint32_t)count,
		.shift = (uint8_t)shift};
	const struct state_sum_sink sink = {.own = &fill,
		.piece = take_piece,
		.rows = take_rows,
		.sum = take_sum,
		.columns = take_columns,
		.is_one = is_one_cell,
		.edge = edge_between,
		.less = take_less,
		.reach = take_reach};
	struct store_reader *reader = run_store(tiles->run, run_stream(tiles->run, stream)->store);
	const struct run_line *line;
	int code;

	store_reader_expect_scattered(reader, run_sums_rollups(tiles->run));
	code = run_line(tiles->run, stream, &line, error);
	if (!code) {
		fill.stable_ns = line_stable_ns(line);
		fill.rules = tile_rules(line);
		tile_sum_take(&tiles->sum, NULL);
		code = state_sum(tiles->run, stream, tile_begin(shift, edges[0]), fill.last_ns,
			widest(shift, edges, count), &sink, error);
	}
	store_reader_expect_scattered(reader, false);
	return code;
}
