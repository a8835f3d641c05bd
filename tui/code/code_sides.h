/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_sides.h - draws the two sides of a code_page, each with a heading in its first row: source lines, and
 * instructions.
 */
#ifndef TUI_CODE_SIDES_H
#define TUI_CODE_SIDES_H

#include "tui/code/code_page.h"
#include "tui/code/stall_bar.h"

void code_source_draw(struct session *session, struct code_page *page, struct grid *grid,
	struct grid_area area, const struct stall_order *order);
/* `is_alone`: no source stands beside it, so that each instruction has its line. */
void code_instructions_draw(struct code_page *page, struct grid *grid, struct grid_area area,
	const struct stall_order *order, bool is_alone);

/* "12.40" of the kernel's samples, "" for nothing. */
#define CODE_PERCENT 16
void code_percent(char out[CODE_PERCENT], const struct code_page *page, double part);
/* "51234": how many samples that are, "" for none. */
void code_samples(char out[CODE_PERCENT], const struct code_page *page, double part);
/* Sides of so many columns have them beside the percentages, in so many cells. */
#define CODE_SAMPLES_FROM 90
#define CODE_SAMPLES_CELLS 9

/* The rows of one side that are on the screen. */
struct code_window {
	uint32_t count;		/* rows that there are */
	uint32_t cursor, other; /* rows; the other one is shown, too, if both have room when the page turns */
	int rows;		/* on the screen */
};
/* First row on the screen; `top` is the one of before, `rows` how many there were then. The page turns only
 * when the cursor leaves it. */
uint32_t code_top(const struct code_window *window, uint32_t top, int rows);

#endif
