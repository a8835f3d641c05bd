/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_forest.h - the loop nests of a graph (S4 2.2; B. Steensgaard, Sequentializing Program Dependence
 * Graphs): a loop is a strongly connected part of the graph; cut at where it is entered, what is still
 * strongly connected in it is its inner loops. Where every loop is entered at one place these are the natural
 * loops that dominators give, those with one header being one; a part that is entered at several places
 * (goto) is one loop with several entries, which dominators do not find.
 */
#ifndef TIMELINE_LOOP_FOREST_H
#define TIMELINE_LOOP_FOREST_H

#include <stdbool.h>
#include <stdint.h>

#include "timeline/base/parse_budget.h"

#define LOOP_NONE UINT32_MAX
#define LOOP_DEPTH_MAX 32u /* deeper nests are not told apart */

/* Successors of node i are edges[first[i]] .. edges[first[i + 1] - 1]. Node 0..count-1. */
struct loop_graph {
	const uint32_t *first, *edges;
	uint32_t count, entry;
};

struct loop {
	uint32_t parent; /* LOOP_NONE: outermost; else a smaller number */
	uint32_t header; /* the lowest node that it is entered at */
	uint32_t depth;	 /* outermost 1 */
	bool is_irreducible;
};

struct loop_forest {
	struct loop *loops; /* outer before inner */
	uint32_t *of_node;  /* innermost loop of each node, LOOP_NONE */
	uint32_t count;
};

/* Returns 0, or -1: memory. A spent budget leaves outer loops without inner ones. Free in both cases. */
int loop_forest_build(
	struct loop_forest *forest, const struct loop_graph *graph, struct parse_budget *budget);
void loop_forest_fini(struct loop_forest *forest);
/* Is `inner` the loop or within it? LOOP_NONE is within none. */
bool loop_is_in(const struct loop_forest *forest, uint32_t inner, uint32_t loop);

#endif
