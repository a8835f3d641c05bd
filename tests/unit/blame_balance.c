/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_balance.c - waits at a barrier by work that few warps do:
 *
 *   0 -> 1 -> 2 (branch) -> 5 (barrier)       all 8 warps, 800 samples each that issued
 *             2 -> 3 -> 4 -> 5                one of them
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blame/stalls/balance.h"
#include "blame/stalls/executions.h"

#define CODE 6u
#define BARRIER 5u

struct code {
	struct gpu_instruction instructions[CODE];
	struct cause_samples samples[CODE];
	uint32_t loop_of[CODE];
	struct kernel_function function;
};

static void code_make(struct code *code, double few)
{
	static const uint32_t first_to[CODE + 1] = {0, 1, 2, 4, 5, 6, 6}, to[] = {1, 2, 3, 5, 4, 5};
	static const uint32_t first_from[CODE + 1] = {0, 0, 1, 2, 3, 4, 6}, from[] = {0, 1, 2, 3, 2, 4};

	*code = (struct code){0};
	for (uint32_t i = 0; i < CODE; i++) {
		code->loop_of[i] = LOOP_NONE;
		code->samples[i].all[STALL_NONE] = i == 3 || i == 4 ? few : 800;
	}
	code->instructions[BARRIER].kind = GPU_KIND_BARRIER;
	code->function.samples = code->samples;
	code->function.code.instructions = code->instructions;
	code->function.code.loop_of = code->loop_of;
	code->function.code.count = CODE;
	code->function.code.flow = (struct dependency_code){.instructions = code->instructions,
		.count = CODE,
		.first_from = first_from,
		.from = from,
		.first_to = first_to,
		.to = to};
}

static double uneven(struct code *code)
{
	struct parse_budget budget;

	parse_budget_allow(&budget, 1000, 0);
	return balance_uneven(&code->function, BARRIER, 1, &budget);
}

static void test_one_of_eight(void **state)
{
	struct code code;

	(void)state;
	code_make(&code, 100);
	code.samples[4].all[STALL_GMEM] = 300; /* 500 in all: seven wait as long */
	assert_true(uneven(&code) > 3499.9 && uneven(&code) < 3500.1);
}

static void test_all(void **state)
{
	struct code code;

	(void)state;
	code_make(&code, 790); /* as good as all */
	code.samples[4].all[STALL_GMEM] = 300;
	assert_true(uneven(&code) == 0);
	code_make(&code, 9); /* too few samples tell nothing */
	assert_true(uneven(&code) == 0);
}

/* A block as a whole tells how often it ran; the barrier's block begins where ways join. */
static void test_executions(void **state)
{
	struct code code;
	struct executions executions;

	(void)state;
	code_make(&code, 100);
	executions = executions_from(&code.function.code.flow, code.samples, 2, 0);
	assert_int_equal(executions.count, 3);
	assert_true(executions_mean(executions) == 400);
	assert_true(executions_variance(executions) > 133 && executions_variance(executions) < 134);
	assert_int_equal(executions_block(&code.function.code.flow, 2), 0);
	assert_int_equal(executions_block(&code.function.code.flow, 4), 3);
	assert_int_equal(executions_block(&code.function.code.flow, BARRIER), BARRIER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_of_eight), cmocka_unit_test(test_all),
		cmocka_unit_test(test_executions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
