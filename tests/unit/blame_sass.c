/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_sass.c - operands of NVIDIA's machine code. Beside instructions with a known answer, compiled kernels
 * are the truth: a compiler reads no register that nothing wrote, computes nothing that nothing reads, and
 * waits for no barrier that nothing sets. Most wrong fields, widths and operands break one of the three; what
 * keeps them all is held to NVIDIA's disassembler.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blame/stalls/kernel_code.h"

#define WORDS ((GPU_RESOURCES + 63) / 64)
#define R(number) (number)
#define UR(number) (GPU_UNIFORM + (number))
#define P(number) (GPU_PREDICATE + (number))
#define B(number) (GPU_BARRIER + (number))
#define NOTHING GPU_RESOURCES

/* ---- single instructions ---- */

struct expected {
	uint64_t low, high;
	const char *name;
	enum gpu_kind kind;
	enum gpu_space space;
	unsigned defines[6], uses[8]; /* ended by NOTHING */
};

static const struct expected expected[] = {
	/* LDG.E R0, [R2.64]; sets B2 */
	{0x0000000402007981, 0x000ea2000c1e1900, "LDG", GPU_KIND_LOAD, GPU_SPACE_GLOBAL,
		{R(0), B(2), NOTHING}, {R(2), R(3), UR(4), UR(5), NOTHING}},
	/* @P0 LDG.E.64 */
	{0x0000000402000981, 0x000ea2000c1e1b00, "LDG", GPU_KIND_LOAD, GPU_SPACE_GLOBAL,
		{R(0), R(1), B(2), NOTHING}, {R(2), R(3), UR(4), UR(5), P(0), NOTHING}},
	/* IADD3 R4, P1, R2, R6, RZ */
	{0x0000000602047210, 0x000fe40007f3e0ff, "IADD3", GPU_KIND_INTEGER, GPU_SPACE_NONE,
		{R(4), P(1), NOTHING}, {R(2), R(6), NOTHING}},
	/* FFMA R9, R0, c[0x0][0x160], R5; waits for B2 */
	{0x0000580000097a23, 0x004fe20000000005, "FFMA", GPU_KIND_FLOAT, GPU_SPACE_NONE, {R(9), NOTHING},
		{R(0), R(5), B(2), NOTHING}},
	/* DFMA R4, R2, R6, R8 */
	{0x000000060204722b, 0x000fc80000000008, "DFMA", GPU_KIND_DOUBLE, GPU_SPACE_NONE,
		{R(4), R(5), NOTHING}, {R(2), R(3), R(6), R(7), R(8), R(9), NOTHING}},
	/* STS [R4], R7 */
	{0x0000000704007388, 0x0005e20000000800, "STS", GPU_KIND_STORE, GPU_SPACE_SHARED, {B(2), NOTHING},
		{R(4), R(7), NOTHING}},
	/* BAR.SYNC 0x0 */
	{0x0000000000007b1d, 0x000fec0000010000, "BAR", GPU_KIND_BARRIER, GPU_SPACE_NONE, {NOTHING},
		{NOTHING}},
};

static void assert_set(const struct gpu_set *set, const unsigned *wanted)
{
	struct gpu_set want = {{0}};

	for (; *wanted != NOTHING; wanted++)
		gpu_set_add(&want, *wanted);
	for (unsigned r = 0; r < GPU_RESOURCES; r++)
		if (gpu_set_has(set, r) != gpu_set_has(&want, r))
			fail_msg("resource %u is %s", r, gpu_set_has(set, r) ? "there" : "missing");
}

static void test_instructions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		struct gpu_instruction in;

		assert_true(sass_instruction(expected[i].low, expected[i].high, &in));
		assert_string_equal(in.name, expected[i].name);
		assert_int_equal(in.kind, expected[i].kind);
		assert_int_equal(in.space, expected[i].space);
		print_message("%s\n", in.name);
		assert_set(&in.defines, expected[i].defines);
		assert_set(&in.uses, expected[i].uses);
	}
}

/* Unknown operations keep what all have. */
static void test_opaque(void **state)
{
	struct gpu_instruction in;

	(void)state;
	assert_false(sass_instruction(
		0x00000000000001ff | 3 << 12, UINT64_C(0x2a) << 52 | UINT64_C(1) << 46, &in));
	assert_int_equal(in.kind, GPU_KIND_OPAQUE);
	assert_int_equal(in.guard, 3);
	assert_int_equal(in.wait_mask, 0x2a);
	assert_int_equal(in.write_barrier, 1);
}

/* ---- laws of compiled code ---- */

struct flow {
	uint64_t (*in)[WORDS], (*out)[WORDS];
};

static void reach_forward(const struct kernel_code *code, uint64_t (*in)[WORDS])
{
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 0; i < code->count; i++)
			for (uint32_t e = code->first_from[i]; e < code->first_from[i + 1]; e++)
				for (unsigned w = 0; w < WORDS; w++) {
					uint32_t from = code->from[e];
					uint64_t now =
						in[from][w] | code->instructions[from].defines.words[w];

					more |= (now & ~in[i][w]) != 0;
					in[i][w] |= now;
				}
	}
}

static void reach_backward(const struct kernel_code *code, uint64_t (*out)[WORDS])
{
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = code->count; i-- > 0;)
			for (uint32_t e = code->first_to[i]; e < code->first_to[i + 1]; e++)
				for (unsigned w = 0; w < WORDS; w++) {
					const struct gpu_instruction *to = &code->instructions[code->to[e]];
					uint64_t killed = to->guard == GPU_ALWAYS ? to->defines.words[w] : 0;
					uint64_t now = to->uses.words[w] | (out[code->to[e]][w] & ~killed);

					more |= (now & ~out[i][w]) != 0;
					out[i][w] |= now;
				}
	}
}

static bool has_part(
	const struct gpu_set *set, const uint64_t *of, unsigned from, unsigned to, bool wants_all)
{
	bool is_any = false, is_all = true;

	for (unsigned r = from; r < to; r++)
		if (gpu_set_has(set, r)) {
			is_any |= of[r / 64] >> r % 64 & 1;
			is_all &= of[r / 64] >> r % 64 & 1;
		}
	return wants_all ? is_all : is_any;
}

static bool defines_any(const struct gpu_instruction *in)
{
	for (unsigned r = 0; r < GPU_BARRIER; r++)
		if (gpu_set_has(&in->defines, r))
			return true;
	return false;
}

struct tally {
	unsigned instructions, opaque, unwritten, unread, unset;
};

static bool is_whole(const struct kernel_code *code)
{
	for (uint32_t i = 0; i < code->count; i++)
		if (strncmp(code->instructions[i].name, "CALL", 4) == 0)
			return false; /* registers are a callee's arguments, too */
	return !code->opaque;
}

static void kernel_check(const struct kernel_code *code, struct tally *tally)
{
	uint64_t(*in)[WORDS] = calloc(code->count + 1, sizeof *in),
	(*out)[WORDS] = calloc(code->count + 1, sizeof *out);
	bool whole = is_whole(code);

	reach_forward(code, in);
	reach_backward(code, out);
	for (uint32_t i = 0; i < code->count; i++) {
		const struct gpu_instruction *at = &code->instructions[i];
		uint64_t set = in[i][GPU_BARRIER / 64] >> GPU_BARRIER % 64;

		tally->instructions++;
		tally->opaque += at->kind == GPU_KIND_OPAQUE;
		if (whole && at->space != GPU_SPACE_TEXTURE &&
			!has_part(&at->uses, in[i], 0, GPU_BARRIER, true)) {
			tally->unwritten++;
			print_message("%s+0x%llx %s reads what nothing wrote\n", code->name,
				(unsigned long long)(code->addresses[i] - code->start), at->name);
		}
		/* R1 is the stack, needed or not. Stores of predicates beside a result are not always read.
		 */
		if (whole && defines_any(at) && !gpu_set_has(&at->defines, 1) &&
			!has_part(&at->defines, out[i], 0, GPU_BARRIER, false)) {
			tally->unread++;
			print_message("%s+0x%llx %s writes what nothing reads\n", code->name,
				(unsigned long long)(code->addresses[i] - code->start), at->name);
		}
		tally->unset += (at->wait_mask & ~set & 0x3f) != 0;
	}
	free(in);
	free(out);
}

static void binary_check(const char *name, struct tally *tally)
{
	static uint8_t bytes[1 << 18];
	char path[512];
	const struct gpu_function *functions;
	struct gpu_code *binary;
	struct error error;
	size_t size, count;
	FILE *file;

	snprintf(path, sizeof path, GPU_BINARIES "/%s", name);
	file = fopen(path, "rb");
	assert_non_null(file);
	size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	assert_int_equal(gpu_code_open(&binary, bytes, size, &error), 0);
	functions = gpu_code_functions(binary, &count);
	for (size_t i = 0; i < count; i++) {
		struct kernel_code code;

		if (!functions[i].is_kernel)
			continue;
		assert_int_equal(kernel_code_read(&code, binary, &functions[i], &error), 0);
		kernel_check(&code, tally);
		kernel_code_fini(&code);
	}
	gpu_code_close(binary);
}

static void test_laws(void **state)
{
	static const struct {
		const char *name;
		unsigned least, opaque,
			unread; /* what a compiler left unread on purpose: results of asm volatile */
	} binaries[] = {{"operations-sm80.cubin", 2500, 0, 0}, {"operations-sm90.cubin", 2700, 0, 0},
		{"flow-sm75.cubin", 100, 0, 0}, {"flow-sm90.cubin", 100, 0, 0},
		{"table-sm90.cubin", 10, 0, 0}, {"field-sm75.cubin", 10, 0, 0},
		{"field-sm90.cubin", 10, 0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
		struct tally tally = {0};

		binary_check(binaries[i].name, &tally);
		print_message("%s: %u instructions, %u opaque\n", binaries[i].name, tally.instructions,
			tally.opaque);
		assert_true(tally.instructions >= binaries[i].least);
		assert_int_equal(tally.opaque, binaries[i].opaque);
		assert_int_equal(tally.unwritten, 0);
		assert_int_equal(tally.unset, 0);
		assert_true(tally.unread <= binaries[i].unread);
	}
}

/* ---- what NVIDIA's disassembler says ---- */

static void set_parse(struct gpu_set *set, const char *text)
{
	static const struct {
		char letter;
		unsigned first;
	} kinds[] = {{'R', 0}, {'U', GPU_UNIFORM}, {'P', GPU_PREDICATE}, {'Q', GPU_UNIFORM_PREDICATE}};

	*set = (struct gpu_set){{0}};
	while (*text && *text != '-') {
		char letter = *text++;

		for (unsigned k = 0; k < 4; k++)
			if (kinds[k].letter == letter)
				gpu_set_add(set, kinds[k].first + (unsigned)strtoul(text, NULL, 10));
		text += strspn(text, "0123456789");
		text += *text == ',';
	}
}

static bool is_equal(struct gpu_set *a, const struct gpu_set *b)
{
	struct gpu_set left = *a, right = *b;

	for (unsigned w = GPU_BARRIER / 64; w < WORDS; w++) {
		uint64_t mask = w == GPU_BARRIER / 64 ? (UINT64_C(1) << GPU_BARRIER % 64) - 1 : 0;

		left.words[w] &= mask;
		right.words[w] &= mask;
	}
	return memcmp(&left, &right, sizeof left) == 0;
}

/* Each kind of instruction in operations.cu and faults.cu, for four generations. */
static void test_disassembler(void **state)
{
	FILE *file = fopen(GPU_BINARIES "/operands.tsv", "r");
	unsigned generation, count = 0, wrong = 0;
	unsigned long long low, high;
	char defines[256], uses[256];

	(void)state;
	assert_non_null(file);
	while (fscanf(file, "%u %llx %llx %255s %255s", &generation, &low, &high, defines, uses) == 5) {
		struct gpu_set want_defines, want_uses;
		struct gpu_instruction in;

		set_parse(&want_defines, defines);
		set_parse(&want_uses, uses);
		count++;
		if (!sass_instruction(low, high, &in) || !is_equal(&in.defines, &want_defines) ||
			!is_equal(&in.uses, &want_uses)) {
			wrong++;
			print_message("%s %016llx %016llx: %s, %s\n", in.name, high, low, defines, uses);
		}
	}
	fclose(file);
	assert_true(count > 1000);
	assert_true(wrong * 1000 <= count * 5); /* exact for 99.5 % */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_instructions), cmocka_unit_test(test_opaque),
		cmocka_unit_test(test_laws), cmocka_unit_test(test_disassembler)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
