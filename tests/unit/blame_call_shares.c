/* SPDX-License-Identifier: Apache-2.0 */
/* blame_call_shares.c - Fig 8.3 of S4 (Fig 5 of S0) with its fractions, and conservation on random call
 * graphs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blame/stalls/call_shares.h"
#include "tests/unit/seed.h"

enum { A, B, C, D, E, FIGURE };

/* A calls B, which no sample shows; calls of C were sampled 5 and 10 times; D and E call each other. */
static void test_figure(void **state)
{
	const double samples[FIGURE] = {20, 3, 30, 4, 6};
	struct call_edge edges[] = {{A, B, 0, 0}, {A, C, 5, 0}, {B, C, 10, 0}, {C, D, 2, 0}, {D, E, 7, 0},
		{E, D, 9, 0}, {A, E, 0, 0}};
	uint32_t component[FIGURE];
	struct call_graph graph = {FIGURE, samples, edges, 7, component};
	double factors[FIGURE], sum = 0;

	(void)state;
	assert_true(call_shares_find(&graph));
	/* B was sampled and no call of it: A -> B gets 1. */
	assert_true(fabs(edges[0].weight - 1) < 1e-15 && fabs(edges[0].share - 1) < 1e-15);
	assert_true(fabs(edges[1].share - 5.0 / 15) < 1e-15);
	assert_true(fabs(edges[2].share - 10.0 / 15) < 1e-15);
	/* {D, E} is one: its calls among themselves count no more, and of those into it one has no sample. */
	assert_int_equal(component[D], component[E]);
	assert_int_not_equal(component[C], component[D]);
	assert_true(edges[4].share == 0 && edges[5].share == 0);
	assert_true(fabs(edges[3].share - 1) < 1e-15 && edges[6].share == 0);
	assert_true(call_shares_of(&graph, A, factors));
	for (int f = 0; f < FIGURE; f++)
		sum += factors[f] * samples[f];
	assert_true(fabs(sum - 63) < 1e-12); /* A is the only root: all is its */
	assert_true(call_shares_of(&graph, B, factors));
	assert_true(fabs(factors[C] - 10.0 / 15) < 1e-15 && factors[A] == 0);
}

/* Nothing sampled: evenly. */
static void test_evenly(void **state)
{
	const double samples[3] = {1, 1, 0};
	struct call_edge edges[] = {{0, 2, 0, 0}, {1, 2, 0, 0}};
	uint32_t component[3];
	struct call_graph graph = {3, samples, edges, 2, component};

	(void)state;
	assert_true(call_shares_find(&graph));
	assert_true(edges[0].share == 0.5 && edges[1].share == 0.5);
}

/* Samples of all roots together are all samples, whatever calls whom. */
static void test_conservation(void **state)
{
	uint64_t seed = seed_take("blame_call_shares", 31);

	(void)state;
	for (int round = 0; round < 500; round++) {
		struct call_edge edges[40];
		double samples[12], factors[12], all = 0, sum = 0;
		uint32_t component[12], count = 2 + (uint32_t)(seed_next(&seed) % 11);
		struct call_graph graph = {count, samples, edges, seed_next(&seed) % 40, component};
		bool is_root[12];

		for (uint32_t f = 0; f < count; f++)
			samples[f] = (double)(seed_next(&seed) % 50);
		for (size_t e = 0; e < graph.edge_count; e++)
			edges[e] = (struct call_edge){(uint32_t)(seed_next(&seed) % count),
				(uint32_t)(seed_next(&seed) % count), (double)(seed_next(&seed) % 4), 0};
		assert_true(call_shares_find(&graph));
		memset(is_root, 1, sizeof is_root);
		for (size_t e = 0; e < graph.edge_count; e++)
			if (component[edges[e].caller] != component[edges[e].callee]) {
				assert_true(component[edges[e].caller] >
					    component[edges[e].callee]); /* acyclic */
				is_root[component[edges[e].callee]] = false;
			}
		for (uint32_t f = 0; f < count; f++) {
			all += samples[f];
			if (!is_root[component[f]])
				continue;
			is_root[component[f]] = false; /* once for each component */
			assert_true(call_shares_of(&graph, f, factors));
			for (uint32_t g = 0; g < count; g++)
				sum += factors[g] * samples[g];
		}
		assert_true(fabs(all - sum) < 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_figure), cmocka_unit_test(test_evenly),
		cmocka_unit_test(test_conservation)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
