/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_margins.c - draws the surroundings of the timeline: minimap and ruler above it, call stack at its
 * right. Not a view of its own.
 */
#include "tui/views/views.h"

void view_margins_draw(struct session *session, struct grid *grid)
{
	struct layout *layout = &session->layout;

	if (layout->minimap >= 0)
		view_minimap.draw(session, grid, (struct grid_area){layout->minimap, 0, 1, layout->cells});
	view_timeline_ruler(session, grid);
	if (!layout->stack.columns || session->full == &view_summary)
		return;
	for (int i = 0; i < layout->stack.rows; i++)
		grid_put(grid, layout->stack.row + i, layout->stack.column - 1, 0x2502, GRID_GREY);
	view_stack.draw(session, grid, layout->stack);
}
