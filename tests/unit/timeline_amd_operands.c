// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.amd_operands - what AMD's instructions define and use, by LLVM's disassembler: compiled code
 * as a whole, and random words of all formats, as far as the disassembler accepts them. Its text tells
 * operands; which of them are results, and what is implied (VCC, SCC), follows from the operation's name.
 * Skipped without clang for AMD.
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

#include "tests/unit/chance.h"
#include "tests/unit/seed.h"
#include "timeline/code/amd_word.h"
#include "timeline/code/gpu_isa.h"

#define WORDS_EACH 4u /* of a random instruction, and s_nop after it */
#define RANDOM 20000u
#define OPERANDS_MAX 16u
#define NO_OPERATION 0xbf800000u

static char directory[] = "/tmp/hpct-amd-operands-XXXXXX";

static const struct {
	const char *processor;
	unsigned family;
	unsigned llvm_least; /* whose LLVM knows it */
} machines[] = {{"gfx906", AMD_GCN, 14}, {"gfx908", AMD_GCN, 14}, {"gfx90a", AMD_CDNA2, 14},
	{"gfx942", AMD_CDNA3, 17}};

/* ---- the disassembler's line ---- */

struct operand {
	unsigned first, count; /* resources */
};

struct text {
	char name[64];
	char whole[512];
	struct operand operands[OPERANDS_MAX];
	unsigned count;
};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool has(const struct text *text, const char *word)
{
	const char *at = strstr(text->whole, word);

	return at && at[-1] == ' ' && (!at[strlen(word)] || at[strlen(word)] == ' ');
}

static bool named_operand(const char *word, struct operand *operand)
{
	static const struct {
		const char *name;
		unsigned first, count;
	} named[] = {{"vcc_lo", 106, 1}, {"vcc_hi", 107, 1}, {"vcc", 106, 2}, {"exec_lo", 126, 1},
		{"exec_hi", 127, 1}, {"exec", 126, 2}, {"m0", 124, 1}, {"flat_scratch_lo", 102, 1},
		{"flat_scratch_hi", 103, 1}, {"flat_scratch", 102, 2}, {"xnack_mask_lo", 104, 1},
		{"xnack_mask_hi", 105, 1}, {"xnack_mask", 104, 2}, {"src_vccz", 106, 2}, {"vccz", 106, 2},
		{"src_execz", 126, 2}, {"execz", 126, 2}, {"src_scc", 128, 1}, {"scc", 128, 1},
		{"src_lds_direct", 124, 1}, {"lds_direct", 124, 1}};

	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		if (begins(word, named[i].name)) {
			*operand = (struct operand){GPU_SCALAR + named[i].first, named[i].count};
			return true;
		}
	return false;
}

/* "v[2:3]", "s7", "-|v1|", "ttmp[4:5]"; of constants and the like: no resources. */
static struct operand operand_of(const char *word)
{
	struct operand operand = {0};
	unsigned base, first, last;

	while (*word == ' ' || *word == '-' || *word == '|')
		word++;
	if (begins(word, "neg(") || begins(word, "abs(") || begins(word, "sext("))
		return operand_of(strchr(word, '(') + 1);
	if (named_operand(word, &operand))
		return operand;
	base = begins(word, "ttmp") ? GPU_SCALAR + 108
	       : word[0] == 's'	    ? GPU_SCALAR
	       : word[0] == 'a'	    ? GPU_ACCUMULATOR
				    : 0;
	if (!base && word[0] != 'v')
		return operand;
	word += begins(word, "ttmp") ? 4 : 1;
	if (sscanf(word, "[%u:%u]", &first, &last) == 2)
		return (struct operand){base + first, last - first + 1};
	return sscanf(word, "%u", &first) == 1 ? (struct operand){base + first, 1} : operand;
}

/* "\tv_add_f32_e32 v1, v2, v3 row_shl:1  // 00000000: ..." */
static bool text_take(struct text *text, const char *line, const char *comment)
{
	char copy[512], *rest, *save = NULL;

	*text = (struct text){{0}, {0}, {{0}}, 0};
	snprintf(copy, sizeof copy, "%.*s", (int)(comment - line), line);
	for (size_t size = strlen(copy); size && strchr(" \t", copy[size - 1]);)
		copy[--size] = '\0';
	snprintf(text->whole, sizeof text->whole, "%s", copy);
	if (sscanf(copy, " %63s%n", text->name, (int[]){0}) != 1)
		return false;
	rest = strstr(copy, text->name) + strlen(text->name);
	for (char *word = strtok_r(rest, ",", &save); word && text->count < OPERANDS_MAX;
		word = strtok_r(NULL, ",", &save))
		text->operands[text->count++] = operand_of(word);
	for (unsigned i = 0; i < 4; i++) {
		static const char *const ends[] = {"_e32", "_e64", "_sdwa", "_dpp"};
		size_t size = strlen(text->name), end = strlen(ends[i]);

		if (size > end && strcmp(text->name + size - end, ends[i]) == 0)
			text->name[size - end] = '\0';
	}
	return true;
}

/* ---- what is a result ---- */

static bool has_no_result(const struct text *text)
{
	const char *n = text->name;

	if (strstr(n, "_store") || begins(n, "ds_write") || begins(n, "s_cmp") || begins(n, "s_bitcmp") ||
		begins(n, "s_setpc") || begins(n, "s_rfe") || begins(n, "s_setreg") ||
		begins(n, "s_dcache") || begins(n, "s_set_gpr") || begins(n, "s_cbranch") ||
		begins(n, "s_branch") || begins(n, "ds_gws") || begins(n, "s_atc") ||
		begins(n, "s_setvskip") || strstr(n, "_load_lds") || has(text, "lds"))
		return true;
	if (begins(n, "ds_"))
		return !(strstr(n, "_rtn") || strstr(n, "read") || strstr(n, "permute") ||
			 strstr(n, "swizzle") || strstr(n, "consume") || strstr(n, "ordered") ||
			 strstr(n, "append") || strstr(n, "wrap"));
	if (strstr(n, "atomic"))
		return !(has(text, "glc") || has(text, "sc0"));
	return false;
}

static unsigned results_of(const struct text *text)
{
	const char *n = text->name;

	if (has_no_result(text))
		return 0;
	if (strstr(n, "_co_") || begins(n, "v_div_scale") || begins(n, "v_mad_u64_u32") ||
		begins(n, "v_mad_i64_i32") || begins(n, "v_swap"))
		return 2;
	return 1;
}

static bool uses_result(const struct text *text)
{
	const char *n = text->name;

	if (begins(n, "v_mac_") || begins(n, "v_fmac_") || begins(n, "v_pk_fmac") ||
		begins(n, "v_writelane") || begins(n, "v_smfmac") || begins(n, "v_swap") ||
		begins(n, "s_addk") || begins(n, "s_mulk") || begins(n, "s_cmov") || begins(n, "s_bitset"))
		return true;
	if ((begins(n, "v_dot") && strstr(n, "c_")) || strstr(n, "mixlo") || strstr(n, "mixhi"))
		return true;
	if (strstr(n, "d16") && (strstr(n, "load") || strstr(n, "read")))
		return true;
	if (strstr(text->whole, "dst_unused:UNUSED_PRESERVE"))
		return true;
	if ((begins(n, "buffer_atomic") || begins(n, "s_atomic") || begins(n, "s_buffer_atomic")))
		return true;
	return strstr(text->whole, "row_mask:") &&
	       !(strstr(text->whole, "row_mask:0xf bank_mask:0xf") && strstr(text->whole, "bound_ctrl:"));
}

static void add(struct gpu_set *set, struct operand operand, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		gpu_set_add(set, operand.first + i);
}

static const struct operand vcc = {GPU_SCALAR + 106, 2}, exec_mask = {GPU_SCALAR + 126, 2},
			    scc = {GPU_SCALAR + 128, 1}, m0 = {GPU_SCALAR + 124, 1};

/* SCC by the manual: all scalar arithmetic but moves, counts of leading bits, selections and products. */
static bool defines_scc(const char *n)
{
	static const char *const some[] = {"s_cmp", "s_bitcmp", "s_add", "s_sub", "s_min", "s_max", "s_and",
		"s_or", "s_xor", "s_nand", "s_nor", "s_xnor", "s_lshl", "s_lshr", "s_ashr", "s_bfe",
		"s_absdiff", "s_not", "s_wqm", "s_bcnt", "s_quadmask", "s_abs"};

	for (size_t i = 0; i < sizeof some / sizeof *some; i++)
		if (begins(n, some[i]))
			return true;
	return false;
}

static void add_implied(const struct text *text, struct gpu_set *defines, struct gpu_set *uses)
{
	const char *n = text->name;

	if (defines_scc(n))
		add(defines, scc, 1);
	if (begins(n, "s_addc") || begins(n, "s_subb") || begins(n, "s_cselect") || begins(n, "s_cmov") ||
		begins(n, "s_cbranch_scc"))
		add(uses, scc, 1);
	if (begins(n, "s_cbranch_vcc") || begins(n, "v_div_fmas"))
		add(uses, vcc, 2);
	if (begins(n, "s_cbranch_exec") || strstr(n, "saveexec") || strstr(n, "wrexec"))
		add(uses, exec_mask, 2);
	if (begins(n, "v_cmpx") || strstr(n, "saveexec") || strstr(n, "wrexec"))
		add(defines, exec_mask, 2);
	if (begins(n, "s_sendmsg") || strstr(n, "_load_lds") || has(text, "lds"))
		add(uses, m0, 1);
}

static void add_counters(const struct text *text, struct gpu_set *defines, struct gpu_set *uses)
{
	static const char *const names[] = {"vmcnt(", "lgkmcnt(", "expcnt("};
	const char *n = text->name;
	bool flat = begins(n, "flat_"), scalar = begins(n, "s_load") || begins(n, "s_buffer") ||
						 begins(n, "s_store") || begins(n, "s_scratch") ||
						 begins(n, "s_atomic") || begins(n, "s_dcache") ||
						 begins(n, "s_mem") || begins(n, "s_atc");
	bool shared = begins(n, "ds_") && strcmp(n, "ds_nop") != 0;

	if (flat || begins(n, "global_") || begins(n, "scratch_") || begins(n, "buffer_") ||
		begins(n, "tbuffer_"))
		gpu_set_add(defines, GPU_COUNTER + GPU_COUNTER_VECTOR_MEMORY);
	if (flat || scalar || shared || begins(n, "s_sendmsg"))
		gpu_set_add(defines, GPU_COUNTER + GPU_COUNTER_SHARED_MEMORY);
	if (shared && has(text, "gds"))
		gpu_set_add(defines, GPU_COUNTER + GPU_COUNTER_EXPORT);
	for (unsigned c = 0; c < sizeof names / sizeof *names && strcmp(n, "s_waitcnt") == 0; c++)
		if (strstr(text->whole, names[c]) && strstr(text->whole, names[c])[-1] == ' ')
			gpu_set_add(uses, GPU_COUNTER + c);
}

static void expect(const struct text *text, struct gpu_set *defines, struct gpu_set *uses)
{
	unsigned results = results_of(text);

	*defines = *uses = (struct gpu_set){{0}};
	for (unsigned i = 0; i < text->count; i++) {
		struct operand operand = text->operands[i];
		unsigned returned = operand.count;

		/* Of two values that it takes a comparing exchange returns one. */
		if (strstr(text->name, "cmpswap") && !begins(text->name, "ds_") &&
			(begins(text->name, "s_") || begins(text->name, "buffer_")))
			returned /= 2;
		if (i < results)
			add(defines, operand, returned);
		if (i >= results || (i == 0 && uses_result(text)) || (begins(text->name, "v_swap")))
			add(uses, operand, operand.count);
	}
	add_implied(text, defines, uses);
	add_counters(text, defines, uses);
}

/* ---- one instruction ---- */

static void set_text(const struct gpu_isa *isa, const struct gpu_set *set, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (unsigned r = 0; r < GPU_RESOURCES && used + 24 < size; r++)
		if (gpu_set_has(set, r)) {
			text[used++] = ' ';
			used += (size_t)isa->resource_name(r, text + used, size - used);
		}
}

/* Matrix operations are spelled in two ways. */
static bool is_same_name(const char *a, const char *b)
{
	return strcmp(a, b) == 0 || (strstr(a, "mfma") && strstr(b, "mfma"));
}

static bool is_same(const struct gpu_isa *isa, const char *line, const struct text *text,
	const uint8_t *bytes, size_t size)
{
	struct gpu_instruction in;
	struct gpu_set defines, uses;
	char sets[4][512];
	bool is_known = isa->instruction(bytes, size, &in);

	expect(text, &defines, &uses);
	if (is_known && is_same_name(in.name, text->name) && !memcmp(&in.defines, &defines, sizeof defines) &&
		!memcmp(&in.uses, &uses, sizeof uses))
		return true;
	set_text(isa, &in.defines, sets[0], sizeof sets[0]);
	set_text(isa, &in.uses, sets[1], sizeof sets[1]);
	set_text(isa, &defines, sets[2], sizeof sets[2]);
	set_text(isa, &uses, sets[3], sizeof sets[3]);
	print_message("%s%s:%s <-%s, should be%s <-%s\n", line, in.name, sets[0], sets[1], sets[2], sets[3]);
	return false;
}

static unsigned words_take(const char *comment, uint32_t words[WORDS_EACH])
{
	unsigned count = 0;
	const char *at = strchr(comment, ':');

	for (int used;
		at && count < WORDS_EACH && sscanf(at + 1, " %8x%n", &words[count], &used) == 1 && used > 8;
		count++)
		at += used;
	return count;
}

/* The disassembler takes what no assembler would make, and there its text or the words' meaning is open. */
static bool is_sound(const struct text *text, const char *comment)
{
	return !begins(text->name, "s_nop") && !begins(text->name, "v_interp") &&
	       !strstr(text->name, "_store_lds") && !strstr(text->name, "fp8") &&
	       !strstr(text->name, "bf8") && !strstr(text->whole, "Invalid register") &&
	       !strstr(comment, "Warning") && !has(text, "tfe") && !strstr(text->whole, "null") &&
	       !strstr(text->whole, "src_");
}

struct tally {
	unsigned compared, wrong;
};

/* `only`: lines at multiples of WORDS_EACH words. */
static struct tally listing_compare(const struct gpu_isa *isa, FILE *listing, bool only)
{
	struct tally tally = {0};
	char line[1024];

	while (fgets(line, sizeof line, listing)) {
		const char *comment = strstr(line, "// ");
		uint32_t words[WORDS_EACH];
		struct text text;
		unsigned long at;
		unsigned count;

		if (line[0] != '\t' || !comment || sscanf(comment, "// %lx", &at) != 1 ||
			(only && at % (WORDS_EACH * sizeof *words)) || !text_take(&text, line, comment) ||
			text.name[0] == '.')
			continue;
		count = words_take(comment, words);
		assert_true(count > 0);
		if (only && !is_sound(&text, comment))
			continue;
		tally.compared++;
		if (!is_same(isa, line, &text, (const uint8_t *)words, count * sizeof *words) &&
			++tally.wrong > 20)
			break;
	}
	while (fgets(line, sizeof line, listing))
		;
	return tally;
}

/* ---- tools ---- */

#define RANDOM_LLVM 19u /* earlier ones leave registers out of some operations that compilers do not use */
static unsigned llvm;	/* the newest version of both tools that is there; 0: none */

static void tools_find(void)
{
	for (unsigned version = 14; version <= 24; version++) {
		char command[256];

		snprintf(command, sizeof command,
			"command -v clang-%u >/dev/null && command -v llvm-mc-%u >/dev/null && command -v "
			"llvm-objdump-%u >/dev/null",
			version, version, version);
		if (system(command) == 0)
			llvm = version;
	}
}

static FILE *disassemble(const char *processor)
{
	char command[4096];

	snprintf(command, sizeof command, "llvm-objdump-%u -d --mcpu=%s %s/code.o 2>/dev/null", llvm,
		processor, directory);
	return popen(command, "r");
}

/* ---- compiled code ---- */

static void test_compiled(void **state)
{
	(void)state;
	if (!llvm)
		skip();
	for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
		for (unsigned o = 0; o < 2; o++) {
			const struct gpu_isa *isa = gpu_isa_of(EM_AMDGPU | machines[m].family << 16);
			char command[4096];
			struct tally tally;
			FILE *listing;

			if (machines[m].llvm_least > llvm)
				continue;
			snprintf(command, sizeof command,
				"cd %s && clang-%u -x cl -cl-std=CL2.0 -Xclang -finclude-default-header "
				"-target amdgcn-amd-amdhsa "
				"-nogpulib -mcpu=%s %s %s -c %s/amd_faults.cl -o code.o",
				directory, llvm, machines[m].processor, o ? "-O3" : "-O0",
				m ? "-DMATRIX" : "", GPU_BINARIES);
			assert_int_equal(system(command), 0);
			listing = disassemble(machines[m].processor);
			assert_non_null(listing);
			tally = listing_compare(isa, listing, false);
			pclose(listing);
			print_message("%s: %u instructions, %u differ\n", machines[m].processor,
				tally.compared, tally.wrong);
			assert_true(tally.compared > 300);
			assert_int_equal(tally.wrong, 0);
		}
}

/* ---- random words ---- */

static uint32_t some(unsigned count_bits)
{
	return (uint32_t)(draw() & ((1ull << count_bits) - 1));
}

/* Fields that an operation does not have must be 0: half of them are. */
static uint32_t maybe(unsigned count_bits)
{
	return draw() & 1 ? some(count_bits) : 0;
}

static uint32_t source(void)
{
	return draw() & 1 ? 256 + some(8) : some(8);
}

static void random_words(uint32_t w[WORDS_EACH])
{
	static const uint32_t segments[] = {0, 1, 2};

	for (unsigned i = 0; i < WORDS_EACH; i++)
		w[i] = NO_OPERATION;
	switch (draw() % 14) {
	case 0: /* VOP2, VOPC */
		w[0] = some(31);
		break;
	case 1: /* VOP1 */
		w[0] = 0x3fu << 25 | some(8) << 17 | some(7) << 9 | source();
		break;
	case 2: /* parts of registers */
		w[0] = (draw() & 1 ? some(6) << 25 : 0x3fu << 25 | some(7) << 9) | some(8) << 17 | 249;
		if (w[0] >> 25 != 0x3f)
			w[0] |= some(8) << 9;
		w[1] = some(8) | some(3) % 7 << 8 | some(2) % 3 << 11 | some(3) % 7 << 16 | some(1) << 23 |
		       some(3) % 7 << 24 | (w[0] >> 25 == 0x3f ? 0 : some(1) << 31) |
		       (w[0] >> 25 == 0x3e ? some(8) << 8 : 0);
		break;
	case 3: /* other lanes */
		w[0] = (draw() & 1 ? some(6) << 25 | some(8) << 9 : 0x3fu << 25 | some(7) << 9) |
		       some(8) << 17 | 250;
		w[1] = some(8) | some(8) << 8 | maybe(1) << 19 | (draw() & 1 ? 0xffu : some(8)) << 24;
		break;
	case 4: /* SOP2, SOPK */
		w[0] = 2u << 30 | some(30);
		break;
	case 5: /* SOP1, SOPC, SOPP */
		w[0] = (0x17du + (uint32_t)(draw() % 3)) << 23 | some(23);
		break;
	case 6: /* SMEM */
		w[0] = 0x30u << 26 | some(8) << 18 | some(1) << 17 | maybe(1) << 16 | maybe(1) << 14 |
		       some(13);
		w[1] = draw() & 1 ? some(7) : maybe(7) << 25 | some(20);
		break;
	case 7:
	case 8: /* VOP3 */
		w[0] = 0x34u << 26 | some(10) << 16 | maybe(7) << 8 | some(8);
		w[1] = source() | (draw() & 3 ? source() : 0) << 9 | (draw() & 1 ? source() : 0) << 18;
		break;
	case 9: /* VOP3P, matrices */
		w[0] = 0x1a7u << 23 | some(7) << 16 | maybe(1) << 15 | maybe(1) << 14 | some(8);
		w[1] = source() | source() << 9 | (draw() & 1 ? source() : 0) << 18 |
		       (draw() & 1 ? 3u : some(2)) << 27;
		break;
	case 10: /* DS */
		w[0] = 0x36u << 26 | maybe(1) << 25 | some(8) << 17 | maybe(1) << 16 | maybe(8);
		w[1] = maybe(8) | maybe(8) << 8 | maybe(8) << 16 | maybe(8) << 24;
		break;
	case 11: /* FLAT, SCRATCH, GLOBAL */
		w[0] = 0x37u << 26 | some(7) << 18 | maybe(1) << 16 | segments[draw() % 3] << 14 |
		       maybe(1) << 13 | maybe(12);
		w[1] = some(8) | maybe(8) << 8 | (draw() & 1 ? 0x7fu : maybe(7)) << 16 | maybe(1) << 23 |
		       maybe(8) << 24;
		break;
	case 12: /* MUBUF */
		w[0] = 0x38u << 26 | some(7) << 18 | maybe(1) << 16 | maybe(1) << 14 | some(2) << 12 |
		       maybe(12);
		w[1] = maybe(8) | some(8) << 8 | some(5) << 16 | maybe(1) << 23 | some(8) << 24;
		break;
	default: /* MTBUF */
		w[0] = 0x3au << 26 | some(7) << 19 | some(4) << 15 | maybe(1) << 14 | some(2) << 12 |
		       maybe(12);
		w[1] = maybe(8) | some(8) << 8 | some(5) << 16 | some(8) << 24;
	}
}

static void test_random(void **state)
{
	(void)state;
	if (llvm < RANDOM_LLVM) {
		print_message("no LLVM of version %u or later: random words are not compared\n", RANDOM_LLVM);
		skip();
	}
	chance = seed_take("unit.timeline.amd_operands", 5);
	for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
		const struct gpu_isa *isa = gpu_isa_of(EM_AMDGPU | machines[m].family << 16);
		char command[4096];
		struct tally tally;
		FILE *file;

		if (machines[m].llvm_least > llvm)
			continue;
		snprintf(command, sizeof command, "%s/code.s", directory);
		file = fopen(command, "w");
		assert_non_null(file);
		for (unsigned i = 0; i < RANDOM; i++) {
			uint32_t w[WORDS_EACH];

			random_words(w);
			fprintf(file, ".long 0x%x, 0x%x, 0x%x, 0x%x\n", w[0], w[1], w[2], w[3]);
		}
		fclose(file);
		snprintf(command, sizeof command,
			"cd %s && llvm-mc-%u -triple=amdgcn-amd-amdhsa -mcpu=%s -filetype=obj code.s -o "
			"code.o",
			directory, llvm, machines[m].processor);
		assert_int_equal(system(command), 0);
		file = disassemble(machines[m].processor);
		assert_non_null(file);
		tally = listing_compare(isa, file, true);
		pclose(file);
		print_message("%s: %u instructions, %u differ\n", machines[m].processor, tally.compared,
			tally.wrong);
		assert_true(tally.compared > RANDOM / 10);
		assert_int_equal(tally.wrong, 0);
	}
}

static int setup(void **state)
{
	(void)state;
	tools_find();
	return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[4096];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_compiled), cmocka_unit_test(test_random)};

	return cmocka_run_group_tests_name("timeline_amd_operands", tests, setup, teardown);
}
