/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_forest.h - the loop nests of a graph (S4 2.2; B. Steensgaard, Sequentializing Program Dependence
 * Graphs): a loop is a strongly connected component; without its entries, the components that remain in it
 * are its inner loops. With single entries these are the natural loops that dominators give, where loops of
 * one header are one; a component with several entries (goto) is one loop with several entries, which
 * dominators do not find.
 */
#ifndef TIMELINE_LOOP_FOREST_H
#define TIMELINE_LOOP_FOREST_H

#include <stdbool.h>
#include <stdint.h>

#include "timeline/base/parse_budget.h"

#define LOOP_NONE UINT32_MAX
#define LOOP_DEPTH_MAX 32u /* deeper nests are merged */

/* Successors of node i are edges[first[i]] .. edges[first[i + 1] - 1]. Node 0..count-1. */
struct loop_graph {
	const uint32_t *first, *edges;
	uint32_t count, entry;
};

struct loop {
	uint32_t parent; /* LOOP_NONE: outermost; else a smaller number */
	uint32_t header; /* its entry with the lowest number */
	uint32_t depth;	 /* outermost 1 */
	bool is_irreducible;
};

struct loop_forest {
	struct loop *loops; /* outer before inner */
	uint32_t *of_node;  /* innermost loop of each node, LOOP_NONE */
	uint32_t count;
};

/* Returns 0, or -1: no memory. A spent budget omits inner loops. Free in both cases. */
int loop_forest_build(
	struct loop_forest *forest, const struct loop_graph *graph, struct parse_budget *budget);
void loop_forest_fini(struct loop_forest *forest);
/* True when `inner` is the loop or inside it. LOOP_NONE is in none. */
bool loop_is_in(const struct loop_forest *forest, uint32_t inner, uint32_t loop);

#endif
