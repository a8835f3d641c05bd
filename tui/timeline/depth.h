/* SPDX-License-Identifier: Apache-2.0 */
/*
 * depth.h - the call path of one stream over the columns of the frame: for each column, from the root down,
 * the frame with most time among the children of the one above it, so that a child always stands below its
 * own parent (S4 10.9.2). States without a path, such as waiting for a core, do not hide work: where they
 * have more time than all paths, the paths of work alone are followed.
 */
#ifndef TUI_DEPTH_H
#define TUI_DEPTH_H

#include "tui/timeline/frame.h"

#define DEPTH_LEVELS_MAX 4096u /* deeper paths lose their leaves here */

struct depth_picture {
	uint32_t levels, columns; /* levels: the deepest path of the line; level 0 is depth 1 */
	struct cell *cells;	  /* [level][column]; blank where the path has ended */
};

/* -1: memory is out. */
int depth_compute(struct depth_picture *picture, struct frame *frame, const struct frame_line *line);
void depth_fini(struct depth_picture *picture);

static inline const struct cell *depth_row(const struct depth_picture *picture, uint32_t level)
{
	return picture->cells + (size_t)level * picture->columns;
}

/* Totals of a function at the frame's depth in the line. A run is a stretch of neighbouring columns in which
 * it has time. */
struct depth_sum {
	uint32_t function; /* UINT32_MAX: no path that deep, or a state without one */
	enum extent_state state;
	uint64_t inclusive_ns, exclusive_ns; /* exclusive: the frame itself is the leaf */
	uint32_t runs;
	uint64_t longest_ns; /* time in its longest run */
	uint32_t last_column;
	uint64_t run_ns; /* of the run that goes on at last_column */
};
/* By descending inclusive time; the caller's to free. Their times sum to the window. -1: memory is out. */
int depth_add_up(struct depth_sum **sums, size_t *count, struct frame *frame, const struct frame_line *line);

#endif
