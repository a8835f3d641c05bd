/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_depth.c - the call path of the cursor's stream over time, one level per row, the root on top. In the
 * pane, or on the whole screen with the queues of the process, the call stack and the statistics of the
 * stream.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/timeline/depth.h"
#include "tui/views/cell_runs.h"
#include "tui/views/views.h"

#define DEPTH_TABLE_KEY 34
#define DEPTH_LEAVES 4 /* named in the line of self time */

/* ---- levels ---- */

static struct cell_runs_place place_at(struct session *session, struct grid *grid, int row)
{
	return (struct cell_runs_place){
		session, grid, row, session->layout.label, false, session->cells_wide};
}

/* Of the path at the cursor. */
static uint32_t depth_here(struct session *session)
{
	uint32_t context = session_leaf_context(session);

	return session_depth_at(session, context ? run_context(session->run, context)->scope : UINT32_MAX);
}

static void draw_level(struct session *session, struct grid *grid, int row,
	const struct depth_picture *picture, uint32_t level)
{
	struct cell_runs_place place = place_at(session, grid, row);
	uint32_t depth = level + 1;
	char label[32];

	snprintf(label, sizeof(label), session->layout.label >= 12 ? "depth %u" : "%u", depth);
	grid_text(grid, row, 2, session->layout.label - 3, label, GRID_TEXT);
	cell_runs_draw(&place, depth_row(picture, level), picture->columns);
	if (depth != depth_here(session))
		return;
	grid_put(grid, row, 0, '>', GRID_HEADING);
	grid_mark(grid, row, place.column + (int)session_column(session) * place.wide, place.wide,
		GRID_REVERSE);
}

/* The levels that have room, with the cursor's depth in the middle third; returns the row behind them. */
static int draw_levels(
	struct session *session, struct grid *grid, int row, int end, const struct depth_picture *picture)
{
	uint32_t room = end > row ? (uint32_t)(end - row) : 0, first = 0, shown = picture->levels;
	uint32_t depth = depth_here(session);
	char text[96];

	if (room < 2)
		return row;
	if (shown > room) {
		shown = room - 1;
		first = depth > shown / 2 ? depth - shown / 2 - 1 : 0;
		first = first > picture->levels - shown ? picture->levels - shown : first;
	}
	for (uint32_t i = first; i < first + shown; i++)
		draw_level(session, grid, row++, picture, i);
	if (shown < picture->levels) {
		snprintf(text, sizeof(text), "%u more above, %u below%s", first,
			picture->levels - shown - first,
			picture->levels == DEPTH_LEVELS_MAX ? ", and deeper ones are not drawn" : "");
		grid_text(grid, row++, 2, grid->columns - 2, text, GRID_GREY);
	}
	return row;
}

/* The line of the cursor's stream; NULL after saying why there is none. */
static const struct frame_line *line_here(struct session *session, struct grid *grid, struct grid_area area)
{
	uint32_t stream;

	if (!session_stream(session, &stream)) {
		grid_text(grid, area.row, 2, area.columns - 2,
			"This row is a group: choose one of its streams to see its call path.", GRID_GREY);
		return NULL;
	}
	if (!frame_line(&session->frame, stream))
		grid_text(grid, area.row, 2, area.columns - 2, "reading ...", GRID_GREY);
	return frame_leaves(&session->frame, stream);
}

/* ---- below the timeline ---- */

static void draw_pane(struct session *session, struct grid *grid, struct grid_area area)
{
	const struct frame_line *line = line_here(session, grid, area);
	struct depth_picture picture;
	int row = area.row, end = area.row + area.rows;
	char label[LABEL_BYTES];

	if (!line || depth_compute(&picture, &session->frame, line))
		return;
	if (area.rows >= 10) {
		label_stream(label, rows_long_label(&session->rows, session->state.node),
			session->layout.label - 1, grid->is_ascii);
		grid_text(grid, row, 0, session->layout.label - 1, label, GRID_HEADING);
		grid_text(grid, row++, session->layout.label, area.columns - session->layout.label,
			"call path over time, root on top; the line marked > is the depth of the timeline "
			"above",
			GRID_GREY);
	}
	row = draw_levels(session, grid, row, end, &picture);
	if (row < end && area.rows >= 10) {
		grid_text(grid, row, 2, session->layout.label - 3, "leaf", GRID_GREY);
		grid_text(grid, row, session->layout.label, area.columns - session->layout.label,
			"each column ends at its deepest frame; nothing below means that the path is shorter",
			GRID_GREY);
	}
	depth_fini(&picture);
}

/* ---- the whole screen ---- */

static void draw_row(struct session *session, struct grid *grid, int row, const char *name, uint32_t stream)
{
	const struct frame_line *line = frame_line(&session->frame, stream);
	struct cell_runs_place place = place_at(session, grid, row);
	uint32_t count = session->frame.columns.count;
	struct cell *cells = calloc((size_t)count + 1, sizeof(*cells));
	char label[LABEL_BYTES];

	if (text_cells(name) > session->layout.label - 3)
		name = strncmp(name, "this ", 5) == 0 ? "stream" : name;
	if (cells && line) {
		for (uint32_t i = 0; i < count; i++)
			cells[i] = frame_cell(&session->frame, line, i);
		cell_runs_draw(&place, cells, count);
	}
	free(cells);
	label_stream(label, name, session->layout.label - 3, grid->is_ascii);
	grid_text(grid, row, 2, session->layout.label - 3, label, GRID_TEXT);
}

/* The queues of the same process that have been read: cause and effect in one picture. */
static uint32_t draw_queues(struct session *session, struct grid *grid, int row, int end)
{
	const struct rows *rows = &session->rows;
	uint32_t node = session->state.node, count = 0;

	if (rows->nodes[node].kind != ROWS_THREAD)
		return 0;
	while (rows->nodes[node].parent != UINT32_MAX)
		node = rows->nodes[node].parent;
	for (uint32_t i = rows_below(rows, node, UINT32_MAX, ROWS_QUEUE); i != UINT32_MAX;
		i = rows_below(rows, node, i, ROWS_QUEUE)) {
		if (!frame_line(&session->frame, rows->nodes[i].stream))
			continue;
		count++;
		if (row < 0)
			continue; /* only counted */
		if (count == 1 && row < end)
			grid_text(grid, row++, 2, session->layout.cells, "same process, GPU:", GRID_GREY);
		if (row < end)
			draw_row(session, grid, row++,
				text_cells(rows_label(rows, i)) > session->layout.label - 3
					? rows_short_label(rows, i)
					: rows_label(rows, i),
				rows->nodes[i].stream);
	}
	return count;
}

static const char *sum_name(struct session *session, const struct depth_sum *sum, char *out, bool is_ascii)
{
	struct cell_share share = {.state = sum->state, .function = sum->function};

	if (sum->function != UINT32_MAX && sum->state == EXTENT_SYNC) {
		label_fit(out, run_function(session->run, sum->function)->name, DEPTH_TABLE_KEY, LABEL_TABLE,
			is_ascii);
		return out;
	}
	session_share_name(session, out, &share, LABEL_TABLE, DEPTH_TABLE_KEY);
	return out;
}

static void draw_sum(struct session *session, struct grid *grid, int row, const struct depth_sum *sum,
	uint64_t window_ns, struct format_number_unit unit)
{
	uint64_t hash = sum->function == UINT32_MAX ? 0 : run_function(session->run, sum->function)->hash;
	const uint64_t times[] = {sum->inclusive_ns, sum->exclusive_ns, 0, 0, sum->longest_ns};
	static const int ends[] = {50, 62, 71, 81, 92};
	char text[LABEL_BYTES];

	grid_put(grid, row, 2, (uint32_t)extent_state_glyph(sum->state),
		extent_state_is_busy(sum->state) ? session_style(session, sum->state, hash, false)
						 : GRID_GREY);
	grid_text(grid, row, 4, DEPTH_TABLE_KEY, sum_name(session, sum, text, grid->is_ascii), GRID_TEXT);
	for (int i = 0; i < 5; i++) {
		if (i == 2)
			format_number_share(text, sum->inclusive_ns, window_ns, 1);
		else if (i == 3)
			snprintf(text, sizeof(text), "%u", sum->runs);
		else
			format_number_in(text, times[i], unit);
		if (ends[i] <= grid->columns)
			grid_text_right(grid, row, ends[i] - 12, 12, text, GRID_TEXT);
	}
}

/* Self time of what the cursor's cell shows, by leaf. */
static void draw_leaves(struct session *session, struct grid *grid, int row, const struct frame_line *line)
{
	struct {
		uint32_t function;
		uint64_t time_ns;
	} leaves[64];
	uint64_t total_ns = 0;
	size_t count = 0, i;
	char text[LABEL_BYTES], name[LABEL_BYTES], share[FORMAT_NUMBER_BYTES];
	const struct frame_line *cell_line;
	struct cell cell;
	int at;

	if (!session_cell(session, &cell_line, &cell) || cell.function == UINT32_MAX)
		return;
	for (uint32_t e = 0; e < line->first[session->frame.columns.count]; e++) {
		const struct tile_entry *entry = &line->entries[e];
		struct cell_share part = frame_share(&session->frame, entry);
		uint32_t scope, leaf;
		if (part.function != cell.function || part.state != cell.state || !entry->context)
			continue;
		scope = run_context(session->run, entry->context)->scope;
		leaf = scope == UINT32_MAX ? UINT32_MAX : run_scope(session->run, scope)->function;
		total_ns += entry->time_ns;
		for (i = 0; i < count && leaves[i].function != leaf; i++)
			;
		if (i == count && count < 64)
			leaves[count].function = leaf, leaves[count++].time_ns = 0;
		if (i < count)
			leaves[i].time_ns += entry->time_ns;
	}
	label_fit(name, run_function(session->run, cell.function)->name, 32, LABEL_STACK, grid->is_ascii);
	snprintf(text, sizeof(text), "inside %.*s, by leaf:", 200, name);
	at = grid_text(grid, row, 2, grid->columns - 2, text, GRID_GREY) + 2;
	for (int shown = 0; shown < DEPTH_LEAVES && total_ns; shown++) {
		size_t best = 0;
		for (i = 1; i < count; i++)
			if (leaves[i].time_ns > leaves[best].time_ns)
				best = i;
		if (!count || leaves[best].time_ns == 0 || leaves[best].function == UINT32_MAX)
			break;
		label_fit(name, run_function(session->run, leaves[best].function)->name, 24, LABEL_STACK,
			grid->is_ascii);
		format_number_share(share, leaves[best].time_ns, total_ns, 0);
		snprintf(text, sizeof(text), "%.*s %s", 200, name, share);
		if (at + text_cells(text) > grid->columns)
			break;
		at = grid_text(grid, row, at, grid->columns - at, text, GRID_TEXT) + 3;
		leaves[best].time_ns = 0;
	}
}

static void draw_table(
	struct session *session, struct grid *grid, struct grid_area area, const struct frame_line *line)
{
	static const char *const heads[] = {"incl", "excl", "share", "entries", "longest"};
	static const int ends[] = {50, 62, 71, 81, 92};
	uint64_t window_ns = session->frame.end_ns - session->frame.begin_ns, sum_ns = 0;
	struct depth_sum *sums;
	struct format_number_unit unit;
	char text[160], all[FORMAT_NUMBER_BYTES], depth[SESSION_DEPTH];
	int row = area.row, end = area.row + area.rows;
	size_t count;

	if (depth_add_up(&sums, &count, &session->frame, line))
		return;
	unit = format_number_unit_for(count ? sums[0].inclusive_ns : 0);
	session_depth_text(session, depth);
	snprintf(text, sizeof(text), "path at depth %s (or a state)", depth);
	grid_text(grid, row, 4, DEPTH_TABLE_KEY, text, GRID_HEADING);
	for (int i = 0; i < 5; i++)
		if (ends[i] <= grid->columns)
			grid_text_right(grid, row, ends[i] - 12, 12, heads[i], GRID_HEADING);
	row++;
	for (size_t i = 0; i < count; i++) {
		sum_ns += sums[i].inclusive_ns;
		if (row < end - 3)
			draw_sum(session, grid, row++, &sums[i], window_ns, unit);
	}
	format_number_in(all, sum_ns, unit);
	snprintf(text, sizeof(text), "sum of all %zu lines = %s = the window", count, all);
	if (row < end)
		grid_text(grid, row++, 4, grid->columns - 4, text, GRID_GREY);
	if (row < end)
		draw_leaves(session, grid, row++, line);
	if (row < end)
		grid_text(grid, row, 2, grid->columns - 2,
			"entries: runs of columns that show it, so a frame is entered at least so often",
			GRID_GREY);
	free(sums);
}

static void draw_full(struct session *session, struct grid *grid)
{
	const struct layout *layout = &session->layout;
	const struct frame_line *line = line_here(session, grid, layout->timeline);
	int row = layout->timeline.row, end = row + layout->timeline.rows, queues;
	struct depth_picture picture;
	uint32_t stream;

	view_margins_draw(session, grid);
	if (!line || !session_stream(session, &stream) || depth_compute(&picture, &session->frame, line))
		return;
	draw_row(session, grid, row++, "this stream", stream);
	queues = (int)draw_queues(session, grid, -1, 0);
	queues = queues && end - row >= 10 ? (queues < 4 ? queues : 4) + 1 : 0;
	row = draw_levels(session, grid, row, end - queues, &picture);
	draw_queues(session, grid, queues ? row : end, end);
	depth_fini(&picture);
	if (!layout->pane.rows)
		return;
	for (int i = 0; i < grid->columns; i++)
		grid_put(grid, layout->pane.row - 1, i, 0x2500, GRID_GREY);
	grid_text(grid, layout->pane.row - 1, 2, grid->columns - 2, "[Statistics of this stream]", GRID_TEXT);
	draw_table(session, grid, layout->pane, line);
}

static void depth_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	if (session->full == &view_depth)
		draw_full(session, grid);
	else
		draw_pane(session, grid, area);
}

/* ---- keys ---- */

static bool depth_act(struct session *session, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_DOWN:
		session_step_depth(session, 1);
		return true;
	case KEYS_DO_UP:
		session_step_depth(session, -1);
		return true;
	case KEYS_DO_GROUP_DOWN:
		session_step_stream(session, false);
		return true;
	case KEYS_DO_GROUP_UP:
		session_step_stream(session, true);
		return true;
	default:
		return false;
	}
}

static void depth_title(struct session *session, char *out, size_t size_bytes)
{
	snprintf(out, size_bytes, "%s",
		session_row(session) == UINT32_MAX ? ""
						   : rows_long_label(&session->rows, session->state.node));
}

static const struct view_key depth_keys[] = {{"h l", "the cursor in time"}, {"j k", "a level deeper, higher"},
	{"J K", "another stream"}, {", .", "the previous, the next span"}, {NULL, NULL}};

const struct view view_depth = {.name = "Depth",
	.key = '4',
	.draw = depth_draw,
	.act = depth_act,
	.put_title = depth_title,
	.own_keys = depth_keys,
	.hints = "h/l time  j/k depth  , . span  J/K stream"};
