/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minimap.c - sums coarse tiles of the whole run, a few columns of one stream at a time. The tiles are those
 * of the session, so that a view of the whole run shares them.
 */
#include "tui/timeline/minimap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timeline/sum/all_streams_columns.h"

#define COLUMNS_AT_ONCE 16u
#define DENSE_RECORDS 256u /* of a thread in a column: its columns cost more than wide tiles */
#define DENSE_MAX 16u	   /* such threads are read by columns */
#define WIDE_SHIFT 5u	   /* a wide tile is 2^this tiles: about a dozen columns */

void minimap_fini(struct minimap *minimap)
{
	free(minimap->edges.edges);
	free(minimap->columns);
	free(minimap->unit);
	free(minimap->nodes);
	*minimap = (struct minimap){0};
}

void minimap_forget(struct minimap *minimap)
{
	minimap->width = 0;
}

uint64_t minimap_column_ns(const struct minimap *minimap, uint32_t column)
{
	return tile_columns_ns(&minimap->edges, column);
}

uint32_t minimap_column_at(const struct minimap *minimap, uint64_t time_ns)
{
	return tile_columns_at(&minimap->edges, time_ns);
}

/* ---- laying ---- */

static uint32_t count_kind(const struct rows *rows, enum rows_kind kind)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < rows->node_count; i++)
		count += rows->nodes[i].kind == kind;
	return count;
}

/* All devices, or threads where there are none; an even choice of very many. */
static void choose_units(struct minimap *minimap, const struct rows *rows)
{
	uint32_t devices = count_kind(rows, ROWS_DEVICE), seen = 0;
	enum rows_kind kind = devices ? ROWS_DEVICE : ROWS_THREAD;
	uint64_t count = devices ? devices : count_kind(rows, ROWS_THREAD);
	uint64_t wanted = count < MINIMAP_UNITS_MAX ? count : MINIMAP_UNITS_MAX;

	minimap->is_gpu = devices > 0;
	minimap->node_count = 0;
	for (uint32_t i = 0; i < rows->node_count; i++) {
		if (rows->nodes[i].kind != kind)
			continue;
		if (minimap->node_count < wanted && seen >= minimap->node_count * count / wanted)
			minimap->nodes[minimap->node_count++] = i;
		seen++;
	}
}

/* Whole tiles may end before the run does: asks for more until they do not. */
static void fit(struct minimap *minimap, uint64_t origin_ns)
{
	uint64_t end_ns = minimap->end_ns;

	for (int tries = 0; tries < 8; tries++) {
		uint64_t covered_ns;
		tile_columns_fit(&minimap->edges, minimap->begin_ns, end_ns, minimap->width, origin_ns);
		covered_ns = minimap_column_ns(minimap, minimap->edges.count);
		if (covered_ns >= minimap->end_ns)
			break;
		end_ns += minimap->end_ns - covered_ns;
	}
}

static int make_room(struct minimap *minimap, uint32_t width, struct error *error)
{
	minimap_fini(minimap);
	minimap->edges.edges = calloc((size_t)width + 1, sizeof(*minimap->edges.edges));
	minimap->columns = calloc((size_t)width + 1, sizeof(*minimap->columns));
	minimap->unit = calloc((size_t)width + 1, sizeof(*minimap->unit));
	minimap->nodes = calloc(MINIMAP_UNITS_MAX, sizeof(*minimap->nodes));
	if (!minimap->edges.edges || !minimap->columns || !minimap->unit || !minimap->nodes) {
		minimap_fini(minimap);
		return error_memory(error);
	}
	return 0;
}

/* Many threads of many records: they are read in wide tiles, which rollups sum cheaply. */
static bool is_dense(const struct minimap *minimap, const struct run *run, const struct rows *rows)
{
	uint32_t dense = 0;

	if (minimap->is_gpu || !run_sums_rollups(run) || minimap->edges.shift + WIDE_SHIFT > 62)
		return false;
	for (uint32_t i = 0; i < minimap->node_count; i++)
		dense += rows->nodes[minimap->nodes[i]].records / DENSE_RECORDS > minimap->width;
	return dense > DENSE_MAX;
}

static bool is_choice(const struct minimap *minimap, const struct rows *rows)
{
	return minimap->node_count < count_kind(rows, minimap->is_gpu ? ROWS_DEVICE : ROWS_THREAD);
}

int minimap_lay(struct minimap *minimap, struct run *run, const struct rows *rows, uint32_t width,
	struct error *error)
{
	uint64_t begin_ns = run_begin_ns(run), end_ns = run_end_ns(run);
	int result;

	if (end_ns <= begin_ns)
		end_ns = begin_ns + 1;
	if (minimap->width == width && minimap->begin_ns == begin_ns && minimap->end_ns == end_ns &&
		minimap->stream_count == rows->stream_count)
		return 0;
	result = make_room(minimap, width, error);
	if (result)
		return result;
	minimap->run = run;
	minimap->begin_ns = begin_ns;
	minimap->end_ns = end_ns;
	minimap->width = width;
	minimap->stream_count = rows->stream_count;
	fit(minimap, run_origin_ns(run));
	choose_units(minimap, rows);
	minimap->is_done = minimap->node_count == 0;
	minimap->is_summed = !minimap->is_gpu;
	minimap->is_wide = is_dense(minimap, run, rows);
	minimap->is_about = minimap->is_wide || is_choice(minimap, rows);
	return 0;
}

/* ---- reading ---- */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Adds one stream's cell to the unit's column. */
static void add_cell(struct minimap_column *column, const struct tile *cell, uint64_t length_ns)
{
	uint64_t absent_ns = 0, there_ns;

	for (uint32_t i = 0; i < cell->count; i++) {
		const struct tile_entry *entry = &cell->entries[i];
		if (extent_state_is_busy(entry->state))
			column->busy_ns += entry->time_ns;
		if (entry->state == EXTENT_ABSENT)
			absent_ns += entry->time_ns;
		else if (entry->state == EXTENT_UNMONITORED)
			column->blind_ns += entry->time_ns;
		else if (entry->state == EXTENT_LOST)
			column->has_lost = true;
		else
			column->known_ns += entry->time_ns;
	}
	there_ns = length_ns - (absent_ns < length_ns ? absent_ns : length_ns);
	if (there_ns > column->there_ns)
		column->there_ns = there_ns;
	if (column->busy_ns > length_ns)
		column->busy_ns = length_ns; /* queues that overlap */
}

static int read_columns(
	struct minimap *minimap, struct tiles *tiles, uint32_t stream, uint32_t count, struct error *error)
{
	struct tile cells[COLUMNS_AT_ONCE];
	struct tile_columns some = {.shift = minimap->edges.shift,
		.count = count,
		.edges = minimap->edges.edges + minimap->at_column};
	int result = tiles_project(tiles, &tile_states, error);

	if (!result)
		result = tiles_cells(tiles, stream, &some, cells, error);

	for (uint32_t i = 0; i < count && !result; i++)
		add_cell(&minimap->unit[minimap->at_column + i], &cells[i],
			(some.edges[i + 1] - some.edges[i]) << some.shift);
	return result;
}

static uint64_t part_of(uint64_t time_ns, uint64_t part_ns, unsigned shift)
{
	return (uint64_t)((unsigned __int128)time_ns * part_ns >> shift);
}

/* A column takes the share that its middle's tile has. */
static void spread(struct minimap *minimap, const struct tile *tiles, uint64_t first)
{
	unsigned shift = minimap->edges.shift + WIDE_SHIFT;

	for (uint32_t i = 0; i < minimap->edges.count; i++) {
		uint64_t begin = minimap->edges.edges[i], end = minimap->edges.edges[i + 1];
		uint64_t length_ns = (end - begin) << minimap->edges.shift;
		struct minimap_column wide = {0}, *unit = &minimap->unit[i];

		add_cell(&wide, &tiles[((begin + (end - begin) / 2) >> WIDE_SHIFT) - first],
			(uint64_t)1 << shift);
		unit->busy_ns = part_of(wide.busy_ns, length_ns, shift);
		unit->there_ns = part_of(wide.there_ns, length_ns, shift);
		unit->known_ns = part_of(wide.known_ns, length_ns, shift);
		unit->blind_ns = part_of(wide.blind_ns, length_ns, shift);
		unit->has_lost = wide.has_lost;
	}
}

static int read_wide(struct minimap *minimap, struct tiles *tiles, uint32_t stream, struct error *error)
{
	uint64_t first = minimap->edges.edges[0] >> WIDE_SHIFT;
	uint64_t count = (minimap->edges.edges[minimap->edges.count] >> WIDE_SHIFT) - first + 1;
	struct tile *wide = calloc(count, sizeof(*wide));
	int result = wide ? tiles_project(tiles, &tile_states, error) : error_memory(error);

	if (!result)
		result = tiles_row(
			tiles, stream, minimap->edges.shift + WIDE_SHIFT, first, count, wide, error);
	if (!result)
		spread(minimap, wide, first);
	free(wide);
	return result;
}

static void finish_unit(struct minimap *minimap)
{
	for (uint32_t i = 0; i < minimap->edges.count; i++) {
		struct minimap_column *sum = &minimap->columns[i], *unit = &minimap->unit[i];
		sum->busy_ns += unit->busy_ns;
		sum->there_ns += unit->there_ns;
		sum->known_ns += unit->known_ns;
		sum->blind_ns += unit->blind_ns;
		sum->has_lost = sum->has_lost || unit->has_lost;
		sum->is_read = true;
	}
	memset(minimap->unit, 0, minimap->edges.count * sizeof(*minimap->unit));
	minimap->at_unit++;
	minimap->at_node = 0;
	minimap->is_done = minimap->at_unit == minimap->node_count;
}

/* The next columns of the next stream. */
static int read_step(
	struct minimap *minimap, struct tiles *tiles, const struct rows *rows, struct error *error)
{
	uint32_t unit = minimap->nodes[minimap->at_unit], node = unit + minimap->at_node;
	uint32_t left = minimap->edges.count - minimap->at_column;
	uint32_t count = left < COLUMNS_AT_ONCE ? left : COLUMNS_AT_ONCE;
	int result = 0;

	if (minimap->is_wide) {
		result = read_wide(minimap, tiles, rows->nodes[node].stream, error);
		if (result)
			return result;
	} else if (!rows_is_group(&rows->nodes[node])) {
		result = read_columns(minimap, tiles, rows->nodes[node].stream, count, error);
		if (result)
			return result;
		minimap->at_column += count;
		if (minimap->at_column < minimap->edges.count)
			return 0;
	}
	minimap->at_column = 0;
	minimap->at_node++;
	if (unit + minimap->at_node >= rows->nodes[unit].next)
		finish_unit(minimap);
	return 0;
}

/* A run of threads alone has stored sums. 1: they are taken; 0: there are none. */
static int read_sums(struct minimap *minimap, struct error *error)
{
	uint32_t count = minimap->edges.count;
	struct all_streams_column *columns = calloc((size_t)count + 1, sizeof(*columns));
	bool is_spread = false;
	int result = columns ? all_streams_columns(minimap->run, minimap->edges.edges, minimap->edges.shift,
				       count, columns, &is_spread, error)
			     : error_memory(error);

	for (uint32_t i = 0; i < count && result == 1; i++)
		minimap->columns[i] = (struct minimap_column){.busy_ns = columns[i].busy_ns,
			.there_ns = columns[i].there_ns,
			.known_ns = columns[i].known_ns,
			.blind_ns = columns[i].blind_ns,
			.has_lost = columns[i].has_lost,
			.is_read = true};
	free(columns);
	if (result >= 0) /* a read that was stopped is tried again */
		minimap->is_summed = false;
	minimap->is_done = result == 1;
	if (result == 1)
		minimap->is_about = is_spread;
	return result;
}

int minimap_read(struct minimap *minimap, struct tiles *tiles, const struct rows *rows, unsigned limit_ms,
	struct error *error)
{
	uint64_t until_ms = limit_ms ? now_ms() + limit_ms : 0;
	int result = 0;

	if (minimap->is_summed && !minimap->is_done && minimap->width)
		result = read_sums(minimap, error);
	result = result == 1 ? 0 : result;
	while (!minimap->is_done && minimap->width && !result) {
		result = read_step(minimap, tiles, rows, error);
		if (until_ms && now_ms() >= until_ms)
			break;
	}
	if (result) /* what is damaged is said once, not at every step */
		minimap->is_done = true;
	return result;
}
