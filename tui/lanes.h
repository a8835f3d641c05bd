/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - how busy a group is in each column: the mean share of a process's threads at work, the union of a
 * device's queues (screens.md C). Made from the lines that the frame has; kept with them, so that moving the
 * cursor costs nothing.
 */
#ifndef TUI_LANES_H
#define TUI_LANES_H

#include "tui/frame.h"
#include "tui/rows.h"

/* Shares 0..1 of each column of the frame, negative where nothing was there yet; valid until the frame's
 * window changes. NULL when lines below the node are not read yet, or memory is out. */
const float *lanes_of(struct frame *frame, const struct rows *rows, uint32_t node);

#endif
