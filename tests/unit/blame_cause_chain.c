/* SPDX-License-Identifier: Apache-2.0 */
/* blame_cause_chain.c - from a hotspot back to the root: the strongest cause at each step, loops, weak
 * shares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "blame/stalls/cause_chain.h"
#include "timeline/code/gpu_code_internal.h"

#define CODE 8u

static struct cause cause(uint32_t define, uint32_t use, enum cause_class class, double samples)
{
	return (struct cause){.define = define,
		.use = use,
		.stall = STALL_IDEP,
		.class = (uint8_t) class,
		.samples = samples};
}

/* The chain from an instruction of a function with these causes, ordered by use. */
static void check_chain(const struct cause *list, size_t count, uint32_t from, unsigned steps,
	const uint32_t *defines, const double *shares)
{
	struct cause_samples samples[CODE] = {0};
	struct cause causes[CODE];
	struct kernel_function function = {.code.count = CODE, .samples = samples};
	struct cause_step found[CAUSE_CHAIN_MAX];

	for (size_t i = 0; i < count; i++) {
		causes[i] = list[i];
		samples[list[i].use].all[STALL_IDEP] += list[i].samples;
		samples[list[i].use].all[STALL_NONE] = 1000; /* issued: no stall */
	}
	function.causes = (struct causes){.list = causes, .count = count};
	assert_int_equal(steps, cause_chain_find(&(struct kernel){0}, &function, from, found));
	for (unsigned i = 0; i < steps; i++) {
		assert_int_equal(defines[i], found[i].cause->define);
		assert_true(found[i].share > shares[i] - 1e-9 && found[i].share < shares[i] + 1e-9);
	}
}

static void test_strongest(void **state)
{
	const struct cause list[] = {cause(2, 4, CAUSE_ARITHMETIC, 50), cause(4, 4, CAUSE_SELF, 150),
		cause(3, 5, CAUSE_SHARED, 30), cause(4, 5, CAUSE_GLOBAL, 70)};

	(void)state;
	check_chain(list, 4, 5, 2, (uint32_t[]){4, 2}, (double[]){0.7, 0.25});
	check_chain(list, 4, 3, 0, NULL, NULL); /* does not stall */
}

static void test_weak(void **state)
{
	const struct cause list[] = {cause(1, 2, CAUSE_ARITHMETIC, 9), cause(2, 2, CAUSE_SELF, 91)};

	(void)state;
	check_chain(list, 2, 2, 0, NULL, NULL);
}

/* Around a loop: once. */
static void test_loop(void **state)
{
	const struct cause list[] = {cause(3, 1, CAUSE_GLOBAL, 10), cause(1, 2, CAUSE_ARITHMETIC, 10),
		cause(2, 3, CAUSE_ARITHMETIC, 10)};

	(void)state;
	check_chain(list, 3, 3, 2, (uint32_t[]){2, 1}, (double[]){1, 1});
}

/* A register that `fans` instructions between the same two branches define, the first by a load that is
 * waited for. Returns the steps back from what uses it. */
static unsigned fan_steps(uint32_t fans)
{
	const uint32_t hub = fans, from = fans + 1, wait = fans + 2, count = fans + 3;
	struct gpu_instruction *instructions = calloc(count, sizeof *instructions);
	struct cause_samples *samples = calloc(count, sizeof *samples);
	uint32_t *first = calloc(count + 1u, sizeof *first), *none = calloc(count + 1u, sizeof *none);
	uint32_t *before = calloc(2 * count, sizeof *before);
	struct cause waited = cause(0, wait, CAUSE_GLOBAL, 10);
	struct kernel_function function = {.samples = samples, .causes = {.list = &waited, .count = 1}};
	struct cause_step found[CAUSE_CHAIN_MAX];
	unsigned steps;

	assert_true(instructions && samples && first && none && before);
	for (uint32_t i = 0; i < count; i++) {
		instructions[i].guard = GPU_ALWAYS;
		if (i < fans)
			gpu_set_add(&instructions[i].defines, 1);
		if (i < fans || i == from)
			gpu_set_add(&instructions[i].uses, 1);
		/* Before the hub are all of them, before all others it. */
		for (uint32_t fan = 0; i == hub && fan < fans; fan++)
			before[first[i] + fan] = fan;
		if (i != hub)
			before[first[i]] = hub;
		first[i + 1] = first[i] + (i == hub ? fans : 1);
	}
	instructions[0].counts = 1;
	instructions[wait].waits = 1;
	samples[wait].all[STALL_GMEM] = 10;
	function.code.isa = &gpu_isa_gcn;
	function.code.count = count;
	function.code.instructions = instructions;
	function.code.flow = (struct dependency_code){.instructions = instructions,
		.count = count,
		.first_from = first,
		.from = before,
		.first_to = none,
		.to = none};
	steps = cause_chain_find(&(struct kernel){0}, &function, from, found);
	free(instructions);
	free(samples);
	free(first);
	free(none);
	free(before);
	return steps;
}

/* Code that was made to take long is given up. */
static void test_budget(void **state)
{
	(void)state;
	assert_int_equal(fan_steps(50), 1);
	assert_int_equal(fan_steps(4000), 0);
}

/* Two instructions of one line, whose file the line table names twice, stall longer than one of another line:
 * through the barrier behind them the chain leads to their line, and there to the one that stalls more. */
static void one_line_by_the_name_of_its_file(void **state)
{
	static const struct gpu_isa isa = {.vendor = GPU_VENDOR_NVIDIA};
	char name[] = "a.cu", again[] = "a.cu";
	struct gpu_line lines[] = {{.address = 0, .file = name, .line = 3},
		{.address = 16, .file = "b.cu", .line = 3}, {.address = 32, .file = again, .line = 3},
		{.address = 48, .file = name, .line = 4}};
	struct gpu_code binary = {.has_lines = true, .lines = lines, .line_count = 4};
	struct gpu_instruction instructions[4] = {{.guard = GPU_ALWAYS}, {.guard = GPU_ALWAYS},
		{.guard = GPU_ALWAYS}, {.guard = GPU_ALWAYS, .kind = GPU_KIND_BARRIER}};
	uint64_t addresses[] = {0, 16, 32, 48};
	uint32_t first[] = {0, 0, 1, 2, 3}, before[] = {0, 1, 2};
	struct cause_samples samples[4] = {{{0}}};
	struct kernel_function function = {.is_kernel = true,
		.samples = samples,
		.code = {.binary = &binary,
			.isa = &isa,
			.instructions = instructions,
			.addresses = addresses,
			.count = 4,
			.flow = {.instructions = instructions,
				.count = 4,
				.first_from = first,
				.from = before,
				.first_to = first,
				.to = before}}};
	struct cause_step found[CAUSE_CHAIN_MAX];

	(void)state;
	samples[0].all[STALL_GMEM] = 40;
	samples[1].all[STALL_GMEM] = 50;
	samples[2].all[STALL_GMEM] = 35;
	assert_int_equal(cause_chain_find(&(struct kernel){0}, &function, 3, found), 1);
	assert_int_equal(found[0].link, CAUSE_LINK_BARRIER);
	assert_int_equal(found[0].at, 0);
	assert_true(found[0].share > 0.59 && found[0].share < 0.61);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_strongest), cmocka_unit_test(test_weak),
		cmocka_unit_test(test_loop), cmocka_unit_test(test_budget),
		cmocka_unit_test(one_line_by_the_name_of_its_file)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
