/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_busy.h - how busy a group is in each column: the mean over a process's threads, the union over a
 * device's queues. Where a group is all streams of the run, its columns come from the sums that stores keep
 * of all streams. Otherwise each stream is read, added and dropped; of many threads, an even choice, or
 * longer times. The
 * frame keeps the sums, so that moving the cursor costs nothing.
 */
#ifndef TUI_GROUP_BUSY_H
#define TUI_GROUP_BUSY_H

#include "tui/timeline/frame.h"
#include "tui/timeline/rows.h"

/* Of a group: threads that are read by columns; dense ones among them that the screen does not show; threads
 * that are read by longer times where there are more of those. */
#define GROUP_BUSY_EXACT_MAX 64u
#define GROUP_BUSY_DENSE_MAX 16u
/* A device without sums of its union: more spans than that are not all read, but those of a part of each
 * column. */
#define GROUP_BUSY_UNION_SPANS 500000.0
#define GROUP_BUSY_UNION_PART 16u
#define GROUP_BUSY_COARSE_MAX 128u

/* Reads the next stream below the node, if one is left; sets *is_done once the sums are complete. */
int group_busy_step(
	struct frame *frame, const struct rows *rows, uint32_t node, bool *is_done, struct error *error);
/* True: the next step reads a union of queues. If stopped, it starts over; other steps do not. */
bool group_busy_is_uniting(struct frame *frame, const struct rows *rows, uint32_t node);
/* Busy share 0..1 of each column, negative where the group did not exist; valid until the frame's window
 * changes. NULL: incomplete, or memory is out. */
const float *group_busy_of(struct frame *frame, const struct rows *rows, uint32_t node);
/* True: the shares are about so: of an even choice of the threads, or of longer times than columns. */
bool group_busy_is_about(struct frame *frame, const struct rows *rows, uint32_t node);

#endif
