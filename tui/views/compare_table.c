/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_table.c - what changed from A to B as a table: below the two halves, or on the whole screen.
 *
 *   --[Difference of the windows on screen]--- of 31 only in A 2, in B 0 -- known A 99 %, B 98 % -
 *       context at depth 3          A         B     B - A     B / A     noise
 *     = assemble              1225 ms   1612 ms   +387 ms      1.32     24 ms
 */
#include <stdio.h>
#include <string.h>

#include "tui/models/compare.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/views/views.h"

#define TABLE_HEAD 2 /* lines that are no rows: heading, sum */

/* Columns of the parts; of numbers: their end. */
struct columns {
	int key, key_cells, a, b, delta, ratio, noise; /* noise 0: no room for it */
};

static struct columns lay_columns(int width)
{
	int key = width >= 160 ? 64 : width >= 112 ? width - 80 : width >= 100 ? width - 58 : width - 48;

	if (width >= 100) /* names before noise, which grey lines tell too */
		return (struct columns){
			4, key, key + 18, key + 31, key + 44, key + 55, width >= 112 ? key + 69 : 0};
	return (struct columns){2, key, key + 13, key + 24, key + 36, key + 46, 0};
}

/* The state of that name; EXTENT_STATE_COUNT: none. */
static enum extent_state state_of(const char *name)
{
	int state = 0;

	while (state < EXTENT_STATE_COUNT && strcmp(extent_state_name((enum extent_state)state), name) != 0)
		state++;
	return (enum extent_state)state;
}

static void draw_number(struct grid *grid, int row, int end, uint64_t ns, struct format_number_unit unit,
	const char *sign, enum grid_style style)
{
	char number[FORMAT_NUMBER_BYTES], text[FORMAT_NUMBER_BYTES + 2];

	format_number_in(number, ns, unit);
	snprintf(text, sizeof(text), "%s%s", sign, number);
	grid_text_right(grid, row, end - 13, 13, text, style);
}

/* On the title line: of what the numbers are. */
static void draw_subject(const struct session *session, struct grid *grid, int row)
{
	const struct compare *compare = session->compare;
	char text[96] = "[Difference of the windows on screen]";

	if (compare->is_loaded && compare->steps[DIFF_A] > 0)
		snprintf(text, sizeof(text), "[Difference per step: A %.1f, B %.1f]", compare->steps[DIFF_A],
			compare->steps[DIFF_B]);
	grid_text(grid, row, 2, grid->columns - 2, text, GRID_TEXT);
}

/* Grey: sampling alone may make so much. */
static void draw_row(struct grid *grid, int row, const struct columns *columns, const struct diff_row *diff,
	struct format_number_unit unit)
{
	uint64_t size_ns = (uint64_t)(diff->delta_ns < 0 ? -diff->delta_ns : diff->delta_ns);
	bool is_within = size_ns <= diff->noise_ns && (diff->is_noise_known || !size_ns);
	enum grid_style style = is_within ? GRID_GREY : GRID_TEXT;
	enum extent_state state = diff->is_state ? state_of(diff->key) : EXTENT_STATE_COUNT;
	char text[LABEL_BYTES];

	if (state < EXTENT_STATE_COUNT)
		snprintf(text, sizeof(text), "%s", extent_state_word(state));
	else if (strchr(diff->key, ';')) /* a path: its end tells it from its neighbours */
		label_stream(text, diff->key, columns->key_cells, grid->is_ascii);
	else
		label_fit(text, diff->key[0] ? diff->key : "<none>", columns->key_cells, LABEL_TABLE,
			grid->is_ascii);
	if (state < EXTENT_STATE_COUNT)
		grid_put(grid, row, columns->key - 2, (uint32_t)extent_state_glyph(state), GRID_GREY);
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
	if (columns->noise && !diff->is_noise_known)
		grid_text_right(grid, row, columns->noise - 13, 13, "-", GRID_GREY);
	else if (columns->noise)
		draw_number(grid, row, columns->noise, diff->noise_ns, unit, "", GRID_GREY);
}

static void draw_sums(struct grid *grid, int row, const struct columns *columns,
	const struct diff_result *result, struct format_number_unit unit)
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
	char text[192], share[DIFF_SIDES][FORMAT_NUMBER_BYTES];

	for (size_t i = 0; i < result->count; i++) {
		alone[DIFF_A] += result->rows[i].time_ns[DIFF_B] == 0;
		alone[DIFF_B] += result->rows[i].time_ns[DIFF_A] == 0;
	}
	for (int side = DIFF_A; side <= DIFF_B; side++)
		format_number_share(share[side], (uint64_t)(result->coverage[side] * 1e6), 1000000, 1);
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

static void draw_heading(
	const struct session *session, struct grid *grid, int row, const struct columns *columns)
{
	const struct compare *compare = session->compare;
	bool is_per_step = compare->steps[DIFF_A] > 0;
	char text[64], depth[SESSION_DEPTH];

	session_depth_text(session, depth);
	snprintf(text, sizeof(text), "%s at depth %s",
		compare->by == STATS_FUNCTION ? "context" : stats_by_name(compare->by), depth);
	grid_text(grid, row, columns->key, columns->key_cells, text, GRID_HEADING);
	grid_text_right(grid, row, columns->a - 13, 11, is_per_step ? "A per step" : "A", GRID_HEADING);
	grid_text_right(grid, row, columns->b - 13, 11, is_per_step ? "B per step" : "B", GRID_HEADING);
	grid_text_right(grid, row, columns->delta - 13, 11, "B - A", GRID_HEADING);
	grid_text_right(grid, row, columns->ratio - 10, 10, "B / A", GRID_HEADING);
	if (columns->noise)
		grid_text_right(grid, row, columns->noise - 13, 11, "noise", GRID_HEADING);
}

/* The unit that all numbers of the table share. */
static struct format_number_unit choose_unit(const struct diff_result *result)
{
	uint64_t most_ns = 0;

	for (size_t i = 0; i < result->count; i++)
		for (int side = DIFF_A; side <= DIFF_B; side++)
			if (result->rows[i].time_ns[side] > most_ns)
				most_ns = result->rows[i].time_ns[side];
	return format_number_unit_for(most_ns);
}

static void draw_rows(struct compare *compare, struct grid *grid, int row, int room,
	const struct columns *columns, struct format_number_unit unit)
{
	keep_row_on_screen(compare, room);
	for (int i = 0; i < room && compare->first_row + (size_t)i < compare->result.count; i++) {
		size_t at = compare->first_row + (size_t)i;

		draw_row(grid, row + i, columns, &compare->result.rows[at], unit);
		if (compare->is_table && at == compare->row)
			grid_put(grid, row + i, 0, '>', GRID_HEADING);
	}
}

void compare_table_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct compare *compare = session->compare;
	struct columns columns = lay_columns(grid->columns);
	int row = area.row + 1, rows = area.rows - 1;
	char clean[LABEL_BYTES];

	for (int i = 0; i < grid->columns; i++)
		grid_put(grid, area.row, i, 0x2500, GRID_GREY);
	if (session->is_unread) {
		grid_text(grid, row, 2, grid->columns - 2, "reading ...", GRID_GREY);
	} else if (!compare_take(session)) {
		text_clean(clean, sizeof(clean), compare->trouble, grid->is_ascii);
		grid_text(grid, row, 2, grid->columns - 2, clean, GRID_TEXT);
	} else {
		struct format_number_unit unit = choose_unit(&compare->result);

		draw_heading(session, grid, row, &columns);
		draw_rows(compare, grid, row + 1, rows - TABLE_HEAD, &columns, unit);
		draw_sums(grid, row + rows - 1, &columns, &compare->result, unit);
		draw_trust(grid, area.row, &compare->result);
	}
	draw_subject(session, grid, area.row);
}
