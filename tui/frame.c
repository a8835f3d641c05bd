/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.c - copies the tiles' cells of each stream into the frame's arena, since tiles are only lent, and
 * projects their leaf contexts to a depth through one table per depth.
 */
#include "tui/frame.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_ARENA_BYTES (256u << 20) /* beyond it the lines that are not on the screen are dropped */
#define FRAME_AUTO_MAX 200u	       /* depth auto looks no deeper: recursion says nothing there */
#define NOT_LOOKED_UP (UINT32_MAX - 1)

int frame_init(struct frame *frame, struct run *run, struct tiles *tiles, struct error *error)
{
	*frame = (struct frame){.run = run, .tiles = tiles, .depth = 1};
	return frame_renew(frame, error);
}

void frame_fini(struct frame *frame)
{
	arena_fini(&frame->arena);
	free(frame->lines);
	free(frame->columns.edges);
	free(frame->function);
	free(frame->is_shorter);
	free(frame->filter_of);
	shares_fini(&frame->shares);
	*frame = (struct frame){0};
}

static void drop_lines(struct frame *frame)
{
	arena_fini(&frame->arena);
	frame->lanes = NULL;
	if (frame->lines)
		memset(frame->lines, 0, frame->stream_count * sizeof(struct frame_line *));
}

int frame_renew(struct frame *frame, struct error *error)
{
	uint32_t streams = run_stream_count(frame->run), contexts = run_context_count(frame->run);
	struct frame_line **lines =
		realloc(frame->lines, ((size_t)streams + 1) * sizeof(struct frame_line *));
	uint32_t *function;
	uint8_t *is_shorter;

	if (!lines)
		return error_memory(error);
	frame->lines = lines;
	frame->stream_count = streams;
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

int frame_read(struct frame *frame, uint32_t stream, const struct frame_line **line, struct error *error)
{
	struct tile *cells;
	int result;

	*line = frame_line(frame, stream);
	if (*line)
		return 0;
	cells = calloc((size_t)frame->columns.count + 1, sizeof(*cells));
	if (!cells)
		return error_memory(error);
	result = tiles_cells(frame->tiles, stream, &frame->columns, cells, error);
	if (!result) {
		frame->lines[stream] = copy_line(frame, stream, cells);
		*line = frame->lines[stream];
		if (!*line)
			result = error_memory(error);
	}
	free(cells);
	return result;
}

const struct frame_line *frame_line(const struct frame *frame, uint32_t stream)
{
	return stream < frame->stream_count ? frame->lines[stream] : NULL;
}

uint64_t frame_column_ns(const struct frame *frame, uint32_t column)
{
	return frame->columns.edges[column] << frame->columns.shift;
}

uint64_t frame_column_length(const struct frame *frame, uint32_t column)
{
	return frame_column_ns(frame, column + 1) - frame_column_ns(frame, column);
}

uint32_t frame_column_at(const struct frame *frame, uint64_t time_ns)
{
	uint32_t low = 0, high = frame->columns.count;

	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;
		if (frame_column_ns(frame, middle) <= time_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void frame_set_depth(struct frame *frame, uint32_t depth)
{
	frame->depth = depth;
	for (uint32_t i = 0; i < frame->context_count; i++)
		frame->function[i] = NOT_LOOKED_UP;
}

uint32_t frame_function(struct frame *frame, uint32_t context, bool *is_shorter)
{
	const struct run_context *c;

	*is_shorter = false;
	if (context >= frame->context_count)
		return UINT32_MAX;
	if (frame->function[context] == NOT_LOOKED_UP) {
		c = run_context(frame->run, context);
		frame->function[context] = UINT32_MAX;
		frame->is_shorter[context] = 0;
		if (c->scope != UINT32_MAX) {
			uint32_t scope = frame_scope(frame, c->scope, is_shorter);
			frame->function[context] = run_scope(frame->run, scope)->function;
			frame->is_shorter[context] = *is_shorter;
		}
	}
	*is_shorter = frame->is_shorter[context];
	return frame->function[context];
}

/* All but the hash. */
static struct cell_share share_of(struct frame *frame, const struct tile_entry *entry)
{
	struct cell_share share = {.state = entry->state,
		.function = UINT32_MAX,
		.time_ns = entry->time_ns,
		.records = entry->records};

	switch (entry->state) {
	case EXTENT_WORK:
	case EXTENT_KERNEL:
	case EXTENT_SYNC:
	case EXTENT_BLOCKED:
		share.function = frame_function(frame, entry->context, &share.is_shorter);
		break;
	default:
		break;
	}
	return share;
}

static uint64_t hash_of(const struct frame *frame, const struct cell_share *share)
{
	return share->function == UINT32_MAX ? 0 : run_function(frame->run, share->function)->hash;
}

struct cell_share frame_share(struct frame *frame, const struct tile_entry *entry)
{
	struct cell_share share = share_of(frame, entry);

	share.hash = hash_of(frame, &share);
	return share;
}

/* When memory is out, what there is. */
static void take_shares(struct frame *frame, const struct frame_line *line, uint32_t column)
{
	shares_clear(&frame->shares);
	for (uint32_t e = line->first[column]; e < line->first[column + 1]; e++) {
		struct cell_share part = share_of(frame, &line->entries[e]), *share;
		bool is_new;

		share = shares_add(&frame->shares, &part, &is_new);
		if (share && is_new)
			share->hash = hash_of(frame, share);
	}
}

size_t frame_shares(struct frame *frame, const struct frame_line *line, uint32_t column,
	struct cell_share *shares, size_t capacity)
{
	size_t count;

	take_shares(frame, line, column);
	shares_sort(&frame->shares);
	count = frame->shares.count < capacity ? frame->shares.count : capacity;
	if (count)
		memcpy(shares, frame->shares.items, count * sizeof(*shares));
	return count;
}

static struct cell decide(struct frame *frame, const struct frame_line *line, uint32_t column)
{
	take_shares(frame, line, column);
	return cell_decide(frame->shares.items, frame->shares.count, frame_column_length(frame, column));
}

/* A cell of a long run has thousands of contexts below it: a line's cells are decided once for a depth. */
struct cell frame_cell(struct frame *frame, const struct frame_line *line, uint32_t column)
{
	struct frame_line *own = frame->lines[line->stream];

	if (own != line)
		return decide(frame, line, column);
	if (own->cells_depth != frame->depth + 1) {
		for (uint32_t c = 0; c < frame->columns.count; c++)
			own->cells[c] = decide(frame, own, c);
		own->cells_depth = frame->depth + 1;
	}
	return own->cells[column];
}

static uint64_t busy_of(
	const struct tile_entry *entries, uint32_t count, uint64_t length_ns, uint64_t *there_ns)
{
	uint64_t busy_ns = 0;

	*there_ns = length_ns;
	for (uint32_t e = 0; e < count; e++) {
		if (extent_state_is_busy(entries[e].state))
			busy_ns += entries[e].time_ns;
		else if (entries[e].state == EXTENT_ABSENT)
			*there_ns -= entries[e].time_ns;
	}
	return busy_ns;
}

uint64_t frame_busy_ns(
	const struct frame *frame, const struct frame_line *line, uint32_t column, uint64_t *there_ns)
{
	return busy_of(&line->entries[line->first[column]], line->first[column + 1] - line->first[column],
		frame_column_length(frame, column), there_ns);
}

int frame_busy_read(
	struct frame *frame, uint32_t stream, uint64_t *busy_ns, uint64_t *there_ns, struct error *error)
{
	uint32_t count = frame->columns.count;
	const struct frame_line *line = frame_line(frame, stream);
	struct tile *cells = line ? NULL : calloc((size_t)count + 1, sizeof(*cells));
	int result = 0;

	if (!line && !cells)
		return error_memory(error);
	if (!line)
		result = tiles_cells(frame->tiles, stream, &frame->columns, cells, error);
	for (uint32_t c = 0; c < count && !result; c++) {
		uint64_t there, length_ns = frame_column_length(frame, c);
		busy_ns[c] += line ? busy_of(&line->entries[line->first[c]],
					     line->first[c + 1] - line->first[c], length_ns, &there)
				   : busy_of(cells[c].entries, cells[c].count, length_ns, &there);
		there_ns[c] += there;
	}
	free(cells);
	return result;
}

/* What the cells of all lines say about the frame's depth. */
struct verdict {
	uint64_t busy, dominant; /* cells in which somebody works; those with a dominant context */
	uint64_t code, deep;	 /* blocks of CPU code; those whose path reaches the depth */
};

static struct verdict judge_depth(struct frame *frame)
{
	struct verdict verdict = {0};

	for (uint32_t s = 0; s < frame->stream_count; s++) {
		for (uint32_t column = 0; frame->lines[s] && column < frame->columns.count; column++) {
			struct cell cell = frame_cell(frame, frame->lines[s], column);
			bool is_code = cell.kind == CELL_BLOCK && cell.state == EXTENT_WORK;
			verdict.busy += cell.kind == CELL_BLOCK || cell.kind == CELL_MIXED;
			verdict.dominant += cell.kind == CELL_BLOCK;
			verdict.code += is_code;
			verdict.deep += is_code && !cell.is_shorter;
		}
	}
	return verdict;
}

static bool is_telling(const struct verdict *verdict)
{
	return verdict->busy && verdict->dominant * 4 >= verdict->busy * CELL_AUTO_QUARTERS &&
	       verdict->deep * 8 >= verdict->code * CELL_AUTO_DEEP_EIGHTHS;
}

uint32_t frame_deepest(const struct frame *frame)
{
	uint32_t deepest = 1;

	for (uint32_t s = 0; s < frame->stream_count; s++) {
		const struct frame_line *line = frame->lines[s];
		for (uint32_t e = 0; line && e < line->first[frame->columns.count]; e++) {
			const struct run_context *c;
			if (line->entries[e].context >= frame->context_count)
				continue;
			c = run_context(frame->run, line->entries[e].context);
			if (c->scope != UINT32_MAX && run_scope(frame->run, c->scope)->depth > deepest)
				deepest = run_scope(frame->run, c->scope)->depth;
		}
	}
	return deepest;
}

uint32_t frame_auto_depth(struct frame *frame)
{
	uint32_t low = 1, high = frame_deepest(frame), was = frame->depth;

	if (judge_depth(frame).busy == 0) /* nobody works here: nothing to choose by */
		return was;
	if (high > FRAME_AUTO_MAX)
		high = FRAME_AUTO_MAX;
	/* the deeper, the more functions share a cell: what holds at a depth holds above it, but for
	 * recursion */
	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;
		struct verdict verdict;

		frame_set_depth(frame, middle);
		verdict = judge_depth(frame);
		if (is_telling(&verdict))
			low = middle;
		else
			high = middle - 1;
	}
	frame_set_depth(frame, was);
	return low;
}
