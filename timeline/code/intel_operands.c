/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intel_operands.c - what instructions of Intel's GPUs wait for, since Xe: their software scoreboard (SWSB),
 * which compilers fill in, names it without a look at registers. Encodings follow Intel's disassembler
 * (iga64), code by code. Registers are not read: many instructions are compact, by tables.
 *
 *   $3       an instruction that ends out of order (send, and math until Xe-HPG) sets token 3
 *   $3.dst   waits until it has written its result, $3.src: until it has read its operands
 *   A@2      waits for the last but one instruction of all pipes that work in order; M@1: of the math pipe
 *
 *   bit 0          8            16 (Xe-HPC: 18)     81        92
 *   | operation | .. | scoreboard | ...           | message | unit or function |
 *
 * F@, I@ and L@ name pipes that follow from the types of operands: what they wait for is not told.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "timeline/code/gpu_isa.h"
#include "timeline/code/intel_word.h"

#ifndef EM_INTELGT
#define EM_INTELGT 205
#endif
#define WHOLE_BYTES 16u

enum operation {
	OP_SYNC = 0x01,
	OP_BRANCHES = 0x20,
	OP_BRANCHES_END = 0x30,
	OP_SEND = 0x31,
	OP_SEND_CONDITIONAL = 0x32,
	OP_MATH = 0x38,
	OP_MATRIX = 0x59,
	OP_MATRIX_WIDE = 0x5a,
	OP_NOTHING = 0x60
};

/* Units that messages go to. */
enum unit {
	UNIT_SAMPLER = 2,
	UNIT_GATEWAY = 3,
	UNIT_DATA_0 = 10,
	UNIT_DATA_1 = 12,
	UNIT_TEXTURE = 13,
	UNIT_SHARED = 14,
	UNIT_GLOBAL = 15
};
#define SYNC_BARRIER 14u
#define SYNC_ALL_READ 2u
#define SYNC_ALL_WRITTEN 3u
#define SHARED_SURFACE 0xfeu /* of data ports 0 and 1 */
#define FENCE 0x1fu	     /* of the newer units' operations */

static const char *const names[128] = {[0x01] = "sync",
	[0x20] = "jmpi",
	"brd",
	"if",
	"brc",
	"else",
	"endif",
	[0x27] = "while",
	"break",
	"cont",
	"halt",
	"calla",
	"call",
	"ret",
	"goto",
	"join",
	[0x31] = "send",
	"sendc",
	[0x38] = "math",
	[0x40] = "add",
	"mul",
	"avg",
	"frc",
	"rndu",
	"rndd",
	"rnde",
	"rndz",
	"mac",
	"mach",
	"lzd",
	"fbh",
	"fbl",
	"cbit",
	"addc",
	"subb",
	[0x52] = "add3",
	"macl",
	[0x54] = "srnd",
	[0x58] = "dp4a",
	"dpas",
	"dpasw",
	"mad",
	[0x5d] = "madm",
	[0x60] = "nop",
	"mov",
	"sel",
	"movi",
	"not",
	"and",
	"or",
	"xor",
	"shr",
	"shl",
	"smov",
	"bfn",
	"asr",
	[0x6e] = "ror",
	"rol",
	"cmp",
	"cmpn",
	"csel",
	[0x77] = "bfrev",
	"bfe",
	"bfi1",
	"bfi2"};

struct word {
	uint64_t low, high;
	unsigned family, operation;
	bool is_whole;
};

static unsigned bits(uint64_t word, unsigned at, unsigned count)
{
	return (unsigned)(word >> at) & ((1u << count) - 1);
}

static bool is_send(const struct word *word)
{
	return word->operation == OP_SEND || word->operation == OP_SEND_CONDITIONAL;
}

static bool ends_out_of_order(const struct word *word)
{
	return is_send(word) || word->operation == OP_MATRIX || word->operation == OP_MATRIX_WIDE ||
	       (word->operation == OP_MATH && word->family != INTEL_XE_HPC);
}

static bool is_branch(const struct word *word)
{
	return word->operation >= OP_BRANCHES && word->operation < OP_BRANCHES_END;
}

/* ---- the scoreboard ---- */

enum token_use { TOKEN_SETS, TOKEN_WAITS_RESULT, TOKEN_WAITS_OPERANDS };

static void token(struct gpu_instruction *in, unsigned number, enum token_use use)
{
	unsigned result = GPU_TOKEN + number, operands = result + GPU_TOKENS;

	if (use == TOKEN_SETS) {
		gpu_set_add(&in->defines, result);
		gpu_set_add(&in->defines, operands);
	} else {
		gpu_set_add(&in->uses, use == TOKEN_WAITS_RESULT ? result : operands);
	}
}

/* Waits for the instruction that is so many back in the order of the counter. */
static void distance(struct gpu_instruction *in, enum gpu_counter counter, unsigned back)
{
	if (!back)
		return;
	in->waits |= (uint8_t)(1u << counter);
	in->left[counter] = (uint8_t)(back - 1);
	gpu_set_add(&in->uses, GPU_COUNTER + counter);
}

/* 8 bits: a distance; a token; or 1, distance and token. */
static void scoreboard(struct gpu_instruction *in, const struct word *word)
{
	unsigned code = bits(word->low, 8, 8), number = code & 15;
	bool is_old = word->family == INTEL_GEN12;

	if (code >= 0x80) {
		if (is_old)
			distance(in, GPU_COUNTER_IN_ORDER, code >> 4 & 7);
		else if (is_send(word))
			distance(in, GPU_COUNTER_IN_ORDER, code >> 4 & 7);
		token(in, number, ends_out_of_order(word) ? TOKEN_SETS : TOKEN_WAITS_RESULT);
		return;
	}
	switch (code >> 4) {
	case 0:
		if (is_old || number > 8)
			distance(in, GPU_COUNTER_IN_ORDER, is_old ? number : number & 7);
		break;
	case 2:
		token(in, number, TOKEN_WAITS_RESULT);
		break;
	case 3:
		token(in, number, TOKEN_WAITS_OPERANDS);
		break;
	case 4:
		token(in, number, TOKEN_SETS);
		break;
	default:
		break;
	}
}

/* Xe-HPC's 10 bits: the upper two say how distance and token come together. */
static void scoreboard_hpc(struct gpu_instruction *in, const struct word *word)
{
	unsigned code = bits(word->low, 8, 8), way = bits(word->low, 16, 2), number = code & 31;

	if (way) {
		if (is_send(word) ? way == 1 : way == 3)
			distance(in, GPU_COUNTER_IN_ORDER, code >> 5);
		token(in, number,
			ends_out_of_order(word) ? TOKEN_SETS
			: way == 2		? TOKEN_WAITS_OPERANDS
						: TOKEN_WAITS_RESULT);
		return;
	}
	switch (code >> 5) {
	case 0:
		if (code > 8 && code < 16)
			distance(in, GPU_COUNTER_IN_ORDER, code & 7);
		break;
	case 1:
		if (code > 0x28 && code < 0x30)
			distance(in, GPU_COUNTER_MATH, code & 7);
		break;
	case 4:
		token(in, number, TOKEN_WAITS_RESULT);
		break;
	case 5:
		token(in, number, TOKEN_WAITS_OPERANDS);
		break;
	case 6:
		token(in, number, TOKEN_SETS);
		break;
	default:
		break;
	}
}

/* ---- operations ---- */

/* Units since Xe-HPG: loads, stores, atomic operations by number. */
static enum gpu_kind message_kind(unsigned operation)
{
	if (operation == FENCE)
		return GPU_KIND_FENCE;
	if (operation < 4)
		return GPU_KIND_LOAD;
	return operation < 8 || operation >= 0x20 ? GPU_KIND_STORE : GPU_KIND_ATOMIC;
}

static void read_message(struct gpu_instruction *in, const struct word *word)
{
	static const uint8_t spaces[16] = {[UNIT_SAMPLER] = GPU_SPACE_TEXTURE,
		[UNIT_DATA_0] = GPU_SPACE_GLOBAL,
		[UNIT_DATA_1] = GPU_SPACE_GLOBAL,
		[UNIT_TEXTURE] = GPU_SPACE_TEXTURE,
		[UNIT_SHARED] = GPU_SPACE_SHARED,
		[UNIT_GLOBAL] = GPU_SPACE_GLOBAL};
	unsigned unit = bits(word->high, 28, 4), surface = bits(word->high, 17, 8);
	bool has_result = bits(word->low, 51, 5), is_old = unit == UNIT_DATA_0 || unit == UNIT_DATA_1;

	in->space = spaces[unit];
	in->kind = GPU_KIND_CONTROL; /* barriers' signals, ends of threads and others */
	if (word->family == INTEL_GEN12 && unit > UNIT_DATA_1) {
		in->space = GPU_SPACE_NONE;
		return;
	}
	if (is_old && surface == SHARED_SURFACE)
		in->space = GPU_SPACE_SHARED;
	if (is_old || unit == UNIT_SAMPLER)
		in->kind = has_result ? GPU_KIND_LOAD : GPU_KIND_STORE;
	else if (in->space != GPU_SPACE_NONE)
		in->kind = message_kind(bits(word->high, 17, 6));
}

/* A compact one is a barrier if it waits for nothing else. */
static void read_sync(struct gpu_instruction *in, const struct word *word)
{
	unsigned function = word->is_whole ? bits(word->high, 28, 4) : 0;
	bool is_empty = !word->is_whole && !bits(word->low, 8, word->family == INTEL_XE_HPC ? 10 : 8);

	in->kind = function == SYNC_BARRIER || is_empty ? GPU_KIND_BARRIER : GPU_KIND_WAIT;
	for (unsigned n = 0; n < GPU_TOKENS; n++) {
		if (function == SYNC_ALL_READ)
			token(in, n, TOKEN_WAITS_OPERANDS);
		if (function == SYNC_ALL_WRITTEN)
			token(in, n, TOKEN_WAITS_RESULT);
	}
}

static void count(struct gpu_instruction *in, enum gpu_counter counter)
{
	in->counts |= (uint8_t)(1u << counter);
	gpu_set_add(&in->defines, GPU_COUNTER + counter);
}

static void read_operation(struct gpu_instruction *in, const struct word *word)
{
	switch (word->operation) {
	case OP_SYNC:
		read_sync(in, word);
		return;
	case OP_SEND:
	case OP_SEND_CONDITIONAL:
		read_message(in, word);
		return;
	case OP_MATRIX:
	case OP_MATRIX_WIDE:
		in->kind = GPU_KIND_MATRIX;
		return;
	case OP_NOTHING:
		in->kind = GPU_KIND_CONTROL;
		return;
	default:
		break;
	}
	in->kind = is_branch(word)		     ? GPU_KIND_CONTROL
		   : word->operation == OP_MATH	     ? GPU_KIND_SPECIAL
		   : (word->operation & ~3u) == 0x60 ? GPU_KIND_MOVE
						     : GPU_KIND_INTEGER;
	if (is_branch(word) || ends_out_of_order(word))
		return;
	count(in, GPU_COUNTER_IN_ORDER);
	if (word->operation == OP_MATH)
		count(in, GPU_COUNTER_MATH);
}

static bool instruction(const uint8_t *bytes, size_t size, unsigned family, struct gpu_instruction *in)
{
	struct word word = {.family = family, .is_whole = size >= WHOLE_BYTES};

	if (size >= sizeof word.low)
		memcpy(&word.low, bytes, sizeof word.low);
	if (word.is_whole)
		memcpy(&word.high, bytes + sizeof word.low, sizeof word.high);
	word.operation = bits(word.low, 0, 7);
	*in = (struct gpu_instruction){.name = names[word.operation] ? names[word.operation] : "?",
		.kind = GPU_KIND_OPAQUE,
		.guard = GPU_ALWAYS,
		.write_barrier = GPU_NO_BARRIER,
		.read_barrier = GPU_NO_BARRIER};
	if (!names[word.operation])
		return false;
	read_operation(in, &word);
	if (family == INTEL_XE_HPC)
		scoreboard_hpc(in, &word);
	else
		scoreboard(in, &word);
	return true;
}

static bool gen12_instruction(const uint8_t *bytes, size_t size, struct gpu_instruction *in)
{
	return instruction(bytes, size, INTEL_GEN12, in);
}

static bool xe_hp_instruction(const uint8_t *bytes, size_t size, struct gpu_instruction *in)
{
	return instruction(bytes, size, INTEL_XE_HP, in);
}

static bool xe_hpc_instruction(const uint8_t *bytes, size_t size, struct gpu_instruction *in)
{
	return instruction(bytes, size, INTEL_XE_HPC, in);
}

/* ---- names ---- */

static int resource_name(unsigned resource, char *text, size_t size)
{
	if (resource == GPU_COUNTER + GPU_COUNTER_MATH)
		return snprintf(text, size, "M@");
	if (resource < GPU_TOKEN)
		return snprintf(text, size, "A@");
	if (resource < GPU_TOKEN + GPU_TOKENS)
		return snprintf(text, size, "$%u.dst", resource - GPU_TOKEN);
	return snprintf(text, size, "$%u.src", resource - GPU_TOKEN - GPU_TOKENS);
}

static bool is_run(unsigned resource)
{
	(void)resource;
	return false;
}

const struct gpu_isa gpu_isa_gen12 = {.vendor = GPU_VENDOR_INTEL,
	.machine = EM_INTELGT | INTEL_GEN12 << 16,
	.instruction = gen12_instruction,
	.resource_name = resource_name,
	.is_run = is_run};
const struct gpu_isa gpu_isa_xe_hp = {.vendor = GPU_VENDOR_INTEL,
	.machine = EM_INTELGT | INTEL_XE_HP << 16,
	.instruction = xe_hp_instruction,
	.resource_name = resource_name,
	.is_run = is_run};
const struct gpu_isa gpu_isa_xe_hpc = {.vendor = GPU_VENDOR_INTEL,
	.machine = EM_INTELGT | INTEL_XE_HPC << 16,
	.instruction = xe_hpc_instruction,
	.resource_name = resource_name,
	.is_run = is_run};
