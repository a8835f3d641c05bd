/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_cell.c - what a column of a stream shows: its times as shares by function or state, the cell decided
 * from them, and the time at work.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/timeline/frame.h"

#define FRAME_ABOVE_MAX 64u /* deeper recursion says nothing */

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
static void take_shares(struct frame *frame, const struct tile_entry *entries, uint32_t count)
{
	shares_clear(&frame->shares);
	for (uint32_t e = 0; e < count; e++) {
		struct cell_share part = share_of(frame, &entries[e]), *share;
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

	take_shares(
		frame, line->entries + line->first[column], line->first[column + 1] - line->first[column]);
	shares_sort(&frame->shares);
	count = frame->shares.count < capacity ? frame->shares.count : capacity;
	if (count)
		memcpy(shares, frame->shares.items, count * sizeof(*shares));
	return count;
}

struct cell frame_decide(
	struct frame *frame, const struct tile_entry *entries, uint32_t count, uint64_t length_ns)
{
	take_shares(frame, entries, count);
	return cell_decide(frame->shares.items, frame->shares.count, length_ns);
}

/* Where many callees of a function share a column, none of them holds it, but the function does: the
 * innermost one that does gives the cell its name. */
static struct cell decide_above(struct frame *frame, const struct tile_entry *entries, uint32_t count,
	uint64_t length_ns, struct cell cell)
{
	for (uint32_t above = 1; above <= FRAME_ABOVE_MAX && count; above++) {
		struct cell wider;
		bool is_deep = false;

		shares_clear(&frame->shares);
		for (uint32_t e = 0; e < count; e++) {
			struct cell_share part = share_of(frame, &entries[e]), *share;
			bool is_new;

			if (part.function != UINT32_MAX)
				part.function =
					frame_function_above(frame, entries[e].context, above, &is_deep);
			share = shares_add(&frame->shares, &part, &is_new);
			if (share && is_new)
				share->hash = hash_of(frame, share);
		}
		wider = cell_decide(frame->shares.items, frame->shares.count, length_ns);
		if (cell_has_holder(&wider)) {
			wider.above = (uint8_t)above;
			wider.is_shorter = false;
			return wider;
		}
		if (!is_deep)
			break;
	}
	return cell;
}

/* A thread works at its root until its first sample: that hides no wait which has half of the column. */
static struct cell decide_beside_root(struct frame *frame, const struct cell *cell, uint64_t length_ns)
{
	struct cell_share *root = NULL;
	uint64_t wait_ns = 0;

	if (cell->kind != CELL_SOME || !cell->is_brief || cell->state != EXTENT_WORK ||
		(cell->function != UINT32_MAX && !run_function(frame->run, cell->function)->is_placeholder))
		return *cell;
	for (size_t i = 0; i < frame->shares.count; i++) {
		struct cell_share *share = &frame->shares.items[i];

		if (share->state == EXTENT_BLOCKED || share->state == EXTENT_SYNC)
			wait_ns += share->time_ns;
		if (share->state == EXTENT_WORK && share->function == cell->function)
			root = share;
	}
	if (!root || 2 * wait_ns < length_ns)
		return *cell;
	root->time_ns = 0;
	return cell_decide(frame->shares.items, frame->shares.count, length_ns);
}

static struct cell decide(struct frame *frame, const struct frame_line *line, uint32_t column)
{
	const struct tile_entry *entries = line->entries + line->first[column];
	uint32_t count = line->first[column + 1] - line->first[column];
	uint64_t length_ns = frame_column_length(frame, column);
	struct cell decided = frame_decide(frame, entries, count, length_ns);
	struct cell cell = decide_beside_root(frame, &decided, length_ns);
	bool is_shared = cell.kind == CELL_MIXED || (cell.kind == CELL_SOME && !cell.is_held);

	if (!is_shared || cell.state != EXTENT_WORK || !run_depth_is_below(frame->depth))
		return cell;
	cell = decide_above(frame, entries, count, length_ns, cell);
	if (cell.above && cell.is_brief) {
		take_shares(frame, entries, count);
		cell_decide_wait(&cell, frame->shares.items, frame->shares.count, length_ns);
	}
	return cell;
}

/* A cell of a long run has thousands of contexts below it: a line's cells are decided once for a depth. */
struct cell frame_cell(struct frame *frame, const struct frame_line *line, uint32_t column)
{
	struct frame_line *own = frame->lines[line->stream];

	if (own != line)
		return decide(frame, line, column);
	if (own->cells_level != frame_level(frame)) {
		for (uint32_t c = 0; c < frame->columns.count; c++)
			own->cells[c] = decide(frame, own, c);
		own->cells_level = frame_level(frame);
	}
	return own->cells[column];
}

uint64_t frame_busy_of(
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
	return frame_busy_of(&line->entries[line->first[column]],
		line->first[column + 1] - line->first[column], frame_column_length(frame, column), there_ns);
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
	if (!line && frame_is_dense(frame, stream))
		result = tiles_project(frame->tiles, &tile_states, error);
	else if (!line)
		result = tiles_project(frame->tiles, NULL, error);
	if (!line && !result)
		result = tiles_cells(frame->tiles, stream, &frame->columns, cells, error);
	for (uint32_t c = 0; c < count && !result; c++) {
		uint64_t there, length_ns = frame_column_length(frame, c);
		busy_ns[c] += line ? frame_busy_of(&line->entries[line->first[c]],
					     line->first[c + 1] - line->first[c], length_ns, &there)
				   : frame_busy_of(cells[c].entries, cells[c].count, length_ns, &there);
		there_ns[c] += there;
	}
	free(cells);
	return result;
}

uint64_t frame_lost_ns(const struct frame *frame, uint32_t stream)
{
	const struct frame_line *line = frame_line(frame, stream);

	return line ? line->lost_ns : frame->lost_ns ? frame->lost_ns[stream] : FRAME_LOST_UNREAD;
}

static int make_lost(struct frame *frame, struct error *error)
{
	if (frame->lost_ns)
		return 0;
	frame->lost_ns =
		arena_alloc(&frame->arena, ((size_t)frame->stream_count + 1) * sizeof(*frame->lost_ns));
	if (!frame->lost_ns)
		return error_memory(error);
	for (uint32_t i = 0; i < frame->stream_count; i++)
		frame->lost_ns[i] = FRAME_LOST_UNREAD;
	return 0;
}

int frame_lost_read(struct frame *frame, uint32_t stream, struct error *error)
{
	/* all of the window in one: stored sums know its losses */
	uint64_t edges[2] = {frame->columns.edges[0], frame->columns.edges[frame->columns.count]},
		 lost_ns = 0;
	struct tile_columns window = {.shift = frame->columns.shift, .count = 1, .edges = edges};
	struct tile cell;
	int result = make_lost(frame, error);

	if (!result)
		result = tiles_project(frame->tiles, &tile_states, error);
	if (!result)
		result = tiles_cells(frame->tiles, stream, &window, &cell, error);
	if (result)
		return result;
	for (uint32_t e = 0; e < cell.count; e++)
		if (cell.entries[e].state == EXTENT_LOST)
			lost_ns += cell.entries[e].time_ns;
	frame->lost_ns[stream] = lost_ns;
	return 0;
}
