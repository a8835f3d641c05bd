/* SPDX-License-Identifier: Apache-2.0 */
/* call_shares.c - see call_shares.h. */
#include "blame/stalls/call_shares.h"

#include <stdlib.h>
#include <string.h>

/* ---- edges by one end ---- */

enum end { CALLER, CALLEE, CALLEE_COMPONENT };

/* Those of number n: edges[first[n]] ... edges[first[n + 1] - 1], in the order of the graph. */
struct edge_order {
	size_t *first;
	const struct call_edge **edges;
};

static uint32_t number_of(const struct call_graph *graph, const struct call_edge *edge, enum end end)
{
	return end == CALLER ? edge->caller : (end == CALLEE ? edge->callee : graph->component[edge->callee]);
}

static bool edge_order_make(struct edge_order *order, const struct call_graph *graph, enum end end)
{
	order->first = calloc((size_t)graph->count + 2, sizeof *order->first);
	order->edges = calloc(graph->edge_count + 1, sizeof *order->edges);
	if (!order->first || !order->edges)
		return false;
	/* Counts, two behind; then where each begins, one behind, which filling moves to its end. */
	for (size_t e = 0; e < graph->edge_count; e++)
		order->first[number_of(graph, &graph->edges[e], end) + 2]++;
	for (uint32_t n = 2; n <= graph->count; n++)
		order->first[n] += order->first[n - 1];
	for (size_t e = 0; e < graph->edge_count; e++)
		order->edges[order->first[number_of(graph, &graph->edges[e], end) + 1]++] = &graph->edges[e];
	return true;
}

static void edge_order_fini(struct edge_order *order)
{
	free(order->first);
	free(order->edges);
}

/* ---- step 2 ---- */

static bool has_weight(const struct edge_order *into, uint32_t callee)
{
	for (size_t e = into->first[callee]; e < into->first[callee + 1]; e++)
		if (into->edges[e]->weight > 0)
			return true;
	return false;
}

/* Calls into a function weigh 1 each; callers met first are pushed onto the work. */
static uint32_t calls_raise(struct call_graph *graph, const struct edge_order *into, uint32_t f,
	uint32_t *work, uint32_t count, bool *was_met)
{
	for (size_t e = into->first[f]; e < into->first[f + 1]; e++) {
		struct call_edge *edge = &graph->edges[into->edges[e] - graph->edges];

		edge->weight = 1;
		if (was_met[edge->caller])
			continue;
		was_met[edge->caller] = true;
		work[count++] = edge->caller;
	}
	return count;
}

static bool weights_fill(struct call_graph *graph)
{
	uint32_t *work = calloc((size_t)graph->count + 1, sizeof *work), count = 0;
	bool *was_met = calloc((size_t)graph->count + 1, sizeof *was_met);
	struct edge_order into = {0};
	bool ok = work && was_met && edge_order_make(&into, graph, CALLEE);

	for (uint32_t f = 0; ok && f < graph->count; f++)
		if (graph->samples[f] > 0) {
			was_met[f] = true;
			work[count++] = f;
		}
	while (ok && count) {
		uint32_t f = work[--count];

		if (!has_weight(&into, f))
			count = calls_raise(graph, &into, f, work, count, was_met);
	}
	edge_order_fini(&into);
	free(work);
	free(was_met);
	return ok;
}

/* ---- step 3: Tarjan, without recursion ---- */

struct tarjan {
	const struct call_graph *graph;
	struct edge_order out;
	uint32_t *index, *low, *stack, *path;
	size_t *next; /* [function] how many of its calls were looked at */
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

		if (t->out.first[f] + t->next[f] < t->out.first[f + 1])
			to = t->out.edges[t->out.first[f] + t->next[f]++]->callee;
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
	bool ok = t.index && t.low && t.stack && t.path && t.next && t.is_open &&
		  edge_order_make(&t.out, graph, CALLER);

	for (uint32_t f = 0; f < graph->count && ok; f++)
		if (!t.index[f])
			walk(&t, f);
	edge_order_fini(&t.out);
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
	struct edge_order into = {0};
	bool ok = of && edge_order_make(&into, graph, CALLEE_COMPONENT);

	if (ok)
		of[graph->component[root]] = 1;
	for (uint32_t c = ok ? graph->component[root] : 0; c-- > 0;)
		for (size_t e = into.first[c]; e < into.first[c + 1]; e++)
			if (!is_inner(graph, into.edges[e]))
				of[c] += into.edges[e]->share * of[graph->component[into.edges[e]->caller]];
	for (uint32_t f = 0; ok && f < graph->count; f++)
		factors[f] = of[graph->component[f]];
	edge_order_fini(&into);
	free(of);
	return ok;
}
