/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_filter.h - removes rows whose names match a pattern from a profile, and adds their cost to rows that
 * stay (S4 10.7, figure 10.10):
 *
 *   A 10 (1)            self C         A (1+2)         below C        A (1)          all C    A (1+5)
 *   |- B 4 (4)                         |- B, D, E                     |- B, C (5)             |- B
 *   `- C 5 (2)
 *      |- D 2 (2)       C's children are A's; its exclusive cost is A's    C's subtree is C's     ... A's
 *      `- E 1 (1)
 *
 * This applies to a top-down tree. In other views a row's costs are not its parent's: there rows are removed
 * and no cost is moved.
 */
#ifndef TIMELINE_FRAME_FILTER_H
#define TIMELINE_FRAME_FILTER_H

#include "store/base/arena.h"
#include "timeline/profile/profile.h"

enum frame_filter_kind { FRAME_FILTER_SELF, FRAME_FILTER_BELOW, FRAME_FILTER_ALL, FRAME_FILTER_KIND_COUNT };
const char *frame_filter_kind_name(enum frame_filter_kind kind);
int frame_filter_kind_find(const char *name, size_t name_bytes); /* -1: none */

struct frame_filter_pattern {
	enum frame_filter_kind kind;
	const char *glob; /* of the row's name */
	bool is_off;
};

/* The rows of `profile` that stay, with their costs, in `arena`; row 0 always stays. The inclusive total and
 * the sum of the functions' exclusive costs do not change. */
int frame_filter_rows(struct profile *profile, bool is_top_down, const struct frame_filter_pattern *patterns,
	size_t count, struct arena *arena, struct error *error);

#endif
