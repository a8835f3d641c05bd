/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chart.h - the lines below a stream's first one: its call path over time, outermost above. In each column
 * the line below a cell shows the callee that has at least half of the cell's time, and its callee below
 * that.
 *
 *   frame_cell   solve======================output===
 *   line 1       smooth=======residual======write====
 *   line 2                    dot==                    blank: the path has ended
 *
 * A wait's cell is followed by the frames that wait, a kernel's by the frames that launched it.
 */
#ifndef TUI_CHART_H
#define TUI_CHART_H

#include "tui/timeline/frame.h"

/* The cells of line `below`, from 1 to frame->below, by column; kept until the frame drops its lines. NULL:
 * memory is out. The line must be of the frame's level, or of leaves. */
const struct cell *chart_line(struct frame *frame, const struct frame_line *line, uint32_t below);

#endif
