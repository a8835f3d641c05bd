/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_lanes.c - draws the lanes below the rows: a name and the value at the cursor where labels stand, the
 * figure below the cells of the same time.
 */
#include <stdio.h>

#include "tui/models/lanes.h"
#include "tui/screen/text.h"
#include "tui/views/views.h"

/* "1.5 GiB" as "1.5G" where there is little room. */
static void value_short(char text[FIGURE_TEXT_MAX], double value, const char *unit)
{
	char *space;

	figure_text(text, value, unit);
	for (space = text; *space && *space != ' ';)
		space++;
	if (!*space)
		return;
	space[0] = space[1] == '%' ? '%' : space[1] == 'B' || space[1] == '/' ? '\0' : space[1];
	space[space[0] != '\0'] = '\0';
}

static void draw_label(struct session *session, struct grid *grid, const struct lanes_lane *lane, int row)
{
	int width = session->layout.label - 1;
	uint32_t cursor = session_column(session);
	char text[FIGURE_TEXT_MAX] = "-";

	if (lane->is_there && cursor < lane->count && lane->columns[cursor].is_there)
		value_short(text, lane->columns[cursor].mean, lane->unit);
	grid_text(
		grid, row, 0, width - (lane->lines > 1 ? 0 : text_cells(text) + 1), lane->name, GRID_HEADING);
	grid_text_right(grid, row + (lane->lines > 1), 0, width, text, GRID_TEXT);
	if (lane->lines > 2 && lane->is_there) {
		char scale[2 * FIGURE_TEXT_MAX], least[FIGURE_TEXT_MAX], most[FIGURE_TEXT_MAX];

		value_short(least, lane->scale.least, lane->unit);
		value_short(most, lane->scale.most, lane->unit);
		snprintf(scale, sizeof scale, "%s-%s", least, most);
		grid_text(grid, row + 2, 0, width, scale, GRID_GREY);
	}
}

static void draw_figure(struct session *session, struct grid *grid, const struct lanes_lane *lane, int row)
{
	const struct figure_condition *condition = lane->has_condition ? &lane->condition : NULL;
	const int column = session->layout.label, lines = (int)lane->lines, wide = session->cells_wide;

	if (lane->is_there && lane->halves)
		lane_draw_dots(grid, row, column, lines, wide, lane->halves, 2 * lane->count, &lane->scale,
			condition);
	else if (lane->is_there)
		lane_draw(
			grid, row, column, lines, wide, lane->columns, lane->count, &lane->scale, condition);
}

void view_lanes_draw(struct session *session, struct grid *grid)
{
	const struct grid_area area = session->layout.lanes;
	const struct lanes *lanes = session->lanes;
	struct error error;
	int row = area.row;

	if (!lanes || !area.rows)
		return;
	if (lanes_read(session, &error)) {
		session_say(session, "%s", error.text);
		return;
	}
	for (uint32_t i = 0; i < lanes->count; i++) {
		const struct lanes_lane *lane = &lanes->lane[i];

		if (row + (int)lane->lines > area.row + area.rows)
			break;
		draw_label(session, grid, lane, row);
		draw_figure(session, grid, lane, row);
		for (uint32_t line = 0; line < lane->lines; line++)
			grid_mark(grid, row + (int)line,
				session->layout.label + (int)session_column(session) * session->cells_wide,
				session->cells_wide, GRID_REVERSE);
		row += (int)lane->lines;
	}
}
