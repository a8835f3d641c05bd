/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minimap.c - sums coarse tiles of the whole run, a few columns of one stream at a time. The tiles are those
 * of the session, so that a view of the whole run shares them.
 */
#include "tui/timeline/minimap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COLUMNS_AT_ONCE 16u

void overview_fini(struct overview *overview)
{
	free(overview->edges.edges);
	free(overview->columns);
	free(overview->unit);
	free(overview->nodes);
	*overview = (struct overview){0};
}

void overview_forget(struct overview *overview)
{
	overview->width = 0;
}

uint64_t overview_column_ns(const struct overview *overview, uint32_t column)
{
	return tile_columns_ns(&overview->edges, column);
}

uint32_t overview_column_at(const struct overview *overview, uint64_t time_ns)
{
	return tile_columns_at(&overview->edges, time_ns);
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
static void choose_units(struct overview *overview, const struct rows *rows)
{
	uint32_t devices = count_kind(rows, ROWS_DEVICE), seen = 0;
	enum rows_kind kind = devices ? ROWS_DEVICE : ROWS_THREAD;
	uint64_t count = devices ? devices : count_kind(rows, ROWS_THREAD);
	uint64_t wanted = count < OVERVIEW_UNITS_MAX ? count : OVERVIEW_UNITS_MAX;

	overview->is_gpu = devices > 0;
	overview->node_count = 0;
	for (uint32_t i = 0; i < rows->node_count; i++) {
		if (rows->nodes[i].kind != kind)
			continue;
		if (overview->node_count < wanted && seen >= overview->node_count * count / wanted)
			overview->nodes[overview->node_count++] = i;
		seen++;
	}
}

/* Whole tiles may end before the run does: asks for more until they do not. */
static void fit(struct overview *overview, uint64_t origin_ns)
{
	uint64_t end_ns = overview->end_ns;

	for (int tries = 0; tries < 8; tries++) {
		uint64_t covered_ns;
		tile_columns_fit(&overview->edges, overview->begin_ns, end_ns, overview->width, origin_ns);
		covered_ns = overview_column_ns(overview, overview->edges.count);
		if (covered_ns >= overview->end_ns)
			break;
		end_ns += overview->end_ns - covered_ns;
	}
}

static int make_room(struct overview *overview, uint32_t width, struct error *error)
{
	overview_fini(overview);
	overview->edges.edges = calloc((size_t)width + 1, sizeof(*overview->edges.edges));
	overview->columns = calloc((size_t)width + 1, sizeof(*overview->columns));
	overview->unit = calloc((size_t)width + 1, sizeof(*overview->unit));
	overview->nodes = calloc(OVERVIEW_UNITS_MAX, sizeof(*overview->nodes));
	if (!overview->edges.edges || !overview->columns || !overview->unit || !overview->nodes) {
		overview_fini(overview);
		return error_memory(error);
	}
	return 0;
}

int overview_lay(struct overview *overview, const struct run *run, const struct rows *rows, uint32_t width,
	struct error *error)
{
	uint64_t begin_ns = run_begin_ns(run), end_ns = run_end_ns(run);
	int result;

	if (end_ns <= begin_ns)
		end_ns = begin_ns + 1;
	if (overview->width == width && overview->begin_ns == begin_ns && overview->end_ns == end_ns &&
		overview->stream_count == rows->stream_count)
		return 0;
	result = make_room(overview, width, error);
	if (result)
		return result;
	overview->begin_ns = begin_ns;
	overview->end_ns = end_ns;
	overview->width = width;
	overview->stream_count = rows->stream_count;
	fit(overview, run_origin_ns(run));
	choose_units(overview, rows);
	overview->is_done = overview->node_count == 0;
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
static void add_cell(struct overview_column *column, const struct tile *cell, uint64_t length_ns)
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
	struct overview *overview, struct tiles *tiles, uint32_t stream, uint32_t count, struct error *error)
{
	struct tile cells[COLUMNS_AT_ONCE];
	struct tile_columns some = {.shift = overview->edges.shift,
		.count = count,
		.edges = overview->edges.edges + overview->at_column};
	int result = tiles_project(tiles, &tile_states, error);

	if (!result)
		result = tiles_cells(tiles, stream, &some, cells, error);

	for (uint32_t i = 0; i < count && !result; i++)
		add_cell(&overview->unit[overview->at_column + i], &cells[i],
			(some.edges[i + 1] - some.edges[i]) << some.shift);
	return result;
}

static void finish_unit(struct overview *overview)
{
	for (uint32_t i = 0; i < overview->edges.count; i++) {
		struct overview_column *sum = &overview->columns[i], *unit = &overview->unit[i];
		sum->busy_ns += unit->busy_ns;
		sum->there_ns += unit->there_ns;
		sum->known_ns += unit->known_ns;
		sum->blind_ns += unit->blind_ns;
		sum->has_lost = sum->has_lost || unit->has_lost;
		sum->is_read = true;
	}
	memset(overview->unit, 0, overview->edges.count * sizeof(*overview->unit));
	overview->at_unit++;
	overview->at_node = 0;
	overview->is_done = overview->at_unit == overview->node_count;
}

/* The next columns of the next stream. */
static int read_step(
	struct overview *overview, struct tiles *tiles, const struct rows *rows, struct error *error)
{
	uint32_t unit = overview->nodes[overview->at_unit], node = unit + overview->at_node;
	uint32_t left = overview->edges.count - overview->at_column;
	uint32_t count = left < COLUMNS_AT_ONCE ? left : COLUMNS_AT_ONCE;
	int result = 0;

	if (!rows_is_group(&rows->nodes[node])) {
		result = read_columns(overview, tiles, rows->nodes[node].stream, count, error);
		if (result)
			return result;
		overview->at_column += count;
		if (overview->at_column < overview->edges.count)
			return 0;
	}
	overview->at_column = 0;
	overview->at_node++;
	if (unit + overview->at_node >= rows->nodes[unit].next)
		finish_unit(overview);
	return 0;
}

int overview_read(struct overview *overview, struct tiles *tiles, const struct rows *rows, unsigned limit_ms,
	struct error *error)
{
	uint64_t until_ms = limit_ms ? now_ms() + limit_ms : 0;
	int result = 0;

	while (!overview->is_done && overview->width && !result) {
		result = read_step(overview, tiles, rows, error);
		if (until_ms && now_ms() >= until_ms)
			break;
	}
	if (result) /* what is damaged is said once, not at every step */
		overview->is_done = true;
	return result;
}
