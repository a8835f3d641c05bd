// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.loops - loops of graphs against two naive twins (dominators by trying without each node,
 * strongly connected parts by reachability), graphs of hand-made code for both machines, and the nests of
 * optimized kernels as their authors would tell them.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/store.h"
#include "timeline/cfg.h"
#include "timeline/loop_forest.h"
#include "timeline/names.h"

static struct budget plenty(void)
{
	return (struct budget){.steps_left = 1000000};
}

/* ---- graphs ---- */

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
	struct budget budget = plenty();
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
	unsigned reducible = 0, irreducible = 0;

	(void)state;
	for (unsigned n = 1; n <= 20000; n++) {
		unsigned seed = n;
		struct matrix graph = random_graph(&seed);
		struct loop_forest forest = forest_of(&graph);
		uint32_t reached = reach(&graph, 0, (1u << graph.count) - 1) | 1, count;

		count = twin_parts(&graph, &forest, (1u << graph.count) - 1, 0, reached);
		if (count != UINT32_MAX && count != forest.count)
			print_message("seed %u\n", n);
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

/* ---- hand-made code ---- */

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
	struct budget budget = plenty();
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
	assert_int_equal(decode_x86_guess(program.code + 2, 18), 5);
	assert_int_equal(decode_x86_guess(program.code + 7, 13), 5);
	assert_int_equal(
		decode_x86_guess((const uint8_t[]){0x62, 0xf5, 0x7c, 0x48, 0x58, 0x44, 0x24, 0x01}, 8), 8);
	assert_int_equal(decode_x86_guess((const uint8_t[]){0x0f, 0x3a, 0xcc, 0xc1, 0x07}, 5), 5);
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
	unsigned seed = 7;

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

/* ---- compiled kernels ---- */

static char directory[] = "/tmp/hpct-test-XXXXXX";

static const char kernels_c[] =
	"#include <stddef.h>\n"						   /* 1 */
	"double a[512][512], b[512][512], c[512][512];\n"		   /* 2 */
	"#define APART __attribute__((noinline, noclone))\n"		   /* 3 */
	"APART void product(int n)\n"					   /* 4 */
	"{\n"								   /* 5 */
	"	for (int i = 0; i < n; i++)\n"				   /* 6 */
	"		for (int j = 0; j < n; j++) {\n"		   /* 7 */
	"			double s = 0;\n"			   /* 8 */
	"			for (int k = 0; k < n; k++)\n"		   /* 9 */
	"				s += a[i][k] * b[k][j];\n"	   /* 10 */
	"			c[i][j] = s;\n"				   /* 11 */
	"		}\n"						   /* 12 */
	"}\n"								   /* 13 */
	"static inline double row(const double *x, int n)\n"		   /* 14 */
	"{\n"								   /* 15 */
	"	double s = 0;\n"					   /* 16 */
	"	for (int i = 0; i < n; i++)\n"				   /* 17 */
	"		s += x[i] * x[i];\n"				   /* 18 */
	"	return s;\n"						   /* 19 */
	"}\n"								   /* 20 */
	"APART double rows(int n)\n"					   /* 21 */
	"{\n"								   /* 22 */
	"	double s = 0;\n"					   /* 23 */
	"	for (int j = 0; j < n; j++)\n"				   /* 24 */
	"		s += row(a[j], n);\n"				   /* 25 */
	"	return s;\n"						   /* 26 */
	"}\n"								   /* 27 */
	"APART int machine(const unsigned char *p, size_t n)\n"		   /* 28 */
	"{\n"								   /* 29 */
	"	int x = 1;\n"						   /* 30 */
	"	for (size_t i = 0; i < n; i++) {\n"			   /* 31 */
	"		switch (p[i]) {\n"				   /* 32 */
	"		case 0: x += 3; break;\n"			   /* 33 */
	"		case 1: x *= 3; break;\n"			   /* 34 */
	"		case 2: x ^= 77; break;\n"			   /* 35 */
	"		case 3: x -= p[i + 1]; break;\n"		   /* 36 */
	"		case 4: x = x >> 1; break;\n"			   /* 37 */
	"		case 5: x |= 8; break;\n"			   /* 38 */
	"		case 6: while (x & 3) x += p[x & 7]; break;\n"	   /* 39 */
	"		case 7: return x;\n"				   /* 40 */
	"		default: x = -x;\n"				   /* 41 */
	"		}\n"						   /* 42 */
	"	}\n"							   /* 43 */
	"	return x;\n"						   /* 44 */
	"}\n"								   /* 45 */
	"APART int tangled(int n, int way)\n"				   /* 46 */
	"{\n"								   /* 47 */
	"	int x = 0;\n"						   /* 48 */
	"	if (way)\n"						   /* 49 */
	"		goto middle;\n"					   /* 50 */
	"top:\n"							   /* 51 */
	"	x += n * way;\n"					   /* 52 */
	"	if (x > 1000000)\n"					   /* 53 */
	"		return x;\n"					   /* 54 */
	"middle:\n"							   /* 55 */
	"	x ^= n;\n"						   /* 56 */
	"	n--;\n"							   /* 57 */
	"	if (n > 0)\n"						   /* 58 */
	"		goto top;\n"					   /* 59 */
	"	return x;\n"						   /* 60 */
	"}\n"								   /* 61 */
	"APART void pair(double *restrict x, double *restrict y, int n)\n" /* 62 */
	"{\n"								   /* 63 */
	"	for (int i = 0; i < n; i++)\n"				   /* 64 */
	"		x[i] = x[i] * 2 + y[i];\n"			   /* 65 */
	"	for (int i = 0; i < n; i++)\n"				   /* 66 */
	"		y[i] = x[i] + y[i] * y[i];\n"			   /* 67 */
	"}\n"								   /* 68 */
	"int main(int argc, char **v)\n"				   /* 69 */
	"{\n"								   /* 70 */
	"	product(argc);\n"					   /* 71 */
	"	pair(a[0], b[0], argc);\n"				   /* 72 */
	"	return (int)rows(argc) + machine((unsigned char *)v[0], 4) + tangled(argc, argc - 1);\n"
	"}\n";

static const char kernels_f[] = "subroutine arrays(a, b, c, n)\n"	/* 1 */
				"  integer :: n\n"			/* 2 */
				"  real(8) :: a(n,n), b(n,n), c(n,n)\n" /* 3 */
				"  c = a + b * 2\n"			/* 4 */
				"  where (a > 0)\n"			/* 5 */
				"    c = sqrt(a)\n"			/* 6 */
				"  end where\n"				/* 7 */
				"end subroutine\n"			/* 8 */
				"program main\n"			/* 9 */
				"  real(8) :: a(8,8), b(8,8), c(8,8)\n" /* 10 */
				"  a = 1; b = 2\n"			/* 11 */
				"  call arrays(a, b, c, 8)\n"		/* 12 */
				"  print *, c(1,1)\n"			/* 13 */
				"end program\n";			/* 14 */

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static bool symbol_extent(const char *binary, const char *symbol, uint64_t *begin, uint64_t *size)
{
	char command[512];
	unsigned long values[2] = {0, 0};
	FILE *file;

	snprintf(command, sizeof command, "nm -S %s/%s | awk '$4 == \"%s\" {print $1, $2}'", directory,
		binary, symbol);
	file = popen(command, "r");
	assert_non_null(file);
	if (fscanf(file, "%lx %lx", &values[0], &values[1]) != 2)
		values[1] = 0;
	pclose(file);
	*begin = values[0];
	*size = values[1];
	return values[1] > 0;
}

/* "[6 [7 [9" for loops, "row(" for what is inlined: the scopes of one place below the function. */
static void nest_text(const struct names_answer *answer, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 1; i < answer->scope_count && used + 64 < size; i++)
		used += (size_t)(answer->scopes[i].kind == NAMES_LOOP
					 ? snprintf(text + used, size - used, "[%u ",
						   answer->scopes[i].decl_line)
					 : snprintf(text + used, size - used, "%s(", answer->scopes[i].name));
}

#define NESTS 64
struct nests {
	char text[NESTS][256];
	unsigned count;
};

static void nests_add(struct nests *nests, const char *text)
{
	for (unsigned i = 0; i < nests->count; i++)
		if (!strcmp(nests->text[i], text))
			return;
	assert_true(nests->count < NESTS);
	snprintf(nests->text[nests->count++], sizeof nests->text[0], "%s", text);
}

/* Every nest of a function's addresses is among the expected, and the needed ones (before the NULL) are
 * there; behind it stand those that a compiler may leave or not. */
static void assert_nests(const char *binary, const char *function, const char *const *wanted)
{
	const struct names_options options = {.cpu_ns = 0};
	struct names_request request = {.kind = STORE_MODULE_ELF, .real_path = ""};
	static struct names_answer answer;
	struct nests nests = {.count = 0};
	struct names_module *module;
	char path[256], text[256];
	struct names *names;
	uint64_t begin, size;
	unsigned needed = 0;

	assert_true(symbol_extent(binary, function, &begin, &size));
	snprintf(path, sizeof path, "%s/%s", directory, binary);
	request.path = path;
	assert_int_equal(names_open(&names, &options, NULL), 0);
	assert_int_equal(names_module(names, &request, NAMES_ALL, &module, NULL), 0);
	for (uint64_t at = begin; at < begin + size; at++) {
		assert_int_equal(names_find(module, at, &answer, NULL), 0);
		nest_text(&answer, text, sizeof text);
		nests_add(&nests, text);
	}
	names_close(names);
	for (unsigned i = 0; i < nests.count; i++) {
		bool found = !nests.text[i][0], past = false;

		for (unsigned w = 0; !found && (wanted[w] || !past); w++) {
			past |= !wanted[w];
			found = wanted[w] && !strcmp(wanted[w], nests.text[i]);
		}
		if (!found)
			print_message("%s %s: '%s' is not expected\n", binary, function, nests.text[i]);
		assert_true(found);
	}
	for (; wanted[needed]; needed++) {
		bool found = false;

		for (unsigned i = 0; i < nests.count; i++)
			found |= !strcmp(wanted[needed], nests.text[i]);
		if (!found)
			print_message("%s %s: '%s' is missing\n", binary, function, wanted[needed]);
		assert_true(found);
	}
}

static bool compile(const char *compiler, const char *options, const char *source, const char *binary)
{
	char command[1024];

	snprintf(command, sizeof command, "cd %s && %s -g %s -o %s %s 2>compile.log", directory, compiler,
		options, binary, source);
	return system(command) == 0;
}

static void test_kernels(void **state)
{
	static const char *const builds[][2] = {{"-O1", "o1"}, {"-O2", "o2"}, {"-O3", "o3"},
		{"-O3 -march=x86-64-v3 -funroll-loops", "v3"}, {"-O2 -no-pie -fno-pie", "plain"}};
	static const char *const product[] = {
		"[6 ", "[6 [7 ", "[6 [7 [9 ", NULL, "[6 [9 ", NULL}; /* loops may be exchanged */
	static const char *const rows[] = {"[24 ", "[24 row(", "[24 row([17 ", NULL, NULL};
	static const char *const machine[] = {"[31 ", "[31 [39 ", NULL, NULL};
	static const char *const tangled[] = {"[53 ", NULL, NULL};
	static const char *const pair[] = {"[64 ", "[66 ", NULL, NULL};

	(void)state;
	if (decoder_lacks(EM_X86_64) || sizeof(void *) != 8)
		skip();
	write_file("kernels.c", kernels_c);
	for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
		if (!compile("gcc", builds[i][0], "kernels.c", builds[i][1]))
			continue; /* another machine's compiler */
		assert_nests(builds[i][1], "product", product);
		assert_nests(builds[i][1], "rows", rows);
		assert_nests(builds[i][1], "machine", machine);
		assert_nests(builds[i][1], "tangled", tangled);
		assert_nests(builds[i][1], "pair", pair);
	}
}

/* Loops that the compiler made: array notation has no `do`. */
static void test_fortran(void **state)
{
	static const char *const arrays[] = {"[4 ", "[5 ", NULL, "[6 ", NULL};

	(void)state;
	write_file("kernels.f90", kernels_f);
	if (decoder_lacks(EM_X86_64) || !compile("gfortran", "-O2", "kernels.f90", "fortran"))
		skip();
	assert_nests("fortran", "arrays_", arrays);
}

/* Without debug information and symbols: found by the unwind entry, named by place. */
static void test_stripped(void **state)
{
	const struct names_options options = {.cpu_ns = 0};
	struct names_request request = {.kind = STORE_MODULE_ELF, .real_path = ""};
	static struct names_answer answer;
	struct names_module *module;
	struct names *names;
	uint64_t begin, size;
	unsigned deepest = 0;
	char path[256];

	(void)state;
	write_file("kernels.c", kernels_c);
	if (decoder_lacks(EM_X86_64) || !compile("gcc", "-O2", "kernels.c", "bare"))
		skip();
	assert_true(symbol_extent("bare", "product", &begin, &size));
	snprintf(path, sizeof path, "strip %s/bare", directory);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof path, "%s/bare", directory);
	request.path = path;
	assert_int_equal(names_open(&names, &options, NULL), 0);
	assert_int_equal(names_module(names, &request, NAMES_ALL, &module, NULL), 0);
	for (uint64_t at = begin; at < begin + size; at++) {
		assert_int_equal(names_find(module, at, &answer, NULL), 0);
		assert_int_equal(answer.source, NAMES_FROM_FRAME);
		if (answer.scope_count > deepest)
			deepest = answer.scope_count;
		for (uint32_t i = 1; i < answer.scope_count; i++) {
			assert_int_equal(answer.scopes[i].kind, NAMES_LOOP);
			assert_int_equal(answer.scopes[i].decl_line, 0);
			assert_in_range(answer.scopes[i].start, begin, begin + size - 1);
		}
	}
	assert_int_equal(deepest, 4);
	names_close(names);
}

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_x86_plain),
		cmocka_unit_test(test_x86_unknown),
		cmocka_unit_test(test_x86_switch),
		cmocka_unit_test(test_x86_unresolved),
		cmocka_unit_test(test_x86_irreducible),
		cmocka_unit_test(test_x86_calls),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_fortran),
		cmocka_unit_test(test_stripped),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
