/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_busy.h - how busy a group is in each column: the mean over a process's threads, the union over a
 * device's queues. A group may have more streams than the screen has rows: each is read, added and dropped.
 * The frame keeps the sums, so that moving the cursor costs nothing.
 */
#ifndef TUI_GROUP_BUSY_H
#define TUI_GROUP_BUSY_H

#include "tui/timeline/frame.h"
#include "tui/timeline/rows.h"

/* Reads the next stream below the node, if one is left; sets *is_done once the sums are complete. */
int group_busy_step(
	struct frame *frame, const struct rows *rows, uint32_t node, bool *is_done, struct error *error);
/* True: the next step reads a union of queues. If stopped, it starts over; other steps do not. */
bool group_busy_is_uniting(struct frame *frame, const struct rows *rows, uint32_t node);
/* Busy share 0..1 of each column, negative where the group did not exist; valid until the frame's window
 * changes. NULL: incomplete, or memory is out. */
const float *group_busy_of(struct frame *frame, const struct rows *rows, uint32_t node);

#endif
