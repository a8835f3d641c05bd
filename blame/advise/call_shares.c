/* SPDX-License-Identifier: Apache-2.0 */
/* call_shares.c - see call_shares.h. */
#include "blame/advise/call_shares.h"

#include <stdlib.h>
#include <string.h>

/* ---- step 2 ---- */

static bool has_weight(const struct call_graph *graph, uint32_t callee)
{
	for (size_t e = 0; e < graph->edge_count; e++)
		if (graph->edges[e].callee == callee && graph->edges[e].weight > 0)
			return true;
	return false;
}

static bool weights_fill(struct call_graph *graph)
{
	uint32_t *work = calloc((size_t)graph->count + 1, sizeof *work), count = 0;
	bool *was_met = calloc((size_t)graph->count + 1, sizeof *was_met);

	for (uint32_t f = 0; work && was_met && f < graph->count; f++)
		if (graph->samples[f] > 0) {
			was_met[f] = true;
			work[count++] = f;
		}
	while (work && was_met && count) {
		uint32_t f = work[--count];

		if (has_weight(graph, f))
			continue;
		for (size_t e = 0; e < graph->edge_count; e++) {
			struct call_edge *edge = &graph->edges[e];

			if (edge->callee != f)
				continue;
			edge->weight = 1;
			if (!was_met[edge->caller]) {
				was_met[edge->caller] = true;
				work[count++] = edge->caller;
			}
		}
	}
	free(work);
	free(was_met);
	return work && was_met;
}

/* ---- step 3: Tarjan, without recursion ---- */

struct tarjan {
	const struct call_graph *graph;
	uint32_t *index, *low, *stack, *path;
	size_t *next; /* [function] the edge to look at */
	bool *is_open;
	uint32_t met, depth, length, components;
};

static void enter(struct tarjan *t, uint32_t f)
{
	t->index[f] = t->low[f] = ++t->met;
	t->stack[t->depth++] = t->path[t->length++] = f;
	t->is_open[f] = true;
}

static void leave(struct tarjan *t, uint32_t f)
{
	t->length--;
	if (t->length && t->low[f] < t->low[t->path[t->length - 1]])
		t->low[t->path[t->length - 1]] = t->low[f];
	if (t->low[f] != t->index[f])
		return;
	for (uint32_t member = UINT32_MAX; member != f;) {
		member = t->stack[--t->depth];
		t->is_open[member] = false;
		t->graph->component[member] = t->components;
	}
	t->components++;
}

static void walk(struct tarjan *t, uint32_t root)
{
	enter(t, root);
	while (t->length) {
		uint32_t f = t->path[t->length - 1], to = UINT32_MAX;

		for (; t->next[f] < t->graph->edge_count && to == UINT32_MAX; t->next[f]++)
			if (t->graph->edges[t->next[f]].caller == f)
				to = t->graph->edges[t->next[f]].callee;
		if (to == UINT32_MAX)
			leave(t, f);
		else if (!t->index[to])
			enter(t, to);
		else if (t->is_open[to] && t->index[to] < t->low[f])
			t->low[f] = t->index[to];
	}
}

static bool components_find(struct call_graph *graph)
{
	size_t room = (size_t)graph->count + 1;
	struct tarjan t = {.graph = graph,
		.index = calloc(room, sizeof *t.index),
		.low = calloc(room, sizeof *t.low),
		.stack = calloc(room, sizeof *t.stack),
		.path = calloc(room, sizeof *t.path),
		.next = calloc(room, sizeof *t.next),
		.is_open = calloc(room, sizeof *t.is_open)};
	bool ok = t.index && t.low && t.stack && t.path && t.next && t.is_open;

	for (uint32_t f = 0; f < graph->count && ok; f++)
		if (!t.index[f])
			walk(&t, f);
	free(t.index);
	free(t.low);
	free(t.stack);
	free(t.path);
	free(t.next);
	free(t.is_open);
	return ok;
}

/* ---- step 4 ---- */

static bool is_inner(const struct call_graph *graph, const struct call_edge *edge)
{
	return graph->component[edge->caller] == graph->component[edge->callee];
}

static bool shares_fill(struct call_graph *graph)
{
	double *weights = calloc((size_t)graph->count + 1, sizeof *weights);
	uint32_t *calls = calloc((size_t)graph->count + 1, sizeof *calls);

	for (size_t e = 0; weights && calls && e < graph->edge_count; e++) {
		const struct call_edge *edge = &graph->edges[e];

		if (is_inner(graph, edge))
			continue;
		weights[graph->component[edge->callee]] += edge->weight;
		calls[graph->component[edge->callee]]++;
	}
	for (size_t e = 0; weights && calls && e < graph->edge_count; e++) {
		struct call_edge *edge = &graph->edges[e];
		uint32_t to = graph->component[edge->callee];

		if (is_inner(graph, edge))
			edge->share = 0;
		else
			edge->share = weights[to] > 0 ? edge->weight / weights[to] : 1.0 / calls[to];
	}
	free(weights);
	free(calls);
	return weights && calls;
}

bool call_shares_find(struct call_graph *graph)
{
	return weights_fill(graph) && components_find(graph) && shares_fill(graph);
}

/* Components are numbered callees first: from high numbers down, each caller is final before what it calls.
 */
bool call_shares_of(const struct call_graph *graph, uint32_t root, double *factors)
{
	double *of = calloc((size_t)graph->count + 1, sizeof *of);

	if (!of)
		return false;
	of[graph->component[root]] = 1;
	for (uint32_t c = graph->component[root]; c-- > 0;)
		for (size_t e = 0; e < graph->edge_count; e++) {
			const struct call_edge *edge = &graph->edges[e];

			if (graph->component[edge->callee] == c && !is_inner(graph, edge))
				of[c] += edge->share * of[graph->component[edge->caller]];
		}
	for (uint32_t f = 0; f < graph->count; f++)
		factors[f] = of[graph->component[f]];
	free(of);
	return true;
}
