/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - the areas of the screen, computed from its size alone (tui/SCREEN.md, "Layout").
 *
 *   title
 *   minimap line                                   | call stack
 *   ruler                                          | (from 100 columns on)
 *   rows:  labels  cells                           |
 *   lanes  names  figures                         (the user's, or in lines that no row uses)
 *   pane title
 *   pane
 *   (path line, below 100 columns)
 *   status
 *   keys
 */
#ifndef TUI_LAYOUT_H
#define TUI_LAYOUT_H

#include "tui/screen/grid.h"

#define LAYOUT_MIN_COLUMNS 60
#define LAYOUT_MIN_ROWS 12

struct layout {
	int rows, columns;
	bool is_too_small;
	int label;		   /* cells of the row labels */
	int cells;		   /* columns of the timeline */
	int minimap, ruler;	   /* row of the line; minimap -1: none */
	struct grid_area timeline; /* labels and cells */
	struct grid_area lanes;	   /* below them, of the same width; rows 0: none */
	bool has_spare_lanes;	   /* `lanes` has only lines that no row uses */
	struct grid_area stack;	   /* columns 0: none; a bar stands left of it */
	struct grid_area pane;	   /* without its title line; rows 0: none */
	struct grid_area full;	   /* of a view that has the whole screen */
	int path;		   /* row of the path line, -1: none */
	int status, keys;
};

/* `has_stack`: the user wants the call stack at the right, where there is room. */
/* Takes so many rows of the timeline for lanes, as long as it keeps `least`. */
void layout_take_lanes(struct layout *layout, int rows, int least);
void layout_compute(struct layout *layout, int rows, int columns, bool has_stack);

#endif
