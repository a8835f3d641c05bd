/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane.h - a figure over time as cells: 1 to 8 lines of eighth blocks, the mean filled, and the band from
 * least to most in whole cells.
 *
 *     ╷│          up to the most, where it is a line or more above the mean
 *   ┄▃▓▓┄┄┄┄      a bound, where nothing else is; ▓ is above the least
 *   ▂████▇▅▃      the mean, in eighths of a line, on the scale 0 .. most
 *
 * Or as dots of braille, four to a line and two columns to a cell: the band from least to most.
 *
 *   ⢀⡴⠋⠉⠙⢦        where least and most are one, a line
 */
#ifndef TUI_LANE_H
#define TUI_LANE_H

#include "timeline/sum/figure.h"
#include "tui/screen/grid.h"

/* The scale of a lane: values from 0 to `most`, `most` being a round number, or 100 for percentages up to
 * that. A lane whose values are all in a narrow band far from 0 begins at `least`. */
struct lane_scale {
	double least, most;
};
struct lane_scale lane_scale(const struct figure_column *columns, uint32_t count, const char *unit);
/* Widens a scale to hold another's values, for lanes that share one. */
void lane_scale_join(struct lane_scale *scale, const struct lane_scale *other);

/* How many eighths of `lines` lines a value fills; at least one above the scale's least. */
int lane_eighths(const struct lane_scale *scale, double value, int lines);

/* Draws columns, each `wide` cells, into the rows [row, row + lines) from `column` on. Those whose mean meets
 * the condition (NULL: none) are in the colour of warnings; its bound is a line where there are two or more.
 */
void lane_draw(struct grid *grid, int row, int column, int lines, int wide,
	const struct figure_column *columns, uint32_t count, const struct lane_scale *scale,
	const struct figure_condition *condition);

/* The same as dots, of columns that are `wide` dots wide: two to a cell. Not for grids of ASCII. */
void lane_draw_dots(struct grid *grid, int row, int column, int lines, int wide,
	const struct figure_column *columns, uint32_t count, const struct lane_scale *scale,
	const struct figure_condition *condition);

#endif
