/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dependency.h - which instructions a stalled one may wait for: intra-function backward slicing over
 * registers, uniform registers, predicates and barriers (S2 IV), for immediate dependencies only.
 *
 *   def i --resource--> use j        an edge: a path leads from i to j on which i's value survives
 *
 * Instructions that count (AMD's counters, NVIDIA's barriers) do not replace each other: a wait until n are
 * left waits for all but the newest n on each path, as far back as another wait tells that no more are under
 * way.
 *
 * Going back from j, a definition under a predicate lets the search go on until the union of the predicates
 * met covers that of j; {P} and {!P} together cover all.
 */
#ifndef BLAME_DEPENDENCY_H
#define BLAME_DEPENDENCY_H

#include <stddef.h>

#include "store/base/error.h"
#include "timeline/base/parse_budget.h"
#include "timeline/code/gpu_instruction.h"

/* The instructions of one function and how control flows between them. Predecessors of i are
 * from[first_from[i]] .. from[first_from[i + 1] - 1], in any order; successors likewise. */
struct dependency_code {
	const struct gpu_instruction *instructions;
	uint32_t count;
	const uint32_t *first_from, *from, *first_to, *to;
};

struct dependency {
	uint32_t define, use; /* instructions */
	uint32_t shortest; /* instructions from one to the other, on the shortest path; next to each other: 1
			    */
	struct gpu_set by; /* resources */
};

struct dependency_slice;

/* Searches at most `reach` instructions back, and no further when the budget (NULL: none) is spent: paths
 * through code that a program made can be many. NULL: no memory. Code and budget must outlive it. */
struct dependency_slice *dependency_slice_new(
	const struct dependency_code *code, uint32_t reach, struct parse_budget *budget);
/* True: the budget is spent, and what the last calls gave is not whole. */
bool dependency_slice_is_cut(const struct dependency_slice *slice);
void dependency_slice_free(struct dependency_slice *slice);
/* Edges to `use` by resources that are in its uses and in `wanted` (NULL: all), by number of the definition;
 * valid until the next call. Negative: no memory. */
int dependency_slice_back(struct dependency_slice *slice, uint32_t use, const struct gpu_set *wanted,
	const struct dependency **edges, size_t *count, struct error *error);
/* The same of an instruction that uses all of `resources`, whatever it says: of a call, whose function does.
 */
int dependency_slice_resources(struct dependency_slice *slice, uint32_t use, const struct gpu_set *resources,
	const struct dependency **edges, size_t *count, struct error *error);
/* The nearest instructions before `use` for which `is` holds, one on each path: edges without resources. */
int dependency_slice_nearest(struct dependency_slice *slice, uint32_t use,
	bool (*is)(const void *own, uint32_t at), const void *own, const struct dependency **edges,
	size_t *count, struct error *error);
/* The nearest instructions of these kinds (bits 1 << enum gpu_kind) before `use`, one on each path: edges
 * without resources. */
int dependency_slice_kinds(struct dependency_slice *slice, uint32_t use, unsigned kinds,
	const struct dependency **edges, size_t *count, struct error *error);

/* True when some instruction without a guard uses all of `by` and is on every path from the definition to the
 * use: then stalls would show there (S2 IV, rule 2). */
bool dependency_is_dominated(struct dependency_slice *slice, const struct dependency *edge);
/* Instructions on the longest path from `from` to `to` that goes back at most once; 0: no path. */
uint32_t dependency_longest(struct dependency_slice *slice, uint32_t from, uint32_t to);

#endif
