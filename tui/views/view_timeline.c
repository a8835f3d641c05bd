/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_timeline.c - streams down, time across: ruler, row labels and cells. cell.c decides what a cell shows;
 * this file draws it as runs, glyphs and names.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/models/lanes.h"
#include "tui/models/stretch.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/timeline/chart.h"
#include "tui/timeline/group_busy.h"
#include "tui/views/cell_runs.h"
#include "tui/views/views.h"

#define DEPTHS_SHOWN 4 /* processes deeper than this are indented as these are */

static bool is_live_tail(const struct session *session, uint32_t column)
{
	return session->is_live && frame_column_ns(&session->frame, column) >= run_end_ns(session->run);
}

/* ---- one row ---- */

/* The call path below the first line. */
static void draw_below(const struct cell_runs_place *place, const struct frame_line *line, uint32_t lines)
{
	struct frame *frame = &place->session->frame;
	uint32_t count = frame->columns.count;

	while (count && is_live_tail(place->session, count - 1))
		count--;
	for (uint32_t below = 1; below < lines; below++) {
		const struct cell *cells = chart_line(frame, line, below);
		struct cell_runs_place at = *place;

		at.row += (int)below;
		if (cells)
			cell_runs_draw(&at, cells, count);
	}
}

static void draw_stream(
	const struct cell_runs_place *place, uint32_t stream, struct cell *row, uint32_t lines)
{
	struct session *session = place->session;
	const struct frame_line *line = frame_line(&session->frame, stream);
	const struct cell *coarse = line ? NULL : frame_coarse(&session->frame, stream);
	uint32_t count = session->frame.columns.count;

	for (uint32_t i = 0; i < count; i++) {
		row[i] = (struct cell){.kind = CELL_UNREAD, .function = UINT32_MAX};
		/* what is about there colours it */
		if (coarse && (coarse[i].kind == CELL_BLOCK || coarse[i].kind == CELL_SOME)) {
			row[i] = coarse[i];
			row[i].kind = CELL_UNREAD;
		}
		if (line && !is_live_tail(session, i))
			row[i] = frame_cell(&session->frame, line, i);
	}
	cell_runs_draw(place, row, count);
	if (line)
		draw_below(place, line, lines);
}

static void draw_group(const struct cell_runs_place *place, uint32_t node)
{
	struct session *session = place->session;
	const float *shares = group_busy_of(&session->frame, &session->rows, node);

	if (group_busy_is_about(&session->frame, &session->rows, node))
		grid_put(place->grid, place->row, place->column - 1, '~', GRID_GREY);

	for (uint32_t i = 0; i < session->frame.columns.count; i++) {
		int eighths = shares && shares[i] > 0 ? (int)(shares[i] * 8 + 0.5f) : 0;

		if (shares && shares[i] > 0 && eighths == 0)
			eighths = 1;
		if (!shares || is_live_tail(session, i))
			cell_runs_put(place, i, ':', GRID_GREY);
		else if (eighths)
			cell_runs_put(place, i, 0x2580u + (uint32_t)eighths, GRID_TEXT);
	}
}

/* ---- labels ---- */

/* Any loss in the window, or a cell that reads unmonitored. */
static char line_mark(struct session *session, const struct frame_line *line)
{
	char mark = ' ';

	if (!line || line->known_ns == line->there_ns)
		return ' ';
	for (uint32_t i = 0; i < session->frame.columns.count; i++) {
		uint64_t blind_ns = 0, length_ns = frame_column_length(&session->frame, i);
		for (uint32_t e = line->first[i]; e < line->first[i + 1]; e++) {
			if (line->entries[e].state == EXTENT_LOST)
				return '!';
			if (line->entries[e].state == EXTENT_UNMONITORED)
				blind_ns += line->entries[e].time_ns;
		}
		if (blind_ns * 2 >= length_ns)
			mark = '?';
	}
	return mark;
}

static char row_mark(struct session *session, uint32_t node)
{
	const struct rows_node *n = &session->rows.nodes[node];
	char mark = ' ';

	if (n->kind == ROWS_DEVICE || n->is_folded) {
		for (uint32_t i = node + 1; i < n->next && mark != '!'; i++)
			if (!rows_is_group(&session->rows.nodes[i]) &&
				line_mark(session,
					frame_line(&session->frame, session->rows.nodes[i].stream)) == '!')
				mark = '!';
	} else if (!rows_is_group(n)) {
		mark = session->frame.is_damaged[n->stream]
			       ? '!'
			       : line_mark(session, frame_line(&session->frame, n->stream));
	}
	if (mark != ' ')
		return mark;
	return n->is_pinned ? '+' : n->is_match ? '*' : ' ';
}

static void draw_marks(const struct cell_runs_place *place, int column, char mark)
{
	enum grid_style style = mark == '!' ? GRID_ERROR : mark == '?' ? GRID_GREY : GRID_HEADING;

	if (mark != ' ' && !(place->has_cursor && mark != '!'))
		grid_put(place->grid, place->row, column, (uint32_t)mark, style);
	if (place->has_cursor)
		grid_put(place->grid, place->row, column + (mark == '!' && column == 0), '>', GRID_HEADING);
}

/* Columns that a row's label is indented by: processes below those that started them, their parts below them.
 */
static int indent_of(const struct rows *rows, const struct rows_node *n, int width)
{
	int step = width < 12 ? 1 : 2;
	int depth = rows->order != ROWS_BY_IDENTITY ? 0 : n->depth > DEPTHS_SHOWN ? DEPTHS_SHOWN : n->depth;

	return depth * (width < 24 ? 1 : 2) +
	       (n->level == 2 || n->kind == ROWS_DEVICE || n->kind == ROWS_POOL ? step : 0);
}

static bool has_triangle(const struct rows *rows, uint32_t node)
{
	return rows_is_group(&rows->nodes[node]) ||
	       (rows_has_branch(rows, node) && rows->order == ROWS_BY_IDENTITY);
}

/* More than a program and its pid. */
static bool has_role(const struct rows *rows, uint32_t node)
{
	const char *text = rows_short_label(rows, node), *first = strchr(text, ' ');

	return strcmp(text, rows_label(rows, node)) != 0 || (first && strchr(first + 1, ' '));
}

static void draw_label(const struct cell_runs_place *place, uint32_t node, int width)
{
	const struct rows *rows = &place->session->rows;
	const struct rows_node *n = &rows->nodes[node];
	int indent = indent_of(rows, n, width), at = 2 + indent, room = width - at - 1;
	char label[LABEL_BYTES], mark = row_mark(place->session, node);
	bool is_bold = n->is_pinned || n->is_match, has_sign = has_triangle(rows, node);

	if (has_sign)
		grid_put(place->grid, place->row, indent,
			n->is_folded || n->is_branch_folded ? 0x25b8 : 0x25be, GRID_TEXT);
	draw_marks(place, has_sign && indent == 0, mark);
	text_clean(label, sizeof(label), rows_label(rows, node), place->grid->is_ascii);
	if (text_cells(label) > room && !n->level && has_role(rows, node))
		label_program(label, rows_short_label(rows, node), room, place->grid->is_ascii);
	else
		label_stream(label,
			text_cells(label) <= room ? rows_label(rows, node) : rows_short_label(rows, node),
			room, place->grid->is_ascii);
	grid_text(place->grid, place->row, at, room, label, GRID_TEXT);
	if (is_bold)
		grid_mark(place->grid, place->row, at, room, GRID_BOLD);
}

static void draw_more(struct session *session, struct grid *grid, int row, uint32_t top, uint32_t count)
{
	uint32_t above = 0, below = 0;
	char text[64];

	for (uint32_t i = 0; i < session->rows.shown_count; i++) {
		if (rows_is_group(&session->rows.nodes[session->rows.shown[i]]))
			continue;
		above += i < top;
		below += i >= top + count;
	}
	if (above + below == 0)
		return;
	if (above && below)
		snprintf(text, sizeof(text), "%u more streams, %u above", above + below, above);
	else
		snprintf(text, sizeof(text), "%u more stream%s%s", above + below,
			above + below == 1 ? "" : "s", above ? " above" : "");
	grid_text(grid, row, 2, session->layout.timeline.columns - 2, text, GRID_GREY);
}

/* The range between v and the cursor is underlined in the cursor's row. */
static void mark_cursor(const struct cell_runs_place *place, uint32_t lines)
{
	const struct session *session = place->session;
	uint32_t cursor = session_column(session), other;

	if (session->state.has_range) {
		uint32_t from, until;
		other = frame_column_at(&session->frame, session->state.range_ns);
		from = other < cursor ? other : cursor;
		until = other < cursor ? cursor : other;
		grid_mark(place->grid, place->row, place->column + (int)from * place->wide,
			((int)(until - from) + 1) * place->wide, GRID_UNDERLINE);
	}
	for (uint32_t line = 0; line < lines; line++)
		grid_mark(place->grid, place->row + (int)line, place->column + (int)cursor * place->wide,
			place->wide, GRID_REVERSE);
}

void view_timeline_ruler(struct session *session, struct grid *grid)
{
	int row = session->layout.ruler, label = session->layout.label;

	ruler_draw(grid, row, label, &session->frame, session->cells_wide, session->zero,
		(int)session_column(session));
	if (session->state.has_range)
		grid_put(grid, row, label + (int)frame_column_at(&session->frame, session->state.range_ns),
			'[', GRID_HEADING);
}

/* Sentences where rows would be, one below the other; what stands beside the timeline is not written over. */
static void draw_sentences(struct session *session, struct grid *grid, int row, int end,
	const char *const *sentences, enum grid_style style)
{
	for (; *sentences && row < end; sentences++)
		grid_text(grid, row++, session->layout.label, session->layout.cells, *sentences, style);
}

static void draw_figures_alone(struct session *session, struct grid *grid, int row, int end)
{
	static const char *const sentences[] = {
		"Only figures over time were recorded: below.", ":lane NAME adds one.", NULL};

	draw_sentences(session, grid, row, end, sentences, GRID_TEXT);
}

/* Blank is never an answer: why there is nothing, and where the nearest records are. */
static void draw_nothing(struct session *session, struct grid *grid, int row, int end)
{
	static const char *const keys[] = {
		") next data    u back to the last view", "0 whole run  X show all", NULL};
	char distance[FORMAT_NUMBER_BYTES], text[160];
	uint64_t time_ns;
	uint32_t stream;
	int at = session->layout.label, wide = session->layout.cells;

	if (end - row < 4)
		return;
	if (lanes_are_all(session->run)) {
		draw_figures_alone(session, grid, row, end);
		return;
	}
	grid_text(grid, row++, at, wide, "Nothing was recorded here.", GRID_TEXT);
	if (session_stream(session, &stream)) {
		for (int is_back = 1; is_back >= 0; is_back--) {
			if (!stretch_nearest_records(session, stream, is_back, &time_ns))
				continue;
			format_number_short(distance, is_back ? session->frame.begin_ns - time_ns
							      : time_ns - session->frame.end_ns);
			snprintf(text, sizeof(text), "this stream's nearest: %s to the %s", distance,
				is_back ? "left" : "right");
			grid_text(grid, row++, at, wide, text, GRID_TEXT);
		}
	}
	draw_sentences(session, grid, row, end, keys, GRID_GREY);
}

/* In all rows but the cursor's, so that the cursor differs. */
static void draw_cross(struct session *session, struct grid *grid, struct grid_area area, uint32_t rows)
{
	int column = session->layout.label + (int)session_column(session) * session->cells_wide;
	int cursor = area.row + (int)session_row_line(session, session->state.top, session_row(session));

	for (int row = area.row; row < area.row + (int)rows; row++)
		if (row != cursor)
			grid_mark(grid, row, column, session->cells_wide, GRID_UNDERLINE);
}

static void draw_row(struct cell_runs_place *place, uint32_t node, struct cell *row, uint32_t lines)
{
	struct session *session = place->session;

	draw_label(place, node, session->layout.label);
	if (rows_is_group(&session->rows.nodes[node]))
		draw_group(place, node);
	else
		draw_stream(place, session->rows.nodes[node].stream, row, lines);
	if (place->has_cursor)
		mark_cursor(place, lines);
}

static void timeline_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	static const char *const none[] = {
		"No stream is shown here.", "X shows all again, & changes the filter.", NULL};
	uint32_t top, count = session_rows_on_screen(session, &top), cursor = session_row(session), line = 0;
	struct cell *row = calloc((size_t)session->frame.columns.count + 1, sizeof(*row));
	struct session_coverage coverage = session_take_coverage(session);

	for (uint32_t i = 0; row && i < count; i++) {
		uint32_t lines = session_row_lines(session, top + i);
		struct cell_runs_place place = {session, grid, area.row + (int)line, session->layout.label,
			top + i == cursor, session->cells_wide};

		if (lines > (uint32_t)area.rows - line)
			lines = (uint32_t)area.rows - line; /* the last one is cut */
		draw_row(&place, session->rows.shown[top + i], row, lines);
		line += lines;
	}
	free(row);
	if (session->looks.has_cross)
		draw_cross(session, grid, area, line);
	if ((int)line < area.rows)
		draw_more(session, grid, area.row + area.rows - 1, top, count);
	if (count && !session->is_unread && session_streams_on_screen(session, NULL) &&
		coverage.known_ns + coverage.lost_ns == 0 && !coverage.is_damaged)
		draw_nothing(session, grid, area.row + (int)line + 1, area.row + area.rows);
	if (session->rows.shown_count > 0)
		return;
	if (lanes_are_all(session->run))
		draw_figures_alone(session, grid, area.row + 1, area.row + area.rows);
	else
		draw_sentences(session, grid, area.row + 1, area.row + area.rows, none, GRID_TEXT);
}

const struct view view_timeline = {.name = "Timeline", .key = 't', .draw = timeline_draw};
