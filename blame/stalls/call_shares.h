/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_shares.h - which callers the samples of a GPU function belong to (S0 6.3, S4 8.2.4): the hardware
 * tells the sampled instruction, never who called. Samples of call instructions weigh the edges of the static
 * call graph.
 *
 *   1 edges weigh what their call instructions were sampled
 *   2 a sampled function without a weighted call into it: each of them weighs 1, and so on up, until one has
 *     weight
 *   3 functions that call each other are one (Tarjan); edges inside it count no more
 *   4 the Gprof assumption: a call costs the same from everywhere, so a function's samples go to its callers
 *     in proportion to the weights; evenly if none has any
 *
 * Time and memory of each function here are linear in the graph: no tree is made (S1 6.3).
 */
#ifndef BLAME_CALL_SHARES_H
#define BLAME_CALL_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_edge {
	uint32_t caller, callee;
	double weight; /* samples of the call instruction; step 2 may raise it to 1 */
	double share;  /* out: of the callee's samples that go to this caller; 0 inside a component */
};

struct call_graph {
	uint32_t count;	       /* functions */
	const double *samples; /* [count] own */
	struct call_edge *edges;
	size_t edge_count;
	uint32_t *component; /* out: [count]; callees before callers; the caller's array */
};

/* Fills weights, shares and components; false: no memory. */
bool call_shares_find(struct call_graph *graph);
/* factors[f]: which part of f's samples was called from `root`, directly or not; its own are 1. Over all
 * functions that nothing calls the factors of a reachable function add up to 1. False: no memory. */
bool call_shares_of(const struct call_graph *graph, uint32_t root, double *factors);

#endif
