/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_lanes.c - how threads of a warp differ: accesses and branches of compiled kernels whose sources tell
 * the answer (tests/gpu/faults.cu, more_faults.cu); and where ways join, beside a naive twin on random
 * graphs.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blame/stalls/divergence.h"
#include "blame/stalls/lanes.h"
#include "blame/stalls/memory_use.h"
#include "tests/unit/gpu_binary.h"
#include "tests/unit/seed.h"

struct opened {
	void *bytes;
	struct gpu_code *binary;
	struct kernel_code code;
	struct lanes lanes;
};

static void kernel_open(struct opened *opened, const char *file, const char *name, uint32_t x, uint32_t y)
{
	uint32_t block[3] = {x, y, 1};
	const struct gpu_function *functions;
	char path[512], mangled[128];
	struct error error;
	size_t count, f;

	snprintf(path, sizeof path, GPU_BINARIES "/%s-sm90.cubin", file);
	snprintf(mangled, sizeof mangled, "_Z%zu%sP", strlen(name), name);
	opened->binary = gpu_file_open(path, &opened->bytes);
	functions = gpu_code_functions(opened->binary, &count);
	for (f = 0; f < count && strncmp(functions[f].name, mangled, strlen(mangled)) != 0; f++)
		;
	assert_true(f < count);
	assert_int_equal(kernel_code_read(&opened->code, opened->binary, &functions[f], &error), 0);
	assert_int_equal(lanes_find(&opened->lanes, &opened->code, true, block, &error), 0);
}

static void kernel_close(struct opened *opened)
{
	lanes_fini(&opened->lanes);
	kernel_code_fini(&opened->code);
	gpu_code_close(opened->binary);
	free(opened->bytes);
}

/* ---- accesses ---- */

/* The waste of the loads and of the stores of global memory: the largest; 0: of some it is not known. */
static double waste_of(const struct opened *opened, enum gpu_kind kind)
{
	double most = 1;

	for (uint32_t i = 0; i < opened->code.count; i++) {
		const struct gpu_instruction *in = &opened->code.instructions[i];
		double waste;

		if (in->kind != kind || in->space != GPU_SPACE_GLOBAL)
			continue;
		waste = lanes_waste(&opened->lanes.machine, &opened->lanes.values[i], in->bytes);
		if (!waste)
			return 0;
		most = fmax(most, waste);
	}
	return most;
}

static void test_waste(void **state)
{
	static const struct {
		const char *file, *name;
		uint32_t x, y;
		double load, store;
	} known[] = {{"more_faults", "fair_wide", 256, 1, 1, 1}, {"more_faults", "fair_narrow", 256, 1, 1, 1},
		{"more_faults", "fault_tail_memory", 1024, 1, 1, 1},
		{"more_faults", "fault_fields", 256, 1, 7.78, 1},
		{"more_faults", "mended_fields", 256, 1, 1, 1},
		{"more_faults", "fault_transpose", 32, 8, 1, 8},
		{"more_faults", "mended_transpose", 32, 8, 1, 1},
		{"more_faults", "fault_bytes", 256, 1, 1, 1}, {"more_faults", "mended_bytes", 256, 1, 1, 1},
		{"faults", "fault_strided", 256, 1, 8, 1}, {"faults", "mended_strided", 256, 1, 1, 1},
		{"faults", "fault_rolled", 256, 1, 1, 1}, {"faults", "fault_late_load", 256, 1, 1, 1}};

	(void)state;
	for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
		struct opened opened;

		kernel_open(&opened, known[k].file, known[k].name, known[k].x, known[k].y);
		print_message("%s: loads %.2f, stores %.2f\n", known[k].name,
			waste_of(&opened, GPU_KIND_LOAD), waste_of(&opened, GPU_KIND_STORE));
		assert_true(fabs(waste_of(&opened, GPU_KIND_LOAD) - known[k].load) < 0.01);
		assert_true(fabs(waste_of(&opened, GPU_KIND_STORE) - known[k].store) < 0.01);
		kernel_close(&opened);
	}
}

/* Other special registers than indexes, as masks of lanes, are not the same for a warp. */
static void test_special(void **state)
{
	const uint32_t block[3] = {256, 1, 1};
	struct opened opened;
	struct error error;
	unsigned patched = 0;

	(void)state;
	kernel_open(&opened, "faults", "mended_strided", 256, 1);
	assert_true(waste_of(&opened, GPU_KIND_LOAD) == 1);
	for (uint32_t i = 0; i < opened.code.count; i++) {
		const uint8_t *image = gpu_code_image(opened.binary, opened.code.addresses[i], 16);

		if (strcmp(opened.code.instructions[i].name, "S2R") != 0 || image[9] != 0x21)
			continue;
		((uint8_t *)opened.bytes)[image - (uint8_t *)opened.bytes + 9] = 0x38; /* SR_EQMASK */
		patched++;
	}
	assert_int_equal(patched, 1);
	lanes_fini(&opened.lanes);
	assert_int_equal(lanes_find(&opened.lanes, &opened.code, true, block, &error), 0);
	assert_true(waste_of(&opened, GPU_KIND_LOAD) == 0);
	kernel_close(&opened);
}

static void test_conflicts(void **state)
{
	static const struct {
		const char *file, *name;
		unsigned most;
	} known[] = {{"more_faults", "fault_banks2", 2}, {"more_faults", "fault_banks8", 8},
		{"more_faults", "mended_banks1", 1}, {"faults", "fault_banks", 32},
		{"faults", "mended_banks", 1}};

	(void)state;
	for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
		struct opened opened;
		unsigned most = 0;

		kernel_open(&opened, known[k].file, known[k].name, 256, 1);
		for (uint32_t i = 0; i < opened.code.count; i++) {
			const struct gpu_instruction *in = &opened.code.instructions[i];

			if (in->space == GPU_SPACE_SHARED && in->kind == GPU_KIND_LOAD &&
				lanes_conflicts(&opened.lanes.values[i], in->bytes) > most)
				most = lanes_conflicts(&opened.lanes.values[i], in->bytes);
		}
		print_message("%s: %u\n", known[k].name, most);
		assert_int_equal(most, known[k].most);
		kernel_close(&opened);
	}
}

static void test_single_accesses(void **state)
{
	const struct lanes_machine warp = {32, 32};
	struct lanes_value step = {.kind = LANES_STEP, .step = 16};

	(void)state;
	assert_true(lanes_waste(&warp, &step, 16) == 1); /* float4, coalesced */
	assert_true(lanes_waste(&warp, &step, 4) > 3);	 /* a field of 4 bytes of 16 */
	step.step = -4;
	assert_true(lanes_waste(&warp, &step, 4) == 1); /* backward */
	step.step = 0;
	assert_true(lanes_waste(&warp, &step, 4) == 1); /* all the same */
	step.kind = LANES_DATA;
	assert_true(lanes_waste(&warp, &step, 4) == 0); /* not known */
	step = (struct lanes_value){.kind = LANES_STEP, .step = 128};
	assert_int_equal(lanes_conflicts(&step, 4), 32);
	step.step = 132;
	assert_int_equal(lanes_conflicts(&step, 4), 1);
	step.step = 16;
	assert_int_equal(lanes_conflicts(&step, 16), 1);
}

/* ---- branches ---- */

static unsigned branches_of(const struct opened *opened, enum lanes_kind kind)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < opened->code.count; i++)
		count += opened->code.instructions[i].kind == GPU_KIND_CONTROL &&
			 strcmp(opened->code.instructions[i].name, "BRA") == 0 &&
			 opened->lanes.values[i].kind == kind;
	return count;
}

static void test_branches(void **state)
{
	static const struct {
		const char *file, *name;
		bool differs, by_data;
	} known[] = {{"faults", "fault_diverging", true, false}, {"faults", "mended_diverging", false, false},
		{"more_faults", "fault_trips", true, false}, {"more_faults", "mended_trips", false, false},
		{"more_faults", "fault_turns", true, false}, {"more_faults", "mended_turns", false, false},
		{"more_faults", "fault_data", false, true}, {"faults", "fault_rolled", false, false}};

	(void)state;
	for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
		struct opened opened;

		kernel_open(&opened, known[k].file, known[k].name, 256, 1);
		print_message("%s: %u, %u\n", known[k].name, branches_of(&opened, LANES_DIFFER),
			branches_of(&opened, LANES_DATA));
		assert_int_equal(branches_of(&opened, LANES_DIFFER) > 0, known[k].differs);
		assert_int_equal(branches_of(&opened, LANES_DATA) > 0, known[k].by_data);
		kernel_close(&opened);
	}
}

/* ---- what a loop does again ---- */

static void test_memory_use(void **state)
{
	static const struct {
		const char *name;
		bool repeats, multiplies;
	} known[] = {{"fault_reload", true, false}, {"mended_reload", false, false},
		{"fault_matrix", false, true}, {"mended_matrix", false, false},
		{"fault_staged", false, false}, {"fair_narrow", false, false}};

	(void)state;
	for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
		struct opened opened;
		struct memory_use use;
		struct cause_samples *samples;
		bool repeats = false, multiplies = false;

		kernel_open(&opened, "more_faults", known[k].name, 256, 1);
		samples = calloc(opened.code.count + 1, sizeof *samples);
		assert_non_null(samples);
		assert_true(memory_use_find(&use, &opened.code, &opened.lanes, samples));
		for (uint32_t i = 0; i < opened.code.count; i++)
			repeats |= use.is_repeated[i];
		for (uint32_t l = 0; l <= opened.code.loops.count; l++)
			multiplies |= use.scopes[l].is_product;
		print_message("%s: %d %d\n", known[k].name, repeats, multiplies);
		assert_int_equal(repeats, known[k].repeats);
		assert_int_equal(multiplies, known[k].multiplies);
		memory_use_fini(&use);
		free(samples);
		kernel_close(&opened);
	}
}

/* ---- where ways join ---- */

#define NODES 12u

struct graph {
	struct gpu_instruction instructions[NODES];
	uint32_t first_from[NODES + 1], from[2 * NODES], first_to[NODES + 1], to[2 * NODES];
	struct dependency_code code;
};

static void graph_draw(struct graph *graph)
{
	uint32_t edges = 0, back = 0;

	*graph = (struct graph){0};
	for (uint32_t i = 0; i < NODES; i++) {
		unsigned count = i + 1 == NODES ? 0 : (unsigned)rand() % 3; /* NOLINT: seeded */

		graph->instructions[i].name = "";
		graph->first_to[i] = edges;
		for (unsigned e = 0; e < count; e++)
			graph->to[edges++] = (uint32_t)rand() % NODES; /* NOLINT */
	}
	graph->first_to[NODES] = edges;
	for (uint32_t i = 0; i < NODES; i++) {
		graph->first_from[i] = back;
		for (uint32_t f = 0; f < NODES; f++)
			for (uint32_t e = graph->first_to[f]; e < graph->first_to[f + 1]; e++)
				if (graph->to[e] == i)
					graph->from[back++] = f;
	}
	graph->first_from[NODES] = back;
	graph->code = (struct dependency_code){
		graph->instructions, NODES, graph->first_from, graph->from, graph->first_to, graph->to};
}

/* True when an end can be reached without that instruction. */
static bool reaches_end(const struct graph *graph, uint32_t from, uint32_t without)
{
	bool met[NODES] = {false};
	uint32_t stack[NODES], depth = 0;

	if (from == without)
		return false;
	stack[depth++] = from;
	met[from] = true;
	while (depth) {
		uint32_t at = stack[--depth];

		if (graph->first_to[at] == graph->first_to[at + 1])
			return true;
		for (uint32_t e = graph->first_to[at]; e < graph->first_to[at + 1]; e++)
			if (graph->to[e] != without && !met[graph->to[e]]) {
				met[graph->to[e]] = true;
				stack[depth++] = graph->to[e];
			}
	}
	return false;
}

/* Of all that every way to an end leads over, the one that all others stand behind. */
static uint32_t naive_join(const struct graph *graph, uint32_t at)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t j = 0; j < NODES; j++) {
		bool is_nearer = best == UINT32_MAX || !reaches_end(graph, j, best);

		if (j != at && !reaches_end(graph, at, j) && reaches_end(graph, j, UINT32_MAX) && is_nearer)
			best = j;
	}
	return best;
}

static void test_joins(void **state)
{
	unsigned found = 0;

	(void)state;
	srand((unsigned)seed_take("blame_lanes", 7));
	for (unsigned round = 0; round < 3000; round++) {
		struct graph graph;
		struct parse_budget budget;
		uint32_t joins[NODES];

		graph_draw(&graph);
		parse_budget_allow(&budget, 1000, 0);
		assert_true(divergence_joins(&graph.code, joins, &budget));
		assert_false(budget.spent);
		for (uint32_t i = 0; i < NODES; i++)
			if (reaches_end(&graph, i, UINT32_MAX)) {
				assert_int_equal(joins[i], naive_join(&graph, i));
				found += joins[i] != UINT32_MAX;
			}
	}
	assert_true(found > 1000);
}

/* A spent budget ends the search: no join is known. */
static void test_joins_budget(void **state)
{
	struct graph graph;
	struct parse_budget budget;
	uint32_t joins[NODES];

	(void)state;
	srand((unsigned)seed_take("blame_lanes", 7));
	for (uint64_t steps = 0; steps < NODES; steps++) {
		do
			graph_draw(&graph);
		while (graph.first_to[0] == graph.first_to[1]);
		parse_budget_allow(&budget, steps, 0);
		assert_true(divergence_joins(&graph.code, joins, &budget));
		for (uint32_t i = 0; budget.spent && i < NODES; i++)
			assert_true(joins[i] == UINT32_MAX);
		assert_true(budget.spent || steps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_waste), cmocka_unit_test(test_special),
		cmocka_unit_test(test_conflicts), cmocka_unit_test(test_single_accesses),
		cmocka_unit_test(test_branches), cmocka_unit_test(test_memory_use),
		cmocka_unit_test(test_joins), cmocka_unit_test(test_joins_budget)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
