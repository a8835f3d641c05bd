/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_compare.c - two runs, one above the other so that a shift is seen as a shift: one ruler, one width of
 * columns, one cursor; below, what changed by context.
 *
 *   ruler                     | call stack of A
 *   A: streams                |
 *   B: their partners         | call stack of B
 *   difference
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/models/compare.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/views/cell_runs.h"
#include "tui/views/views.h"

#define COMPARE_PART 160

/* Places of the parts in the area of the view. */
struct halves {
	int a, b;		/* row of the heading; the pairs follow */
	int room;		/* pairs */
	struct grid_area table; /* the difference, from its title line on; rows 0: it has no room */
	int paths;		/* row of the two path lines, -1: none */
};

static struct halves lay_halves(const struct layout *layout)
{
	struct halves halves = {.paths = -1};
	int top = layout->full.row, end = top + layout->full.rows, rest;
	int rows = layout->pane.rows ? layout->pane.rows + 1 : 0;

	if (layout->columns < 100)
		halves.paths = end -= 2;
	halves.table = (struct grid_area){end - rows, 0, rows, layout->columns};
	rest = halves.table.row - top - 1;
	halves.room = rest / 2 - 1 - (layout->columns >= 100 && rest >= 12);
	halves.a = top + 1;
	halves.b = halves.a + rest / 2;
	return halves;
}

void view_compare_lay(struct session *session)
{
	int room = lay_halves(&session->layout).room;

	session->compare->room = room > 0 ? (uint32_t)room : 0;
}

/* ---- the two halves ---- */

static void draw_head(const struct session *session, struct grid *grid, int row, char letter,
	const struct session *of, uint64_t zero_ns)
{
	const struct compare *compare = session->compare;
	char name[LABEL_BYTES], time[FORMAT_NUMBER_BYTES], text[LABEL_BYTES + 256];
	const char *at = compare->align == COMPARE_MARKS  ? compare->mark
			 : compare->align == COMPARE_SPAN ? "span"
							  : "begin";

	label_stream(name, compare_base_name(of->run), 32, grid->is_ascii);
	format_number_time(time, (int64_t)(zero_ns - run_origin_ns(of->run)), 1000000);
	snprintf(text, sizeof(text), "%c %s   %s = %s", letter, name, at, time);
	grid_text(grid, row, 0, session->layout.label + session->layout.cells, text, GRID_HEADING);
}

/* Each line names its process: there are no rows of groups. */
static void put_label(char *out, const struct rows *rows, uint32_t node, int room, bool is_ascii)
{
	const char *text = rows_long_label(rows, node);
	char label[LABEL_BYTES];
	bool has_rank = strncmp(text, "rank ", 5) == 0;

	text_clean(label, sizeof(label), text, is_ascii);
	if (has_rank && text_cells(label) > room)
		snprintf(label, sizeof(label), "r%s", text + 5);
	label_stream(out, text_cells(label) <= room ? label : rows_short_label(rows, node), room, is_ascii);
}

static void draw_row(const struct cell_runs_place *place, uint32_t stream)
{
	struct session *of = place->session;
	const struct frame_line *line = frame_line(&of->frame, stream);
	uint32_t count = of->frame.columns.count;
	struct cell *row = calloc((size_t)count + 1, sizeof(*row));
	int room = of->layout.label - 3;
	char label[LABEL_BYTES];

	put_label(label, &of->rows, rows_node_of(&of->rows, stream), room, place->grid->is_ascii);
	grid_text(place->grid, place->row, 2, room, label, GRID_TEXT);
	for (uint32_t i = 0; row && i < count; i++) {
		row[i] = (struct cell){.kind = CELL_UNREAD, .function = UINT32_MAX};
		if (line)
			row[i] = frame_cell(&of->frame, line, i);
	}
	if (row)
		cell_runs_draw(place, row, count);
	free(row);
}

static void draw_half(struct session *session, struct grid *grid, int row, bool is_b)
{
	struct compare *compare = session->compare;
	struct session *of = is_b ? compare->other : session;
	int wide = session->cells_wide, column = session->layout.label;
	int cursor = column + (int)session_column(session) * wide;

	if (is_b)
		column += (int)compare->skip * wide;
	for (uint32_t i = compare->top; i < compare->pair_count && i < compare->top + compare->room; i++) {
		uint32_t stream = is_b ? compare->pairs[i].b : compare->pairs[i].a;
		struct cell_runs_place place = {
			of, grid, row + (int)(i - compare->top), column, i == compare->line, wide};

		if (stream != UINT32_MAX && !(is_b && compare->is_apart))
			draw_row(&place, stream);
		if (!place.has_cursor)
			continue;
		grid_put(grid, place.row, 0, '>', GRID_HEADING);
		grid_mark(grid, place.row, cursor, wide, GRID_REVERSE);
	}
}

/* Both call stacks at the right, or two path lines. */
static void draw_stacks(struct session *session, struct grid *grid, const struct halves *halves)
{
	struct compare *compare = session->compare;
	struct grid_area area = session->layout.stack;
	bool has_a = compare->line < compare->pair_count && compare->pairs[compare->line].a != UINT32_MAX;
	bool has_b = compare->line < compare->pair_count && compare->pairs[compare->line].b != UINT32_MAX &&
		     !compare->is_apart && session_column(session) >= compare->skip;
	struct ruler_zero zero = session->zero;
	int path = session->layout.path;

	session->zero = (struct ruler_zero){.at_ns = compare->zero_ns}; /* as the ruler counts */
	compare->other->layout = session->layout;
	if (area.columns) {
		for (int row = session->layout.full.row; row < halves->table.row; row++)
			grid_put(grid, row, area.column - 1, 0x2502, GRID_GREY);
		area.row = halves->a;
		area.rows = halves->room + 1;
		if (has_a)
			view_stack.draw(session, grid, area);
		area.row = halves->b;
		if (has_b)
			view_stack.draw(compare->other, grid, area);
	} else if (halves->paths >= 0) {
		session->layout.path = halves->paths;
		compare->other->layout.path = halves->paths + 1;
		if (has_a)
			path_line_draw(session, grid);
		if (has_b)
			path_line_draw(compare->other, grid);
		session->layout.path = path;
	}
	session->zero = zero;
}

static void compare_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct compare *compare = session->compare;
	struct halves halves = lay_halves(&session->layout);
	struct ruler_zero zero = {.at_ns = compare->zero_ns};

	if (compare->is_table) {
		compare_table_draw(session, grid, area);
		return;
	}
	ruler_draw(grid, area.row, session->layout.label, &session->frame, session->cells_wide, zero,
		(int)session_column(session));
	draw_head(session, grid, halves.a, 'A', session, compare->zero_ns);
	draw_half(session, grid, halves.a + 1, false);
	draw_head(session, grid, halves.b, 'B', compare->other,
		(uint64_t)((int64_t)compare->zero_ns + compare->offset_ns + compare->shift_ns));
	draw_half(session, grid, halves.b + 1, true);
	draw_stacks(session, grid, &halves);
	if (halves.table.rows)
		compare_table_draw(session, grid, halves.table);
}

/* ---- title and status ---- */

static void compare_title(struct session *session, char *out, size_t size_bytes)
{
	const struct compare *compare = session->compare;
	char name[LABEL_BYTES];

	label_stream(name, compare_base_name(compare->other->run), 24, session->looks.is_ascii);
	snprintf(out, size_bytes, "with B %s  at %s", name,
		compare->align == COMPARE_MARKS	 ? compare->mark
		: compare->align == COMPARE_SPAN ? "span"
						 : "begin");
}

static void put_side(struct session *session, char *out, bool is_there)
{
	const struct frame_line *line;
	struct cell cell;
	struct cell_share share;
	char name[LABEL_BYTES], part[FORMAT_NUMBER_BYTES];

	strcpy(out, "-");
	if (!is_there || !session_cell(session, &line, &cell))
		return;
	share = (struct cell_share){.state = (enum extent_state)cell.state, .function = cell.function};
	session_share_name(session, name, &share, LABEL_CELL, session->layout.columns >= 100 ? 24 : 9);
	format_number_share(
		part, cell.time_ns, frame_column_length(&session->frame, session_column(session)), 0);
	snprintf(out, COMPARE_PART, "%.80s %s", name, part);
}

static bool compare_status(struct session *session, char *out, size_t size_bytes)
{
	static const char *const sides[] = {"", "  keys: A", "  keys: B"};
	struct compare *compare = session->compare;
	char a[COMPARE_PART], b[COMPARE_PART], shift[FORMAT_NUMBER_BYTES];
	const struct compare_pair *pair;

	if (compare->line >= compare->pair_count)
		return false;
	pair = &compare->pairs[compare->line];
	put_side(session, a, pair->a != UINT32_MAX);
	put_side(compare->other, b,
		pair->b != UINT32_MAX && !compare->is_apart && session_column(session) >= compare->skip);
	format_number_short(
		shift, (uint64_t)(compare->shift_ns < 0 ? -compare->shift_ns : compare->shift_ns));
	snprintf(out, size_bytes, "A %s  B %s  shift %s%s%s", a, b, compare->shift_ns < 0 ? "-" : "",
		compare->shift_ns ? shift : "0", sides[compare->side]);
	return true;
}

static const struct view_key compare_keys[] = {{"< >", "shift B by a column"},
	{"T", "align: begins, first common mark, span under the cursor"}, {"Tab", "keys move both, A, B"},
	{"b", "what the rows of the difference are about"},
	{"Enter", "the difference as a table; on its line both profiles"}, {"5", "the gaps of both"},
	{"6", "one tree of both with the difference"}, {"Y", "the command that prints the same"},
	{"q", "back to one run"}, {NULL, NULL}};

const struct view view_compare = {.name = "Compare",
	.key = '9',
	.is_whole = true,
	.streams = VIEW_COMPARISON,
	.draw = compare_draw,
	.act = view_compare_act,
	.put_title = compare_title,
	.put_status = compare_status,
	.own_keys = compare_keys,
	.hints = "< > shift B  T align  Tab A/B  e/E depth  b by  Enter table  5 gaps  Y command"};
