/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame.h - a profile as a flame graph: a box per function and caller, as wide as its inclusive weight, below
 * the box of its caller. Laid out from a profile's tree (profile.h); drawn as text and SVG here, on the
 * screen by tui/views/view_flame.c.
 *
 *   depth 0  | <root>                                        |
 *   depth 1  | main                                          |
 *   depth 2  | read_input | solve                            |      what a box does itself is the stretch
 *   depth 3               | assemble       | smooth    |           below it that no callee covers
 *
 * Calls of one function from several places of its caller are one box, loops and lines are none. Callees
 * stand in the order of their names, so that two windows, or two runs, can be laid side by side.
 */
#ifndef TIMELINE_FLAME_H
#define TIMELINE_FLAME_H

#include <stdio.h>

#include "timeline/profile/profile.h"

struct flame_box {
	const char *name;     /* the profile's */
	uint64_t begin;	      /* from the left edge, in the metric's unit */
	uint64_t value, self; /* inclusive; without callees */
	uint32_t depth;
	uint32_t parent; /* number of its box; UINT32_MAX: the root */
	uint32_t end;	 /* the first box behind its callees' */
};

struct flame {
	struct flame_box *boxes; /* a box before its callees, siblings from left to right */
	uint32_t count;
	uint32_t levels; /* 1 + the deepest depth */
	uint64_t total;	 /* the root's value */
	const char *metric, *unit;
	/* The boxes are calls in time, lane below lane, in ns: each lane has a root. */
	bool is_chart;
};

/* Lays out one metric of a top-down profile, or of a bottom-up one: there a box is as wide as what the
 * function on top did itself below these callers, so that the boxes of depth 1 are all of it. Metrics of
 * doubles are rounded. Boxes in `arena`, names stay the profile's. A profile without rows gives no boxes. */
int flame_lay(struct flame *flame, const struct profile *profile, bool is_bottom_up, size_t metric,
	struct arena *arena, struct error *error);

/* The boxes of one depth that are at least a column wide when `within` is `columns` wide, as [first, last)
 * columns of it. Boxes outside `within` are left out; those above it span all columns. */
struct flame_span {
	uint32_t box;
	uint32_t first, last;
};
/* Into `spans` (room for `columns`); their number. */
size_t flame_row(const struct flame *flame, uint32_t within, uint32_t depth, uint32_t columns,
	struct flame_span *spans);

/* As lines of `columns` characters; of a deep recursion the first levels, and how many are left. */
void flame_print(const struct flame *flame, uint32_t columns, FILE *out);
/* A self-contained picture: text that can be searched, a click zooms. No network, no file beside it. */
void flame_svg(const struct flame *flame, const char *title, FILE *out);

#endif
