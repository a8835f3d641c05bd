/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_forest.c - see loop_forest.h. Finds strongly connected components by Tarjan's algorithm without
 * recursion; regions (the whole graph, then the inside of each loop) are queued in a list, so that each
 * level of nesting costs one pass.
 */
#include "timeline/code/loop_forest.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"

/* The inside of a loop: members[begin .. begin + count). */
struct region {
	uint32_t loop, begin, count;
};

struct search {
	struct loop_forest *forest;
	const struct loop_graph *graph;
	struct parse_budget *budget;
	struct region *regions; /* done ones too */
	uint32_t region_count;
	size_t region_capacity, loop_capacity;
	uint32_t *members; /* nodes, those of one region side by side */
	uint32_t *scratch;
	uint32_t *region_of; /* [node] number of its current region */
	uint32_t *number;    /* [node] order of discovery in this region, 0: not yet */
	uint32_t *low;	     /* [node] */
	uint32_t *next_edge; /* [node] */
	uint32_t *path, *open;
	uint8_t *is_open;	/* [node] on `open` */
	uint8_t *is_cut;	/* [node] entry of the loop being searched */
	uint8_t *is_reached;	/* [node] from the graph's entry */
	uint32_t *before_first; /* predecessors, like the graph's successors */
	uint32_t *before;
};

static bool step(struct search *search)
{
	return parse_budget_step(search->budget);
}

/* ---- preparation ---- */

static void find_predecessors(struct search *search)
{
	const struct loop_graph *graph = search->graph;
	uint32_t *first = search->before_first;

	for (uint32_t e = 0; e < graph->first[graph->count]; e++)
		first[graph->edges[e] + 1]++;
	for (uint32_t i = 0; i < graph->count; i++)
		first[i + 1] += first[i];
	memcpy(search->scratch, first, graph->count * sizeof *first);
	for (uint32_t i = 0; i < graph->count; i++)
		for (uint32_t e = graph->first[i]; e < graph->first[i + 1]; e++)
			search->before[search->scratch[graph->edges[e]]++] = i;
}

static void find_reached(struct search *search)
{
	const struct loop_graph *graph = search->graph;
	uint32_t count = 0;

	if (graph->entry >= graph->count)
		return;
	search->path[count++] = graph->entry;
	search->is_reached[graph->entry] = 1;
	while (count) {
		uint32_t node = search->path[--count];

		for (uint32_t e = graph->first[node]; e < graph->first[node + 1]; e++) {
			uint32_t to = graph->edges[e];

			if (!search->is_reached[to]) {
				search->is_reached[to] = 1;
				search->path[count++] = to;
			}
		}
	}
}

/* ---- loops ---- */

static bool region_add(struct search *search, uint32_t loop, uint32_t begin, uint32_t count)
{
	if (!array_widen(&search->regions, &search->region_capacity, search->region_count,
		    sizeof *search->regions))
		return false;
	search->regions[search->region_count++] = (struct region){loop, begin, count};
	return true;
}

static uint32_t loop_add(struct search *search, uint32_t parent)
{
	struct loop_forest *forest = search->forest;

	if (!array_widen(&forest->loops, &search->loop_capacity, forest->count, sizeof *forest->loops))
		return LOOP_NONE;
	forest->loops[forest->count] = (struct loop){.parent = parent,
		.header = LOOP_NONE,
		.depth = parent == LOOP_NONE ? 1 : forest->loops[parent].depth + 1};
	return forest->count++;
}

/* Something outside leads to the node: from code that runs, as far as there is a choice. */
static bool is_entered(const struct search *search, uint32_t node, uint32_t loop, bool reached_only)
{
	uint32_t begin = search->before_first[node], end = search->before_first[node + 1];

	if (node == search->graph->entry)
		return true;
	if (!reached_only && begin == end)
		return true;
	for (uint32_t i = begin; i < end; i++) {
		uint32_t from = search->before[i];

		if ((!reached_only || search->is_reached[from]) &&
			!loop_is_in(search->forest, search->forest->of_node[from], loop))
			return true;
	}
	return false;
}

/* Marks where the loop is entered; its number of entries. */
static uint32_t find_entries(
	struct search *search, uint32_t loop, const uint32_t *nodes, uint32_t count, bool reached_only)
{
	struct loop *l = &search->forest->loops[loop];
	uint32_t entries = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!is_entered(search, nodes[i], loop, reached_only))
			continue;
		search->is_cut[nodes[i]] = 1;
		entries++;
		if (nodes[i] < l->header)
			l->header = nodes[i];
	}
	return entries;
}

/* The nodes are strongly connected: a loop, whose inside is searched later. */
static bool take_loop(struct search *search, const struct region *region, uint32_t begin, uint32_t count)
{
	const uint32_t *nodes = search->members + begin;
	uint32_t loop = loop_add(search, region->loop), entries;

	if (loop == LOOP_NONE)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		search->forest->of_node[nodes[i]] = loop;
		search->is_cut[nodes[i]] = 0;
	}
	entries = find_entries(search, loop, nodes, count, true);
	if (!entries)
		entries = find_entries(search, loop, nodes, count, false);
	if (!entries) {
		search->is_cut[nodes[0]] = 1;
		search->forest->loops[loop].header = nodes[0];
	}
	search->forest->loops[loop].is_irreducible = entries > 1;
	if (search->forest->loops[loop].depth >= LOOP_DEPTH_MAX || count == 1)
		return true;
	return region_add(search, loop, begin, count);
}

/* ---- strongly connected parts of one region ---- */

static bool leads(const struct search *search, uint32_t region, uint32_t to)
{
	return search->region_of[to] == region && !search->is_cut[to];
}

static bool leads_to_itself(const struct search *search, uint32_t node)
{
	const struct loop_graph *graph = search->graph;

	for (uint32_t e = graph->first[node]; e < graph->first[node + 1]; e++)
		if (graph->edges[e] == node && !search->is_cut[node])
			return true;
	return false;
}

struct tarjan {
	uint32_t region, path_count, open_count, numbered, done; /* done: members placed again */
};

/* The part that `root` closes moves from the stack of open nodes to `scratch`, which becomes the region's new
 * order of members. */
static uint32_t close_part(struct search *search, struct tarjan *t, uint32_t root)
{
	uint32_t count = 0, node;

	do {
		node = search->open[--t->open_count];
		search->is_open[node] = 0;
		search->scratch[t->done + count++] = node;
	} while (node != root);
	t->done += count;
	return count;
}

static void enter(struct search *search, struct tarjan *t, uint32_t node)
{
	search->number[node] = search->low[node] = ++t->numbered;
	search->next_edge[node] = search->graph->first[node];
	search->open[t->open_count++] = node;
	search->is_open[node] = 1;
	search->path[t->path_count++] = node;
}

/* Takes the next edge of the node on top; false: it has no more. */
static bool advance(struct search *search, struct tarjan *t)
{
	uint32_t node = search->path[t->path_count - 1], to;

	if (search->next_edge[node] == search->graph->first[node + 1])
		return false;
	to = search->graph->edges[search->next_edge[node]++];
	if (!leads(search, t->region, to))
		return true;
	if (!search->number[to])
		enter(search, t, to);
	else if (search->is_open[to] && search->number[to] < search->low[node])
		search->low[node] = search->number[to];
	return true;
}

/* Parts are noted as pairs (begin, count) in `parts`, for their members are still being moved. */
static bool visit_from(
	struct search *search, struct tarjan *t, uint32_t start, uint32_t *parts, uint32_t *part_count)
{
	enter(search, t, start);
	while (t->path_count) {
		uint32_t node = search->path[t->path_count - 1], up, count;

		if (!step(search))
			return false;
		if (advance(search, t))
			continue;
		t->path_count--;
		if (t->path_count) {
			up = search->path[t->path_count - 1];
			if (search->low[node] < search->low[up])
				search->low[up] = search->low[node];
		}
		if (search->low[node] != search->number[node])
			continue;
		count = close_part(search, t, node);
		if (count > 1 || leads_to_itself(search, node)) {
			parts[2 * *part_count] = t->done - count;
			parts[2 * *part_count + 1] = count;
			++*part_count;
		}
	}
	return true;
}

/* 1: done, 0: the budget is spent, -1: memory. */
static int take_region(struct search *search, uint32_t number)
{
	struct region region = search->regions[number];
	const uint32_t *nodes = search->members + region.begin;
	uint32_t *parts = malloc(2 * ((size_t)region.count + 1) * sizeof *parts), part_count = 0;
	struct tarjan t = {.region = number};
	int rc = 1;

	if (!parts)
		return -1;
	for (uint32_t i = 0; i < region.count; i++) {
		search->region_of[nodes[i]] = number;
		search->number[nodes[i]] = 0;
	}
	for (uint32_t i = 0; i < region.count && rc > 0; i++)
		if (!search->number[nodes[i]])
			rc = visit_from(search, &t, nodes[i], parts, &part_count);
	if (rc > 0)
		memcpy(search->members + region.begin, search->scratch, region.count * sizeof *nodes);
	for (uint32_t i = 0; i < part_count && rc > 0; i++)
		if (!take_loop(search, &region, region.begin + parts[2 * i], parts[2 * i + 1]))
			rc = -1;
	free(parts);
	return rc;
}

/* ---- the whole ---- */

static bool search_init(struct search *search)
{
	uint32_t count = search->graph->count, edges = search->graph->first[count];
	uint32_t **arrays[] = {&search->members, &search->scratch, &search->region_of, &search->number,
		&search->low, &search->next_edge, &search->path, &search->open};

	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
		*arrays[i] = calloc((size_t)count + 1, sizeof **arrays[i]);
		if (!*arrays[i])
			return false;
	}
	search->before_first = calloc((size_t)count + 2, sizeof *search->before_first);
	search->before = calloc((size_t)edges + 1, sizeof *search->before);
	search->is_open = calloc((size_t)count + 1, 1);
	search->is_cut = calloc((size_t)count + 1, 1);
	search->is_reached = calloc((size_t)count + 1, 1);
	search->forest->of_node = malloc(((size_t)count + 1) * sizeof *search->forest->of_node);
	return search->before_first && search->before && search->is_open && search->is_cut &&
	       search->is_reached && search->forest->of_node;
}

static void search_fini(struct search *search)
{
	free(search->regions);
	free(search->members);
	free(search->scratch);
	free(search->region_of);
	free(search->number);
	free(search->low);
	free(search->next_edge);
	free(search->path);
	free(search->open);
	free(search->is_open);
	free(search->is_cut);
	free(search->is_reached);
	free(search->before_first);
	free(search->before);
}

int loop_forest_build(struct loop_forest *forest, const struct loop_graph *graph, struct parse_budget *budget)
{
	struct search search = {.forest = forest, .graph = graph, .budget = budget};
	int rc = 1;

	*forest = (struct loop_forest){0};
	if (!search_init(&search)) {
		search_fini(&search);
		return -1;
	}
	for (uint32_t i = 0; i < graph->count; i++) {
		search.members[i] = i;
		forest->of_node[i] = LOOP_NONE;
	}
	find_predecessors(&search);
	find_reached(&search);
	if (!region_add(&search, LOOP_NONE, 0, graph->count))
		rc = -1;
	for (uint32_t i = 0; rc > 0 && i < search.region_count; i++)
		rc = take_region(&search, i);
	search_fini(&search);
	return rc < 0 ? -1 : 0;
}

void loop_forest_fini(struct loop_forest *forest)
{
	free(forest->loops);
	free(forest->of_node);
	*forest = (struct loop_forest){0};
}

bool loop_is_in(const struct loop_forest *forest, uint32_t inner, uint32_t loop)
{
	while (inner != LOOP_NONE && inner > loop)
		inner = forest->loops[inner].parent;
	return inner == loop;
}
