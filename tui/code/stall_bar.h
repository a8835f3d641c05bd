/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stall_bar.h - samples by reason as a bar: a cell has the letter and the colour of the reason that it stands
 * for, so that bars can be read without colours, too.
 *
 *   GGGGGGG##D    most samples wait for memory, some issued, a few wait for an operand
 */
#ifndef TUI_STALL_BAR_H
#define TUI_STALL_BAR_H

#include "blame/stalls/stall.h"
#include "tui/screen/grid.h"

/* The largest reason of a kernel is at the left of all bars. */
struct stall_order {
	unsigned char stalls[STALL_COUNT]; /* enum stall */
};
void stall_order_take(struct stall_order *order, const double by[STALL_COUNT]);

/* Draws the sum of `by` beside `most`, which has all of `cells`; what is not 0 has a letter at least. */
void stall_bar_draw(struct grid *grid, int row, int column, int cells, const double by[STALL_COUNT],
	const struct stall_order *order, double most);

/* On one line which letter is which reason, and its share of all samples; as many as there is room for. */
void stall_bar_legend(struct grid *grid, int row, int column, int cells, const double by[STALL_COUNT],
	const struct stall_order *order);

/* "GMEM"; "issued" */
const char *stall_bar_name(enum stall stall);

#endif
