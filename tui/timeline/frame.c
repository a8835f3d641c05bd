/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.c - copies the tiles' cells of each stream into the frame's arena, since tiles are only lent.
 * frame_cell.c decides what the cells show, frame_depth.c at which depth.
 */
#include "tui/timeline/frame.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_ARENA_BYTES (256u << 20) /* beyond it the lines that are not on the screen are dropped */
#define FRAME_DENSE_RECORDS 256u       /* from here on a cell has far more contexts than functions */
#define FRAME_ROLLED_RECORDS 8192u     /* two chunks: more are summed by rollups */

int frame_init(struct frame *frame, struct run *run, struct tiles *tiles, struct error *error)
{
	*frame = (struct frame){.run = run,
		.tiles = tiles,
		.depth = 1,
		.dense_records = FRAME_DENSE_RECORDS,
		.rolled_records = FRAME_ROLLED_RECORDS};
	return frame_renew(frame, error);
}

void frame_fini(struct frame *frame)
{
	arena_fini(&frame->arena);
	free(frame->lines);
	free(frame->leaves);
	free(frame->coarse);
	free(frame->is_damaged);
	free(frame->stand_ins);
	free(frame->columns.edges);
	free(frame->function);
	free(frame->is_shorter);
	free(frame->filter_of);
	free(frame->levels);
	shares_fini(&frame->shares);
	*frame = (struct frame){0};
}

static void drop_lines(struct frame *frame)
{
	arena_fini(&frame->arena);
	frame->busy = NULL;
	frame->lost_ns = NULL; /* was in the arena */
	frame->step_column = 0;
	if (frame->lines)
		memset(frame->lines, 0, frame->stream_count * sizeof(struct frame_line *));
	if (frame->is_damaged)
		memset(frame->is_damaged, 0, frame->stream_count);
	frame->is_damage_said = false;
	if (frame->leaves)
		memset(frame->leaves, 0, frame->stream_count * sizeof(struct frame_line *));
	if (frame->coarse)
		memset(frame->coarse, 0, frame->stream_count * sizeof(struct frame_coarse *));
}

/* One of each for every stream. */
static int make_tables(struct frame *frame, uint32_t streams, struct error *error)
{
	void **tables[] = {(void **)&frame->lines, (void **)&frame->leaves, (void **)&frame->coarse};
	uint8_t *is_damaged;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		void *wider = realloc(*tables[i], ((size_t)streams + 1) * sizeof(void *));
		if (!wider)
			return error_memory(error);
		*tables[i] = wider;
	}
	is_damaged = realloc(frame->is_damaged, (size_t)streams + 1);
	if (!is_damaged)
		return error_memory(error);
	frame->is_damaged = is_damaged;
	frame->stream_count = streams;
	return 0;
}

int frame_renew(struct frame *frame, struct error *error)
{
	uint32_t contexts = run_context_count(frame->run);
	uint32_t *function;
	uint8_t *is_shorter;
	int result = make_tables(frame, run_stream_count(frame->run), error);

	if (result)
		return result;
	frame->deepest_met = 0;
	drop_lines(frame);
	function = realloc(frame->function, ((size_t)contexts + 1) * sizeof(*function));
	if (!function)
		return error_memory(error);
	frame->function = function;
	is_shorter = realloc(frame->is_shorter, (size_t)contexts + 1);
	if (!is_shorter)
		return error_memory(error);
	frame->is_shorter = is_shorter;
	frame->context_count = contexts;
	frame_set_depth(frame, frame->depth);
	return 0;
}

static int make_room(struct frame *frame, uint32_t width, struct error *error)
{
	uint64_t *edges;

	if (width <= frame->capacity)
		return 0;
	edges = realloc(frame->columns.edges, ((size_t)width + 1) * sizeof(*edges));
	if (!edges)
		return error_memory(error);
	frame->columns.edges = edges;
	frame->capacity = width;
	return 0;
}

int frame_lay(struct frame *frame, uint64_t begin_ns, uint64_t end_ns, uint32_t width, struct error *error)
{
	if (begin_ns == frame->want_begin_ns && end_ns == frame->want_end_ns && width == frame->want_width &&
		frame->arena.total_bytes < FRAME_ARENA_BYTES)
		return 0;
	if (make_room(frame, width, error))
		return -ERROR_IO;
	drop_lines(frame);
	frame->want_begin_ns = begin_ns;
	frame->want_end_ns = end_ns;
	frame->want_width = width;
	tile_columns_fit(&frame->columns, begin_ns, end_ns, width, run_origin_ns(frame->run));
	frame->begin_ns = frame_column_ns(frame, 0);
	frame->end_ns = frame_column_ns(frame, frame->columns.count);
	return 0;
}

/* Every picture tells them: they are added up once. */
static void add_coverage(struct frame_line *line, size_t entries)
{
	for (size_t e = 0; e < entries; e++) {
		const struct tile_entry *entry = &line->entries[e];

		if (entry->state == EXTENT_ABSENT)
			continue;
		line->there_ns += entry->time_ns;
		if (extent_state_is_busy(entry->state))
			line->busy_ns += entry->time_ns;
		else if (entry->state == EXTENT_BLOCKED || entry->state == EXTENT_SYNC ||
			 entry->state == EXTENT_IDLE)
			line->waits_ns += entry->time_ns;
		else if (entry->state == EXTENT_RUNNABLE)
			line->preempted_ns += entry->time_ns;
		if (entry->state == EXTENT_LOST)
			line->lost_ns += entry->time_ns;
		else if (entry->state != EXTENT_UNMONITORED)
			line->known_ns += entry->time_ns;
	}
}

static struct frame_line *copy_line(struct frame *frame, uint32_t stream, const struct tile *cells)
{
	uint32_t count = frame->columns.count;
	struct frame_line *line = arena_calloc(&frame->arena, 1, sizeof(*line));
	size_t entries = 0;

	for (uint32_t i = 0; i < count; i++)
		entries += cells[i].count;
	if (!line || entries > UINT32_MAX)
		return NULL;
	line->stream = stream;
	line->first = arena_calloc(&frame->arena, (size_t)count + 1, sizeof(*line->first));
	line->entries = arena_calloc(&frame->arena, entries + 1, sizeof(*line->entries));
	line->cells = arena_calloc(&frame->arena, (size_t)count + 1, sizeof(*line->cells));
	if (!line->first || !line->entries || !line->cells)
		return NULL;
	entries = 0;
	for (uint32_t i = 0; i < count; i++) {
		line->first[i] = (uint32_t)entries;
		if (cells[i].count)
			memcpy(&line->entries[entries], cells[i].entries,
				cells[i].count * sizeof(struct tile_entry));
		entries += cells[i].count;
	}
	line->first[count] = (uint32_t)entries;
	add_coverage(line, entries);
	return line;
}

static int read_line(struct frame *frame, uint32_t stream, const struct tile_projection *projection,
	struct frame_line **line, struct error *error)
{
	struct tile *cells = calloc((size_t)frame->columns.count + 1, sizeof(*cells));
	int result = cells ? tiles_project(frame->tiles, projection, error) : error_memory(error);

	if (!result)
		result = tiles_cells(frame->tiles, stream, &frame->columns, cells, error);
	if (!result) {
		*line = copy_line(frame, stream, cells);
		if (!*line)
			result = error_memory(error);
	}
	free(cells);
	return result;
}

int frame_read(struct frame *frame, uint32_t stream, const struct frame_line **line, struct error *error)
{
	bool is_dense = frame_is_dense(frame, stream);
	int result;

	*line = frame_line(frame, stream);
	if (*line)
		return 0;
	result = read_line(frame, stream, is_dense ? frame_projection(frame, stream) : NULL,
		&frame->lines[stream], error);
	if (!result)
		frame->lines[stream]->level = is_dense ? frame_level(frame) : 0;
	*line = frame_line(frame, stream);
	return result;
}

int frame_read_step(
	struct frame *frame, uint32_t stream, uint32_t columns, bool *is_done, struct error *error)
{
	uint32_t from = frame->step_stream == stream && frame->step_level == frame_level(frame)
				? frame->step_column
				: 0;
	struct tile_columns some = {.shift = frame->columns.shift, .edges = frame->columns.edges + from};
	const struct frame_line *line = frame_line(frame, stream);
	struct tile *cells;
	int result;

	*is_done = line || columns >= frame->columns.count - from;
	if (*is_done) {
		frame->step_column = 0;
		return frame_read(frame, stream, &line, error);
	}
	some.count = columns;
	cells = calloc(columns, sizeof(*cells));
	if (!cells)
		return error_memory(error);
	result = tiles_project(
		frame->tiles, frame_is_dense(frame, stream) ? frame_projection(frame, stream) : NULL, error);
	if (!result)
		result = tiles_cells(frame->tiles, stream, &some, cells, error);
	free(cells);
	frame->step_stream = stream;
	frame->step_level = frame_level(frame);
	frame->step_column = result ? from : from + columns;
	return result;
}

const struct frame_line *frame_line(const struct frame *frame, uint32_t stream)
{
	const struct frame_line *line = stream < frame->stream_count ? frame->lines[stream] : NULL;

	return line && (!line->level || line->level == frame_level(frame)) ? line : NULL;
}

const struct frame_line *frame_leaves(struct frame *frame, uint32_t stream)
{
	const struct frame_line *line = frame_line(frame, stream);
	struct error error;

	if (!line || !line->level)
		return line;
	if (!frame->leaves[stream] && read_line(frame, stream, NULL, &frame->leaves[stream], &error))
		return NULL;
	return frame->leaves[stream];
}

const struct tile_entry *frame_leaves_at(
	struct frame *frame, uint32_t stream, uint32_t column, uint32_t *count, struct error *error)
{
	struct tile_columns one = {
		.count = 1, .shift = frame->columns.shift, .edges = frame->columns.edges + column};
	const struct frame_line *line = frame_line(frame, stream);
	struct tile cell;

	if (!line)
		return NULL;
	if (line->level && frame->leaves[stream])
		line = frame->leaves[stream];
	if (!line->level) {
		*count = line->first[column + 1] - line->first[column];
		return line->entries + line->first[column];
	}
	if (tiles_project(frame->tiles, NULL, error) || tiles_cells(frame->tiles, stream, &one, &cell, error))
		return NULL;
	*count = cell.count;
	return cell.entries;
}

uint64_t frame_column_ns(const struct frame *frame, uint32_t column)
{
	return tile_columns_ns(&frame->columns, column);
}

uint64_t frame_column_length(const struct frame *frame, uint32_t column)
{
	return frame_column_ns(frame, column + 1) - frame_column_ns(frame, column);
}

uint32_t frame_column_at(const struct frame *frame, uint64_t time_ns)
{
	return tile_columns_at(&frame->columns, time_ns);
}
