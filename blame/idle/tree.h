/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - shares of time by calling context, top-down: the time charged to a scope with and without its
 * callees, in whole ns that add up at every row.
 */
#ifndef BLAME_TREE_H
#define BLAME_TREE_H

#include "blame/base/exact_share.h"

struct tree_row {
	uint32_t depth, parent; /* parent: its row; UINT32_MAX for the root */
	uint32_t scope;		/* of the run */
	uint64_t inclusive_ns, exclusive_ns;
};

struct tree {
	struct tree_row
		*rows; /* a parent before its children, siblings by inclusive time, descending, then name */
	size_t count;
};

/* Row 0 is the program root, with the total; thread roots are below it. Leaves out contexts that the
 * selector excludes; scopes below `depth` count for it. In `arena`. */
int tree_make(struct tree *tree, const struct run *run, const struct exact_share *shares, size_t count,
	const struct select *select, uint32_t depth, struct arena *arena, struct error *error);

#endif
