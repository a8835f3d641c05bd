/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ruler.h - the line of times above the cells: ticks at 1, 2 or 5 x 10^n, far enough apart for their labels.
 */
#ifndef TUI_RULER_H
#define TUI_RULER_H

#include "tui/screen/grid.h"
#include "tui/timeline/frame.h"

/* What times are counted from. */
struct ruler_zero {
	uint64_t at_ns;	  /* absolute time that reads 0 */
	uint64_t wall_ns; /* CLOCK_REALTIME at at_ns; 0: times are written as seconds */
};

/* Draws ticks and labels from `column` on, each cell `wide` columns, and the mark of the cursor's cell (-1:
 * none). */
void ruler_draw(struct grid *grid, int row, int column, const struct frame *frame, int wide,
	struct ruler_zero zero, int cursor);

/* Absolute time as the status line prints it, precise enough for columns of step_ns. FORMAT_NUMBER_BYTES. */
void ruler_time(char *out, uint64_t time_ns, uint64_t step_ns, struct ruler_zero zero);

#endif
