/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_tensor_copies.c - Hopper's copies of tensors and blocks: which uniform registers they use, by kernels
 * of one copy each whose operands PTX tells (tests/gpu/tensor_forms.cu), and which barrier they tell
 * (tensor_copies.cu).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blame/stalls/shared_barrier.h"
#include "tests/unit/gpu_binary.h"

struct opened {
	void *bytes;
	struct gpu_code *binary;
	struct kernel_code code;
};

static void kernel_open(struct opened *opened, const char *file, const char *name)
{
	const struct gpu_function *functions;
	struct error error;
	char path[512];
	size_t count, f;

	snprintf(path, sizeof path, GPU_BINARIES "/%s-sm90.cubin", file);
	opened->binary = gpu_file_open(path, &opened->bytes);
	functions = gpu_code_functions(opened->binary, &count);
	for (f = 0; f < count && strcmp(functions[f].name, name) != 0; f++)
		;
	assert_true(f < count);
	assert_int_equal(kernel_code_read(&opened->code, opened->binary, &functions[f], &error), 0);
}

static void kernel_close(struct opened *opened)
{
	kernel_code_fini(&opened->code);
	gpu_code_close(opened->binary);
	free(opened->bytes);
}

/* Words: 2 of the map's address, 1 of a place in shared memory, 1 of the barrier, 1 of each coordinate, 2 of
 * a hint, 1 of a mask of blocks or of offsets; 2 of a place in global memory, 1 of a size. */
static void test_operands(void **state)
{
	static const struct {
		const char *kernel, *copy;
		int words;
	} forms[] = {{"l1", "UTMALDG", 2 + 2 + 1}, {"l2", "UTMALDG", 2 + 2 + 2}, {"l3", "UTMALDG", 2 + 2 + 3},
		{"l4", "UTMALDG", 2 + 2 + 4}, {"l5", "UTMALDG", 2 + 2 + 5}, {"l2h", "UTMALDG", 2 + 2 + 2 + 2},
		{"l2m", "UTMALDG", 2 + 2 + 2 + 1}, {"l2mh", "UTMALDG", 2 + 2 + 2 + 1 + 2},
		{"l4i", "UTMALDG", 2 + 2 + 4 + 1}, {"s1", "UTMASTG", 2 + 1 + 1}, {"s3", "UTMASTG", 2 + 1 + 3},
		{"s5", "UTMASTG", 2 + 1 + 5}, {"s2h", "UTMASTG", 2 + 1 + 2 + 2},
		{"r3", "UTMAREDG", 2 + 1 + 3}, {"p2", "UTMAPF", 2 + 2}, {"p5", "UTMAPF", 2 + 5},
		{"pm", "UTMACCTL", 2}, {"pb", "UBLKPF", 2 + 1}, {"rb", "UBLKRED", 1 + 2 + 1},
		{"sh", "UBLKCP", 1 + 2 + 1}};

	(void)state;
	for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
		struct opened opened;
		unsigned found = 0;

		kernel_open(&opened, "tensor_forms", forms[f].kernel);
		for (uint32_t i = 0; i < opened.code.count; i++) {
			const struct gpu_instruction *in = &opened.code.instructions[i];

			if (strcmp(in->name, forms[f].copy) != 0)
				continue;
			found++;
			assert_int_equal(in->kind, GPU_KIND_COPY);
			assert_int_equal(
				__builtin_popcountll(in->uses.words[GPU_UNIFORM / 64]), forms[f].words);
		}
		assert_int_equal(found, 1);
		assert_int_equal(opened.code.opaque, 0);
		kernel_close(&opened);
	}
}

/* The place of the barrier of the instruction at this offset; -1: not known. */
static int64_t place_of(const struct opened *opened, uint64_t offset, enum shared_barrier_use use)
{
	struct dependency_slice *slice = dependency_slice_new(&opened->code.flow, 1000, NULL);
	uint32_t at = kernel_code_find(&opened->code, opened->code.start + offset);
	int64_t place;

	assert_non_null(slice);
	assert_int_equal(shared_barrier_use(&opened->code, at), use);
	if (!shared_barrier_place(&opened->code, slice, at, &place))
		place = -1;
	dependency_slice_free(slice);
	return place;
}

static void test_places(void **state)
{
	struct opened opened;
	int64_t full, empty;

	(void)state;
	kernel_open(&opened, "tensor_copies", "rows_bulk");
	full = place_of(&opened, 0x360, SHARED_BARRIER_WAITS);
	empty = place_of(&opened, 0x760, SHARED_BARRIER_WAITS);
	assert_true(full > 0);
	assert_int_equal(empty, full + 16); /* behind two barriers of 8 bytes */
	assert_int_equal(place_of(&opened, 0x480, SHARED_BARRIER_ARRIVES), empty);
	assert_int_equal(place_of(&opened, 0x880, SHARED_BARRIER_COPIES), full);
	kernel_close(&opened);
	/* Out of shared memory no barrier is told. */
	kernel_open(&opened, "tensor_copies", "rows_stored");
	assert_int_equal(place_of(&opened, 0x200, SHARED_BARRIER_COPIES), -1);
	kernel_close(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_operands), cmocka_unit_test(test_places)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
