/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c - the sizes of tui/SCREEN.md, "Layout".
 */
#include "tui/screen/layout.h"

static int label_width(int columns)
{
	if (columns >= 160)
		return 24;
	if (columns >= 100)
		return 16;
	return columns >= 72 ? 12 : 8;
}

static int pane_rows(int rows)
{
	if (rows >= 34)
		return 13;
	return rows >= 18 ? 6 : 0;
}

void layout_compute(struct layout *layout, int rows, int columns, bool has_stack)
{
	int stack = has_stack && columns >= 100 ? columns >= 160 ? 48 : 35 : 0;
	int pane = pane_rows(rows), top, bottom;

	*layout = (struct layout){.rows = rows, .columns = columns, .minimap = -1, .path = -1};
	layout->is_too_small = rows < LAYOUT_MIN_ROWS || columns < LAYOUT_MIN_COLUMNS;
	if (layout->is_too_small)
		return;
	layout->label = label_width(columns);
	layout->cells = columns - layout->label - (stack ? stack + 1 : 0);
	if (rows >= 16)
		layout->minimap = 1;
	layout->ruler = rows >= 16 ? 2 : 1;
	layout->keys = rows - 1;
	layout->status = rows - 2;
	bottom = layout->status;
	if (columns < 100)
		layout->path = --bottom;
	layout->pane = (struct grid_area){bottom - pane, 0, pane, columns};
	top = layout->ruler + 1;
	layout->timeline = (struct grid_area){
		top, 0, (pane ? bottom - pane - 1 : bottom) - top, layout->label + layout->cells};
	if (stack)
		layout->stack =
			(struct grid_area){1, columns - stack, top - 1 + layout->timeline.rows, stack};
	layout->full = (struct grid_area){1, 0, layout->status - 1, columns};
}

void layout_take_lanes(struct layout *layout, int rows, int least)
{
	int spare = layout->timeline.rows - least;

	rows = rows < spare ? rows : spare;
	if (rows <= 0)
		return;
	layout->lanes = layout->timeline;
	layout->timeline.rows -= rows;
	layout->lanes.row += layout->timeline.rows;
	layout->lanes.rows = rows;
}
