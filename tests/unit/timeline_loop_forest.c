/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.timeline.loop_forest - loops of random graphs against two naive twins: dominators by trying without
 * each node, strongly connected parts by reachability.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/seed.h"
#include "timeline/code/loop_forest.h"

static struct parse_budget plenty(void)
{
	return (struct parse_budget){.steps_left = 1000000};
}

#define NODES 10u

struct matrix {
	bool leads[NODES][NODES];
	uint32_t count;
};

/* Nodes that `from` reaches within `allowed`, by one edge at least. */
static uint32_t reach(const struct matrix *graph, uint32_t from, uint32_t allowed)
{
	uint32_t seen = 0, work = 1u << from;

	while (work) {
		uint32_t node = (uint32_t)__builtin_ctz(work);

		work &= work - 1;
		for (uint32_t to = 0; to < graph->count; to++)
			if (graph->leads[node][to] && allowed >> to & 1 && !(seen >> to & 1)) {
				seen |= 1u << to;
				work |= 1u << to;
			}
	}
	return seen;
}

static struct matrix random_graph(unsigned *seed)
{
	struct matrix graph = {.count = 3 + (uint32_t)rand_r(seed) % (NODES - 2)};
	uint32_t edges = graph.count + (uint32_t)rand_r(seed) % (graph.count + 3);

	for (uint32_t i = 0; i + 1 < graph.count; i++)
		graph.leads[i][i + 1] = rand_r(seed) % 8 != 0;
	for (uint32_t i = 0; i < edges; i++)
		graph.leads[rand_r(seed) % (int)graph.count][rand_r(seed) % (int)graph.count] = true;
	return graph;
}

static struct loop_forest forest_of(const struct matrix *graph)
{
	uint32_t first[NODES + 1], edges[NODES * NODES], count = 0;
	struct loop_graph csr = {first, edges, graph->count, 0};
	struct parse_budget budget = plenty();
	struct loop_forest forest;

	for (uint32_t i = 0; i < graph->count; i++) {
		first[i] = count;
		for (uint32_t to = 0; to < graph->count; to++)
			if (graph->leads[i][to])
				edges[count++] = to;
	}
	first[graph->count] = count;
	assert_int_equal(loop_forest_build(&forest, &csr, &budget), 0);
	return forest;
}

static uint32_t members(const struct loop_forest *forest, const struct matrix *graph, uint32_t loop)
{
	uint32_t set = 0;

	for (uint32_t i = 0; i < graph->count; i++)
		if (loop_is_in(forest, forest->of_node[i], loop))
			set |= 1u << i;
	return set;
}

static uint32_t loops_with(const struct loop_forest *forest, const struct matrix *graph, uint32_t set)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < forest->count; i++)
		found += members(forest, graph, i) == set;
	return found;
}

/* The loops of this part, by reachability: each set of nodes that reach each other, cut at its entries. */
static uint32_t twin_parts(const struct matrix *graph, const struct loop_forest *forest, uint32_t allowed,
	uint32_t entries_cut, uint32_t reached)
{
	uint32_t done = 0, count = 0;
	struct matrix inside = *graph;

	for (uint32_t i = 0; i < graph->count; i++)
		for (uint32_t to = 0; to < graph->count; to++)
			if (entries_cut >> to & 1)
				inside.leads[i][to] = false;
	for (uint32_t i = 0; i < graph->count; i++) {
		uint32_t set = 0, entries = 0, after;

		if (!(allowed >> i & 1) || done >> i & 1)
			continue;
		after = reach(&inside, i, allowed);
		for (uint32_t j = 0; j < graph->count; j++)
			if (after >> j & 1 && reach(&inside, j, allowed) >> i & 1)
				set |= 1u << j;
		done |= set;
		if (!set)
			continue;
		count++;
		assert_int_equal(loops_with(forest, graph, set), 1);
		for (uint32_t j = 0; j < graph->count; j++)
			for (uint32_t from = 0; from < graph->count; from++)
				if (set >> j & 1 && !(set >> from & 1) && graph->leads[from][j] &&
					reached >> from & 1)
					entries |= 1u << j;
		entries |= set & 1;
		if (!entries) /* not reached: where it is entered is a matter of taste */
			return UINT32_MAX;
		after = twin_parts(&inside, forest, set, entries, reached);
		if (after == UINT32_MAX)
			return after;
		count += after;
	}
	return count;
}

/* Natural loops: of each edge back to a node without which its origin is not reached. */
static bool twin_natural(const struct matrix *graph, const struct loop_forest *forest, uint32_t reached)
{
	uint32_t bodies[NODES] = {0};
	uint32_t all = (1u << graph->count) - 1, natural = 0;
	struct matrix forward = *graph;

	for (uint32_t from = 0; from < graph->count; from++)
		for (uint32_t head = 0; head < graph->count; head++) {
			if (!graph->leads[from][head] || !(reached >> from & 1))
				continue;
			if (head && from != head &&
				(reach(graph, 0, all & ~(1u << head)) >> from & 1 || from == 0))
				continue;
			forward.leads[from][head] = false;
			bodies[head] |= 1u << head | 1u << from;
			for (uint32_t i = 0; i < graph->count; i++)
				if (i != head && reached >> i & 1 && from != head &&
					reach(graph, i, all & ~(1u << head)) >> from & 1)
					bodies[head] |= 1u << i;
		}
	for (uint32_t i = 0; i < graph->count; i++)
		if (reached >> i & 1 && reach(&forward, i, all) >> i & 1)
			return false; /* irreducible: dominators do not find all */
	for (uint32_t head = 0; head < graph->count; head++) {
		natural += bodies[head] != 0;
		if (bodies[head])
			assert_int_equal(loops_with(forest, graph, bodies[head]), 1);
	}
	for (uint32_t i = 0; i < forest->count; i++)
		if (reached >> forest->loops[i].header & 1) {
			assert_false(forest->loops[i].is_irreducible);
			assert_int_equal(members(forest, graph, i), bodies[forest->loops[i].header]);
		}
	return natural > 0;
}

static void test_graphs(void **state)
{
	uint64_t end, first = seed_rounds(__func__, 20000, &end);
	unsigned reducible = 0, irreducible = 0;

	(void)state;
	for (uint64_t n = first; n < end; n++) {
		unsigned seed = (unsigned)n;
		struct matrix graph = random_graph(&seed);
		struct loop_forest forest = forest_of(&graph);
		uint32_t reached = reach(&graph, 0, (1u << graph.count) - 1) | 1, count;

		count = twin_parts(&graph, &forest, (1u << graph.count) - 1, 0, reached);
		if (count != UINT32_MAX && count != forest.count)
			print_message("seed %llu\n", (unsigned long long)n);
		if (count != UINT32_MAX)
			assert_int_equal(count, forest.count);
		if (twin_natural(&graph, &forest, reached))
			reducible++;
		for (uint32_t i = 0; i < forest.count; i++)
			irreducible += forest.loops[i].is_irreducible;
		loop_forest_fini(&forest);
	}
	print_message(
		"%u graphs with natural loops, %u loops with several entries\n", reducible, irreducible);
	assert_true(reducible > 1000);
	assert_true(irreducible > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
