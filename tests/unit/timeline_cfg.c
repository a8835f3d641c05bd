/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.timeline.cfg - control-flow graphs of hand-made code for x86-64 and arm64: what is reached, switches
 * through tables, calls that do not return, and noise.
 */
#include <elf.h>
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
#include "timeline/code/cfg.h"
#include "timeline/code/loop_forest.h"

static struct parse_budget plenty(void)
{
	return (struct parse_budget){.steps_left = 1000000};
}

#define CODE_AT 0x1000u
#define DATA_AT 0x3000u
#define ABORT_AT 0x9000u

struct program {
	uint8_t code[256], data[256];
	size_t code_bytes, data_bytes;
};

static const uint8_t *program_image(void *context, uint64_t address, size_t size)
{
	const struct program *program = context;

	if (address >= DATA_AT && address - DATA_AT + size <= program->data_bytes)
		return program->data + (address - DATA_AT);
	if (address >= CODE_AT && address - CODE_AT + size <= program->code_bytes)
		return program->code + (address - CODE_AT);
	return NULL;
}

static bool program_returns(void *context, uint64_t target, uint64_t slot)
{
	(void)context;
	(void)slot;
	return target != ABORT_AT;
}

struct outcome {
	struct cfg cfg;
	struct loop_forest forest;
	bool is_skipped;
};

static struct outcome analyse(
	struct program *program, unsigned machine, const struct cfg_pad *pads, size_t pad_count)
{
	struct cfg_code code = {.ranges = {{CODE_AT, CODE_AT + program->code_bytes}},
		.range_count = 1,
		.entry = CODE_AT,
		.pads = pads,
		.pad_count = pad_count,
		.image = program_image,
		.returns = program_returns,
		.context = program};
	struct outcome outcome = {.is_skipped = decoder_lacks(machine) != NULL};
	struct parse_budget budget = plenty();
	struct decoder *decoder;
	struct loop_graph graph;
	uint32_t *first;

	if (outcome.is_skipped)
		return outcome;
	assert_int_equal(decoder_open(&decoder, machine), 0);
	assert_int_equal(cfg_build(&outcome.cfg, &code, decoder, &budget), 0);
	decoder_close(decoder);
	first = calloc(outcome.cfg.block_count + 1, sizeof *first);
	for (uint32_t i = 0; i < outcome.cfg.block_count; i++)
		first[i] = outcome.cfg.blocks[i].edge;
	first[outcome.cfg.block_count] = outcome.cfg.edge_count;
	graph = (struct loop_graph){first, outcome.cfg.edges, outcome.cfg.block_count, outcome.cfg.entry};
	assert_int_equal(loop_forest_build(&outcome.forest, &graph, &budget), 0);
	free(first);
	return outcome;
}

static void outcome_fini(struct outcome *outcome)
{
	cfg_fini(&outcome->cfg);
	loop_forest_fini(&outcome->forest);
}

/* Depth of the loops at an offset of the code, 0: in none. */
static unsigned depth_at(const struct outcome *outcome, uint64_t offset)
{
	uint32_t block = cfg_find(&outcome->cfg, CODE_AT + offset), loop;

	assert_int_not_equal(block, CFG_NONE);
	loop = outcome->forest.of_node[block];
	return loop == LOOP_NONE ? 0 : outcome->forest.loops[loop].depth;
}

static struct program program_of(const void *code, size_t size)
{
	struct program program = {.code_bytes = size};

	memcpy(program.code, code, size);
	return program;
}

#define X86(...) program_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void test_x86_plain(void **state)
{
	/* xor eax,eax; 2: inc eax; 4: inc ecx; cmp ecx,9; jne 4; cmp eax,9; jne 2; ret */
	struct program program = X86(0x31, 0xc0, 0xff, 0xc0, 0xff, 0xc1, 0x83, 0xf9, 0x09, 0x75, 0xf9, 0x83,
		0xf8, 0x09, 0x75, 0xf2, 0xc3);
	struct outcome outcome = analyse(&program, EM_X86_64, NULL, 0);

	(void)state;
	if (outcome.is_skipped)
		skip();
	assert_int_equal(outcome.forest.count, 2);
	assert_int_equal(depth_at(&outcome, 0), 0);
	assert_int_equal(depth_at(&outcome, 2), 1);
	assert_int_equal(depth_at(&outcome, 4), 2);
	assert_int_equal(depth_at(&outcome, 11), 1);
	assert_int_equal(depth_at(&outcome, 16), 0);
	outcome_fini(&outcome);
}

/* tilerelease and tdpbssd (AMX), and two bytes that are no instruction at all. */
static void test_x86_unknown(void **state)
{
	/* 0: inc eax; 2: tilerelease; 7: tdpbssd; 12: 06 06; 14: cmp eax,9; 17: jne 0; 19: ret */
	struct program program = X86(0xff, 0xc0, 0xc4, 0xe2, 0x78, 0x49, 0xc0, 0xc4, 0xe2, 0x73, 0x5e, 0xc2,
		0x06, 0x06, 0x83, 0xf8, 0x09, 0x75, 0xed, 0xc3);
	struct outcome outcome = analyse(&program, EM_X86_64, NULL, 0);

	(void)state;
	if (outcome.is_skipped)
		skip();
	assert_true(outcome.cfg.bad_instructions >= 2);
	assert_int_equal(outcome.forest.count, 1);
	assert_int_equal(depth_at(&outcome, 0), 1);
	assert_int_equal(depth_at(&outcome, 14), 1);
	assert_int_equal(depth_at(&outcome, 19), 0);
	assert_int_equal(decode_x86_unknown(program.code + 2, 18), 5);
	assert_int_equal(decode_x86_unknown(program.code + 7, 13), 5);
	assert_int_equal(
		decode_x86_unknown((const uint8_t[]){0x62, 0xf5, 0x7c, 0x48, 0x58, 0x44, 0x24, 0x01}, 8), 8);
	assert_int_equal(decode_x86_unknown((const uint8_t[]){0x0f, 0x3a, 0xcc, 0xc1, 0x07}, 5), 5);
	outcome_fini(&outcome);
}

/* A switch in a loop; the table in four forms. Cases at 24, 28, 32; 36: inc ecx; jmp 0; 40: ret */
static struct program switch_program(const uint8_t *head, size_t size)
{
	static const uint8_t tail[] = {0xff, 0xc0, 0xeb, 0x08, 0xff, 0xc8, 0xeb, 0x04, 0xf7, 0xd8, 0xeb, 0x00,
		0xff, 0xc1, 0xeb, 0xd8, 0xc3};
	struct program program = {.code_bytes = 24 + sizeof tail, .data_bytes = 64};

	memset(program.code, 0x90, 24);
	memcpy(program.code, head, size);
	memcpy(program.code + 24, tail, sizeof tail);
	return program;
}

static void assert_switch(struct program *program)
{
	struct outcome outcome = analyse(program, EM_X86_64, NULL, 0);

	if (outcome.is_skipped)
		skip();
	assert_int_equal(outcome.cfg.tables, 1);
	assert_int_equal(outcome.cfg.unresolved, 0);
	assert_int_equal(outcome.forest.count, 1);
	for (unsigned at = 24; at <= 36; at += 4)
		assert_int_equal(depth_at(&outcome, at), 1);
	assert_int_equal(depth_at(&outcome, 40), 0);
	outcome_fini(&outcome);
}

static void test_x86_switch(void **state)
{
	/* cmp edi,2; ja 40; jmp *DATA_AT(,rdi,8) */
	static const uint8_t absolute[] = {
		0x83, 0xff, 0x02, 0x77, 0x23, 0xff, 0x24, 0xfd, 0x00, 0x30, 0x00, 0x00};
	/* cmp edi,2; ja 40; mov DATA_AT(,rdi,8),rax; jmp *rax */
	static const uint8_t loaded[] = {0x83, 0xff, 0x02, 0x77, 0x23, 0x48, 0x8b, 0x04, 0xfd, 0x00, 0x30,
		0x00, 0x00, 0x3e, 0xff, 0xe0};
	/* cmp edi,2; ja 40; lea DATA_AT(rip),rdx; movslq (rdx,rdi,4),rax; add rdx,rax; jmp *rax */
	static const uint8_t relative[] = {0x83, 0xff, 0x02, 0x77, 0x23, 0x48, 0x8d, 0x15, 0xf4, 0x1f, 0x00,
		0x00, 0x48, 0x63, 0x04, 0xba, 0x48, 0x01, 0xd0, 0xff, 0xe0};
	static const uint64_t targets[] = {CODE_AT + 24, CODE_AT + 28, CODE_AT + 32, CODE_AT + 1};
	struct program program = switch_program(absolute, sizeof absolute);

	(void)state;
	memcpy(program.data, targets, sizeof targets);
	assert_switch(&program);
	program = switch_program(loaded, sizeof loaded);
	memcpy(program.data, targets, sizeof targets);
	assert_switch(&program);
	program = switch_program(relative, sizeof relative);
	for (unsigned i = 0; i < 4; i++) {
		int32_t entry = (int32_t)(targets[i] - DATA_AT);

		memcpy(program.data + 4 * i, &entry, sizeof entry);
	}
	assert_switch(&program);
}

/* A table that cannot be read: the cases are still in the loop, below the jump before them. */
static void test_x86_unresolved(void **state)
{
	/* jmp *(rdi) */
	static const uint8_t head[] = {0xff, 0x27};
	struct program program = switch_program(head, sizeof head);
	struct outcome outcome = analyse(&program, EM_X86_64, NULL, 0);

	(void)state;
	if (outcome.is_skipped)
		skip();
	assert_int_equal(outcome.cfg.unresolved, 1);
	assert_int_equal(outcome.forest.count, 1);
	for (unsigned at = 24; at <= 36; at += 4)
		assert_int_equal(depth_at(&outcome, at), 1);
	assert_int_equal(depth_at(&outcome, 40), 0);
	outcome_fini(&outcome);
}

/* Two blocks that lead to each other, entered at both. */
static void test_x86_irreducible(void **state)
{
	/* 0: test edi,edi; 2: je 8; 4: inc eax; 6: inc eax; 8: inc ecx; 10: cmp ecx,9; 13: jne 4; 15: ret */
	struct program program = X86(0x85, 0xff, 0x74, 0x04, 0xff, 0xc0, 0xff, 0xc0, 0xff, 0xc1, 0x83, 0xf9,
		0x09, 0x75, 0xf5, 0xc3);
	struct outcome outcome = analyse(&program, EM_X86_64, NULL, 0);

	(void)state;
	if (outcome.is_skipped)
		skip();
	assert_int_equal(outcome.forest.count, 1);
	assert_true(outcome.forest.loops[0].is_irreducible);
	assert_int_equal(depth_at(&outcome, 4), 1);
	assert_int_equal(depth_at(&outcome, 8), 1);
	outcome_fini(&outcome);
}

/* Behind a call that does not come back lies other code: no loop runs through it. A landing pad that goes on
 * with the loop is in it. */
static void test_x86_calls(void **state)
{
	/* 0: inc eax; 2: call ABORT_AT (or elsewhere); 7: jmp 0; 9: ret */
	struct program program = X86(0xff, 0xc0, 0xe8, 0xf9, 0x7f, 0x00, 0x00, 0xeb, 0xf7, 0xc3);
	/* 0: inc eax; 2: call; 7: cmp eax,9; 10: jne 0; 12: ret; 13: inc ecx; 15: jmp 7 */
	struct program catches = X86(0xff, 0xc0, 0xe8, 0x00, 0x40, 0x00, 0x00, 0x83, 0xf8, 0x09, 0x75, 0xf4,
		0xc3, 0xff, 0xc1, 0xeb, 0xf6);
	const struct cfg_pad pad = {CODE_AT + 2, CODE_AT + 7, CODE_AT + 13};
	struct outcome outcome = analyse(&program, EM_X86_64, NULL, 0);

	(void)state;
	if (outcome.is_skipped)
		skip();
	assert_int_equal(outcome.forest.count, 0);
	outcome_fini(&outcome);
	program.code[4] = 0x6f;
	outcome = analyse(&program, EM_X86_64, NULL, 0);
	assert_int_equal(outcome.forest.count, 1);
	outcome_fini(&outcome);

	outcome = analyse(&catches, EM_X86_64, &pad, 1);
	assert_int_equal(outcome.forest.count, 1);
	assert_false(outcome.forest.loops[0].is_irreducible);
	assert_int_equal(depth_at(&outcome, 13), 1);
	outcome_fini(&outcome);
	outcome = analyse(&catches, EM_X86_64, NULL, 0);
	assert_int_equal(depth_at(&outcome, 13), 0);
	outcome_fini(&outcome);
}

/* The same for AArch64, with a table of bytes in units of four. */
static void test_arm64(void **state)
{
	static const uint32_t code[] = {
		0x7100081f, /*  0: cmp w0, #2 */
		0x54000168, /*  4: b.hi 48 */
		0xd0000001, /*  8: adrp x1, 0x3000 */
		0x91000021, /* 12: add x1, x1, #0 */
		0x38604821, /* 16: ldrb w1, [x1, w0, uxtw] */
		0x10000062, /* 20: adr x2, 32 */
		0x8b218842, /* 24: add x2, x2, w1, sxtb #2 */
		0xd61f0040, /* 28: br x2 */
		0x11000463, /* 32: add w3, w3, #1 */
		0x17fffff7, /* 36: b 0 */
		0x51000463, /* 40: sub w3, w3, #1 */
		0x54fffea1, /* 44: b.ne 0 */
		0xd65f03c0, /* 48: ret */
	};
	struct program program = program_of(code, sizeof code);
	struct outcome outcome;

	(void)state;
	memcpy(program.data, "\0\2\4\7", 4);
	program.data_bytes = 4;
	outcome = analyse(&program, EM_AARCH64, NULL, 0);
	assert_int_equal(outcome.cfg.tables, 1);
	assert_int_equal(outcome.forest.count, 1);
	assert_int_equal(depth_at(&outcome, 0), 1);
	assert_int_equal(depth_at(&outcome, 32), 1);
	assert_int_equal(depth_at(&outcome, 40), 1);
	assert_int_equal(depth_at(&outcome, 48), 0);
	outcome_fini(&outcome);
}

/* Whatever the bytes, it ends, and every block leads to blocks. */
static void test_noise(void **state)
{
	static const unsigned machines[] = {EM_X86_64, EM_AARCH64};
	unsigned seed = (unsigned)seed_take(__func__, 7);

	(void)state;
	for (unsigned n = 0; n < 3000; n++) {
		struct program program = {.code_bytes = 256, .data_bytes = 256};
		struct outcome outcome;

		for (size_t i = 0; i < 256; i++) {
			program.code[i] = (uint8_t)rand_r(&seed);
			program.data[i] = (uint8_t)rand_r(&seed);
			if (rand_r(&seed) % 3 == 0)
				program.code[i] = (uint8_t[]){
					0xff, 0xe0, 0x75, 0xeb, 0x24, 0xc3, 0x48, 0x63}[rand_r(&seed) % 8];
		}
		outcome = analyse(&program, machines[n % 2], NULL, 0);
		if (outcome.is_skipped)
			continue;
		for (uint32_t i = 0; i < outcome.cfg.block_count; i++) {
			const struct cfg_block *block = &outcome.cfg.blocks[i];

			assert_true(block->begin < block->end && block->last < block->end);
			assert_true(i == 0 || outcome.cfg.blocks[i - 1].end <= block->begin);
			for (uint32_t e = block->edge; e < block->edge + block->edges; e++)
				assert_true(outcome.cfg.edges[e] < outcome.cfg.block_count);
		}
		outcome_fini(&outcome);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_plain),
		cmocka_unit_test(test_x86_unknown),
		cmocka_unit_test(test_x86_switch),
		cmocka_unit_test(test_x86_unresolved),
		cmocka_unit_test(test_x86_irreducible),
		cmocka_unit_test(test_x86_calls),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
