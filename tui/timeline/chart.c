/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chart.c - goes down from each cell to the callee that holds it, among the entries that make up the cell.
 */
#include "tui/timeline/chart.h"

#include <stdlib.h>

/* Entries of a column that are below the cell chosen last. */
struct below {
	const struct tile_entry **entries;
	uint32_t count;
};

static const struct cell blank = {.kind = CELL_STATE, .state = EXTENT_ABSENT, .function = UINT32_MAX};

static void take_entries(struct frame *frame, const struct frame_line *line, uint32_t column,
	const struct cell *cell, struct below *below)
{
	below->count = 0;
	for (uint32_t e = line->first[column]; e < line->first[column + 1]; e++) {
		const struct tile_entry *entry = &line->entries[e];
		bool is_of_cell = entry->state == cell->state && entry->context &&
				  entry->context < frame->context_count &&
				  frame_share(frame, entry).function == cell->function;

		if (is_of_cell && run_context(frame->run, entry->context)->scope != UINT32_MAX)
			below->entries[below->count++] = entry;
	}
}

/* The function that stands there on the entry's path; UINT32_MAX: it has ended. */
static uint32_t function_at(struct frame *frame, const struct tile_entry *entry, uint32_t level)
{
	bool is_shorter;
	uint32_t scope =
		frame_scope_below(frame, run_context(frame->run, entry->context)->scope, level, &is_shorter);

	return is_shorter ? UINT32_MAX : run_scope(frame->run, scope)->function;
}

/* The callee with most of the time, with that and all their time. */
static const struct cell_share *largest(
	struct frame *frame, const struct below *below, uint32_t level, uint64_t *all_ns, uint64_t *ended_ns)
{
	const struct cell_share *best = NULL;

	*all_ns = *ended_ns = 0;
	shares_clear(&frame->shares);
	for (uint32_t e = 0; e < below->count; e++) {
		struct cell_share part = {.state = below->entries[e]->state,
			.function = function_at(frame, below->entries[e], level),
			.time_ns = below->entries[e]->time_ns};
		bool is_new;

		*all_ns += part.time_ns;
		if (part.function == UINT32_MAX)
			*ended_ns += part.time_ns;
		else if (!shares_add(&frame->shares, &part, &is_new))
			break;
	}
	for (uint32_t i = 0; i < frame->shares.count; i++) {
		struct cell_share *share = &frame->shares.items[i];

		share->hash = run_function(frame->run, share->function)->hash;
		if (!best || share->time_ns > best->time_ns ||
			(share->time_ns == best->time_ns && share->hash < best->hash))
			best = share;
	}
	return best;
}

static struct cell callee_cell(
	const struct cell *above, const struct cell_share *callee, uint64_t all_ns, uint64_t column_ns)
{
	struct cell cell = *above;

	cell.function = callee->function;
	cell.hash = callee->hash;
	cell.time_ns = callee->time_ns;
	cell.is_shorter = false;
	if (cell.kind == CELL_STATE)
		return cell;
	if (callee->time_ns * 2 < all_ns && above->kind == CELL_BLOCK)
		cell.kind = CELL_MIXED;
	if (cell.kind == CELL_BLOCK && callee->time_ns * 8 < column_ns * CELL_DOMINANT_EIGHTHS) {
		cell.kind = CELL_SOME;
		cell.is_held = true;
	}
	if (cell.kind == CELL_SOME) {
		cell.is_held = cell.is_held && callee->time_ns * 2 >= all_ns;
		cell.eighths = (uint8_t)((__uint128_t)callee->time_ns * 8 / (column_ns ? column_ns : 1));
		cell.is_brief = !cell.eighths;
		cell.eighths = cell.eighths ? cell.eighths : 1;
	}
	return cell;
}

static void keep_callee(struct frame *frame, struct below *below, uint32_t level, uint32_t function)
{
	uint32_t kept = 0;

	for (uint32_t e = 0; e < below->count; e++)
		if (function_at(frame, below->entries[e], level) == function)
			below->entries[kept++] = below->entries[e];
	below->count = kept;
}

static void go_down(struct frame *frame, const struct frame_line *line, uint32_t column, struct below *below,
	struct cell *cells)
{
	uint32_t columns = frame->columns.count, level;
	struct cell above = frame_cell(frame, line, column);

	/* none of its callees holds the column: there is nothing to follow */
	if (above.above)
		above.kind = CELL_MIXED;
	below->count = 0;
	if (above.kind != CELL_MIXED)
		take_entries(frame, line, column, &above, below);
	for (level = 1; level <= frame->below && above.kind != CELL_MIXED; level++) {
		uint64_t all_ns, ended_ns;
		const struct cell_share *callee = largest(frame, below, level, &all_ns, &ended_ns);

		if (!callee || callee->time_ns < ended_ns)
			break;
		above = callee_cell(&above, callee, all_ns, frame_column_length(frame, column));
		cells[(size_t)(level - 1) * columns + column] = above;
		keep_callee(frame, below, level, above.function);
	}
	for (; level <= frame->below; level++)
		cells[(size_t)(level - 1) * columns + column] = blank;
}

static bool compute(struct frame *frame, struct frame_line *line)
{
	uint32_t columns = frame->columns.count, most = 0;
	struct below below;
	bool is_done;

	for (uint32_t c = 0; c < columns; c++)
		if (line->first[c + 1] - line->first[c] > most)
			most = line->first[c + 1] - line->first[c];
	if (line->chart_lines < frame->below) {
		line->chart =
			arena_calloc(&frame->arena, (size_t)frame->below * columns + 1, sizeof(*line->chart));
		line->chart_lines = line->chart ? frame->below : 0;
	}
	below.entries = calloc((size_t)most + 1, sizeof(*below.entries));
	for (uint32_t c = 0; line->chart && below.entries && c < columns; c++)
		go_down(frame, line, c, &below, line->chart);
	is_done = line->chart && below.entries;
	free(below.entries);
	return is_done;
}

const struct cell *chart_line(struct frame *frame, const struct frame_line *line, uint32_t below)
{
	struct frame_line *own = frame->lines[line->stream];

	if (!below || below > frame->below || own != line)
		return NULL;
	if (own->chart_level != frame_level(frame)) {
		if (!compute(frame, own))
			return NULL;
		own->chart_level = frame_level(frame);
	}
	return own->chart + (size_t)(below - 1) * frame->columns.count;
}
