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

#include "tui/compare.h"
#include "tui/label.h"
#include "tui/quantity.h"
#include "tui/runs.h"
#include "tui/text.h"

#define COMPARE_HEAD 2 /* lines of the difference that are no rows: heading, what all say */
#define COMPARE_PART 160

/* Where things stand in the area of the view. */
struct halves {
	int a, b; /* row of the heading; the pairs follow */
	int room; /* pairs */
	int title, pane, pane_rows;
	int paths; /* row of the two path lines, -1: none */
};

static struct halves lay_halves(const struct layout *layout)
{
	struct halves halves = {.paths = -1};
	int rows = layout->full.rows, top = layout->full.row, end = top + rows, rest;

	halves.pane_rows = layout->rows >= 34 ? 13 : layout->rows >= 18 ? 6 : 0;
	if (layout->columns < 100)
		halves.paths = end -= 2;
	halves.pane = end - halves.pane_rows;
	halves.title = halves.pane_rows ? halves.pane - 1 : end;
	rest = halves.title - top - 1;
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
	char name[LABEL_BYTES], time[QUANTITY_BYTES], text[LABEL_BYTES + 256];
	const char *at = compare->align == COMPARE_MARKS  ? compare->mark
			 : compare->align == COMPARE_SPAN ? "span"
							  : "begin";

	label_stream(name, compare_base_name(of->run), 32, grid->is_ascii);
	quantity_time(time, (int64_t)(zero_ns - run_origin_ns(of->run)), 1000000);
	snprintf(text, sizeof(text), "%c %s   %s = %s", letter, name, at, time);
	grid_text(grid, row, 0, session->layout.label + session->layout.cells, text, GRID_HEADING);
}

/* Whose stream it is must be told on each line: there are no rows of groups. */
static void put_label(char *out, const struct rows_node *node, int room, bool is_ascii)
{
	char label[LABEL_BYTES];
	bool has_rank = strncmp(node->long_label, "rank ", 5) == 0;

	text_clean(label, sizeof(label), node->long_label, is_ascii);
	if (has_rank && text_cells(label) > room)
		snprintf(label, sizeof(label), "r%s", node->long_label + 5);
	label_stream(out, text_cells(label) <= room ? label : node->short_label, room, is_ascii);
}

static void draw_row(const struct runs_place *place, uint32_t stream)
{
	struct session *of = place->session;
	const struct rows_node *node = &of->rows.nodes[rows_node_of(&of->rows, stream)];
	const struct frame_line *line = frame_line(&of->frame, stream);
	uint32_t count = of->frame.columns.count;
	struct cell *row = calloc((size_t)count + 1, sizeof(*row));
	int room = of->layout.label - 3;
	char label[LABEL_BYTES];

	put_label(label, node, room, place->grid->is_ascii);
	grid_text(place->grid, place->row, 2, room, label, GRID_TEXT);
	for (uint32_t i = 0; row && i < count; i++) {
		row[i] = (struct cell){.kind = CELL_UNREAD, .function = UINT32_MAX};
		if (line)
			row[i] = frame_cell(&of->frame, line, i);
	}
	if (row)
		runs_draw(place, row, count);
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
		struct runs_place place = {
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
		for (int row = session->layout.full.row; row < halves->title; row++)
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
			bars_draw_path(session, grid);
		if (has_b)
			bars_draw_path(compare->other, grid);
		session->layout.path = path;
	}
	session->zero = zero;
}

/* ---- the difference ---- */

struct columns {
	int key, key_cells, a, b, delta, ratio, noise; /* numbers: where they end */
};

static struct columns lay_columns(int width)
{
	int key = width >= 160 ? 64 : width >= 112 ? width - 80 : width >= 100 ? width - 58 : width - 48;

	if (width >= 100) /* names before noise, which grey lines tell too */
		return (struct columns){
			4, key, key + 18, key + 31, key + 44, key + 55, width >= 112 ? key + 69 : 0};
	return (struct columns){2, key, key + 13, key + 24, key + 36, key + 46, 0};
}

static char state_glyph(const char *name)
{
	for (int state = 0; state < EXTENT_STATE_COUNT; state++)
		if (strcmp(extent_state_name((enum extent_state)state), name) == 0)
			return extent_state_glyph((enum extent_state)state);
	return ' ';
}

static void draw_number(struct grid *grid, int row, int end, uint64_t ns, struct quantity_unit unit,
	const char *sign, enum grid_style style)
{
	char number[QUANTITY_BYTES], text[QUANTITY_BYTES + 2];

	quantity_in(number, ns, unit);
	snprintf(text, sizeof(text), "%s%s", sign, number);
	grid_text_right(grid, row, end - 13, 13, text, style);
}

/* On the title line: of what the numbers are. */
static void draw_subject(struct session *session, struct grid *grid, int row)
{
	const struct compare *compare = session->compare;
	char text[96] = "[Difference of the windows on screen]";

	if (compare->is_loaded && compare->steps[DIFF_A] > 0)
		snprintf(text, sizeof(text), "[Difference per step: A %.1f, B %.1f]", compare->steps[DIFF_A],
			compare->steps[DIFF_B]);
	grid_text(grid, row, 2, grid->columns - 2, text, GRID_TEXT);
}

/* Grey: sampling alone may make so much. */
static void draw_difference_row(struct grid *grid, int row, const struct columns *columns,
	const struct diff_row *diff, struct quantity_unit unit)
{
	uint64_t size_ns = (uint64_t)(diff->delta_ns < 0 ? -diff->delta_ns : diff->delta_ns);
	enum grid_style style = size_ns <= diff->noise_ns ? GRID_GREY : GRID_TEXT;
	char text[LABEL_BYTES];

	if (strchr(diff->key, ';')) /* a path: its end tells it from its neighbours */
		label_stream(text, diff->key, columns->key_cells, grid->is_ascii);
	else
		label_fit(text, diff->key[0] ? diff->key : "<none>", columns->key_cells, LABEL_TABLE,
			grid->is_ascii);
	if (diff->is_state)
		grid_put(grid, row, columns->key - 2, (uint32_t)state_glyph(diff->key), GRID_GREY);
	grid_text(grid, row, columns->key, columns->key_cells, text, style);
	draw_number(grid, row, columns->a, diff->time_ns[DIFF_A], unit, "", style);
	draw_number(grid, row, columns->b, diff->time_ns[DIFF_B], unit, "", style);
	draw_number(grid, row, columns->delta, size_ns, unit, diff->delta_ns < 0 ? "-" : "+", style);
	if (!diff->time_ns[DIFF_A])
		strcpy(text, "new");
	else if (!diff->time_ns[DIFF_B])
		strcpy(text, "gone");
	else
		snprintf(text, sizeof(text), "%.2f",
			(double)diff->time_ns[DIFF_B] / (double)diff->time_ns[DIFF_A]);
	grid_text_right(grid, row, columns->ratio - 10, 10, text, style);
	if (columns->noise)
		draw_number(grid, row, columns->noise, diff->noise_ns, unit, "", GRID_GREY);
}

static void draw_sums(struct grid *grid, int row, const struct columns *columns,
	const struct diff_result *result, struct quantity_unit unit)
{
	uint64_t sums[DIFF_SIDES] = {0};

	for (size_t i = 0; i < result->count; i++)
		for (int side = DIFF_A; side <= DIFF_B; side++)
			sums[side] += result->rows[i].time_ns[side];
	grid_text(grid, row, columns->key, columns->key_cells, "sum", GRID_GREY);
	draw_number(grid, row, columns->a, sums[DIFF_A], unit, "", GRID_GREY);
	draw_number(grid, row, columns->b, sums[DIFF_B], unit, "", GRID_GREY);
}

/* On the title line: rows that one side has alone, and how far the numbers can be trusted. */
static void draw_trust(struct grid *grid, int row, const struct diff_result *result)
{
	size_t alone[DIFF_SIDES] = {0};
	char text[192], share[DIFF_SIDES][QUANTITY_BYTES];

	for (size_t i = 0; i < result->count; i++) {
		alone[DIFF_A] += result->rows[i].time_ns[DIFF_B] == 0;
		alone[DIFF_B] += result->rows[i].time_ns[DIFF_A] == 0;
	}
	for (int side = DIFF_A; side <= DIFF_B; side++)
		quantity_share(share[side], (uint64_t)(result->coverage[side] * 1e6), 1000000, 1);
	snprintf(text, sizeof(text), " known A %s, B %s ", share[DIFF_A], share[DIFF_B]);
	grid_text_right(grid, row, grid->columns - 2 - text_cells(text), text_cells(text), text, GRID_TEXT);
	snprintf(text, sizeof(text), " of %zu only in A %zu, in B %zu ", result->count, alone[DIFF_A],
		alone[DIFF_B]);
	if (grid->columns >= 100)
		grid_text(grid, row, 42, grid->columns - 42, text, GRID_TEXT);
}

static void keep_row_on_screen(struct compare *compare, int room)
{
	if (compare->row >= compare->result.count)
		compare->row = compare->result.count ? (uint32_t)compare->result.count - 1 : 0;
	if (!compare->is_table)
		compare->first_row = 0;
	else if (compare->row < compare->first_row)
		compare->first_row = compare->row;
	else if (room > 0 && compare->row >= compare->first_row + (uint32_t)room)
		compare->first_row = compare->row - (uint32_t)room + 1;
}

static void draw_difference(struct session *session, struct grid *grid, const struct halves *halves)
{
	struct compare *compare = session->compare;
	struct columns columns = lay_columns(grid->columns);
	int row = halves->pane, room = halves->pane_rows - COMPARE_HEAD;
	uint64_t most_ns = 0;
	struct quantity_unit unit;
	char text[64];

	if (session->is_unread) {
		grid_text(grid, row, 2, grid->columns - 2, "reading ...", GRID_GREY);
		return;
	}
	if (!compare_take(session)) {
		char clean[LABEL_BYTES];
		text_clean(clean, sizeof(clean), compare->trouble, grid->is_ascii);
		grid_text(grid, row, 2, grid->columns - 2, clean, GRID_TEXT);
		return;
	}
	for (size_t i = 0; i < compare->result.count; i++)
		for (int side = DIFF_A; side <= DIFF_B; side++)
			if (compare->result.rows[i].time_ns[side] > most_ns)
				most_ns = compare->result.rows[i].time_ns[side];
	unit = quantity_unit_for(most_ns);
	snprintf(text, sizeof(text), "%s at depth %u",
		compare->by == STATS_FUNCTION ? "context" : stats_by_name(compare->by), session->state.depth);
	grid_text(grid, row, columns.key, columns.key_cells, text, GRID_HEADING);
	grid_text_right(
		grid, row, columns.a - 13, 11, compare->steps[DIFF_A] > 0 ? "A per step" : "A", GRID_HEADING);
	grid_text_right(
		grid, row, columns.b - 13, 11, compare->steps[DIFF_A] > 0 ? "B per step" : "B", GRID_HEADING);
	grid_text_right(grid, row, columns.delta - 13, 11, "B - A", GRID_HEADING);
	grid_text_right(grid, row, columns.ratio - 10, 10, "B / A", GRID_HEADING);
	if (columns.noise)
		grid_text_right(grid, row, columns.noise - 13, 11, "noise", GRID_HEADING);
	keep_row_on_screen(compare, room);
	for (int i = 0; i < room && compare->first_row + (size_t)i < compare->result.count; i++) {
		size_t at = compare->first_row + (size_t)i;
		draw_difference_row(grid, row + 1 + i, &columns, &compare->result.rows[at], unit);
		if (compare->is_table && at == compare->row)
			grid_put(grid, row + 1 + i, 0, '>', GRID_HEADING);
	}
	draw_sums(grid, row + halves->pane_rows - 1, &columns, &compare->result, unit);
	draw_trust(grid, halves->title, &compare->result);
}

static void draw_table(struct session *session, struct grid *grid, const struct halves *halves)
{
	for (int i = 0; i < grid->columns; i++)
		grid_put(grid, halves->title, i, 0x2500, GRID_GREY);
	draw_difference(session, grid, halves);
	draw_subject(session, grid, halves->title);
}

static void compare_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct compare *compare = session->compare;
	struct halves halves = lay_halves(&session->layout);
	struct ruler_zero zero = {.at_ns = compare->zero_ns};

	if (compare->is_table) {
		struct halves whole = {.title = area.row, .pane = area.row + 1, .pane_rows = area.rows - 1};
		draw_table(session, grid, &whole);
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
	if (!halves.pane_rows)
		return;
	draw_table(session, grid, &halves);
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
	char name[LABEL_BYTES], part[QUANTITY_BYTES];

	strcpy(out, "-");
	if (!is_there || !session_cell(session, &line, &cell))
		return;
	share = (struct cell_share){.state = (enum extent_state)cell.state, .function = cell.function};
	session_share_name(session, name, &share, LABEL_CELL, session->layout.columns >= 100 ? 24 : 9);
	quantity_share(part, cell.time_ns, frame_column_length(&session->frame, session_column(session)), 0);
	snprintf(out, COMPARE_PART, "%.80s %s", name, part);
}

static bool compare_status(struct session *session, char *out, size_t size_bytes)
{
	static const char *const sides[] = {"", "  keys: A", "  keys: B"};
	struct compare *compare = session->compare;
	char a[COMPARE_PART], b[COMPARE_PART], shift[QUANTITY_BYTES];
	const struct compare_pair *pair;

	if (compare->line >= compare->pair_count)
		return false;
	pair = &compare->pairs[compare->line];
	put_side(session, a, pair->a != UINT32_MAX);
	put_side(compare->other, b,
		pair->b != UINT32_MAX && !compare->is_apart && session_column(session) >= compare->skip);
	quantity_short(shift, (uint64_t)(compare->shift_ns < 0 ? -compare->shift_ns : compare->shift_ns));
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
	.draw = compare_draw,
	.act = compare_act,
	.put_title = compare_title,
	.put_status = compare_status,
	.own_keys = compare_keys,
	.hints = "< > shift B  T align  Tab A/B  e/E depth  b by  Enter table  5 gaps  Y command"};
