/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_lanes_amd.c - how threads of a wave differ in AMD's code: accesses and branches of compiled kernels
 * whose sources (tests/gpu/amd_lanes.cl) tell, for two families of processors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blame/stalls/lanes.h"
#include "tests/unit/gpu_binary.h"

struct found {
	double waste;	    /* of the largest access of global memory in a loop; 0: none is known */
	unsigned conflicts; /* most */
	int branch;	    /* kind of the branch by EXEC; -1: there is none */
};

static void found_take(
	struct found *found, const struct kernel_code *code, const struct lanes *lanes, uint32_t i)
{
	const struct gpu_instruction *in = &code->instructions[i];

	if (code->loop_of[i] != LOOP_NONE && in->kind == GPU_KIND_LOAD && in->space == GPU_SPACE_GLOBAL)
		found->waste = lanes_waste(&lanes->machine, &lanes->values[i], in->bytes);
	if (code->loop_of[i] != LOOP_NONE && in->kind == GPU_KIND_LOAD && in->space == GPU_SPACE_SHARED)
		found->conflicts = lanes_conflicts(&lanes->values[i], in->bytes);
	if (strcmp(in->name, "s_cbranch_execz") == 0)
		found->branch = lanes->values[i].kind;
}

static struct found kernel_look(const char *processor, const char *name)
{
	const uint32_t block[3] = {256, 1, 1};
	struct found found = {.branch = -1};
	const struct gpu_function *functions;
	struct gpu_code *binary;
	struct kernel_code code;
	struct lanes lanes;
	struct error error;
	char path[512];
	void *bytes;
	size_t count, f;

	snprintf(path, sizeof path, GPU_BINARIES "/amd_lanes-%s.co", processor);
	binary = gpu_file_open(path, &bytes);
	functions = gpu_code_functions(binary, &count);
	for (f = 0; f < count && strcmp(functions[f].name, name) != 0; f++)
		;
	assert_true(f < count);
	assert_int_equal(kernel_code_read(&code, binary, &functions[f], &error), 0);
	assert_int_equal(lanes_find(&lanes, &code, true, block, &error), 0);
	for (uint32_t i = 0; i < code.count; i++)
		found_take(&found, &code, &lanes, i);
	lanes_fini(&lanes);
	kernel_code_fini(&code);
	gpu_code_close(binary);
	free(bytes);
	return found;
}

static const char *const processors[] = {"gfx900", "gfx90a"};

static void test_accesses(void **state)
{
	(void)state;
	for (size_t p = 0; p < sizeof processors / sizeof *processors; p++) {
		assert_true(kernel_look(processors[p], "coalesced").waste == 1);
		/* 64 threads of 32 bytes each, in lines of 64: all of 8 floats but one in vain. */
		assert_true(kernel_look(processors[p], "strided").waste > 7.8);
		assert_true(kernel_look(processors[p], "strided").waste < 8);
		assert_int_equal(kernel_look(processors[p], "column").conflicts, 32);
		assert_int_equal(kernel_look(processors[p], "padded").conflicts, 1);
	}
}

static void test_branches(void **state)
{
	(void)state;
	for (size_t p = 0; p < sizeof processors / sizeof *processors; p++) {
		assert_int_equal(kernel_look(processors[p], "neighbours").branch, LANES_DIFFER);
		assert_int_equal(kernel_look(processors[p], "waves").branch, LANES_STEP);
		assert_int_equal(kernel_look(processors[p], "data").branch, LANES_DATA);
		assert_int_equal(kernel_look(processors[p], "coalesced").branch, -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_accesses), cmocka_unit_test(test_branches)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
