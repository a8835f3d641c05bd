/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_sass.c - control flow in the machine code of NVIDIA GPUs since Volta: each instruction has 16
 * bytes, its low 9 bits are the opcode, and few jump. NVIDIA documents none of it: this follows its own
 * disassembler's output for compiled code (tests/gpu/), generation by generation.
 *
 *   bit 0     9     12   16         24   28        34            82         87  90 91
 *   | operation | form | guard | near | UP |  ...  |    far      |   ...    | P  |  | by lanes |
 *
 * A branch goes to the end of its instruction plus `far` words of 4 bytes; since Hopper `far` counts 256
 * words and `near` the rest. It is taken if guard and P are true; by lanes: if a uniform predicate (UP) is,
 * or the lanes diverge.
 */
#include "timeline/code/decode.h"

#include <elf.h>
#include <string.h>

#include "timeline/code/sass_word.h"

#define SASS_BYTES 16u
#define ALWAYS 7u   /* a predicate that is always true; 8 above it: never */
#define NEWEST 129u /* Blackwell's */

enum operation {
	OP_NOP = 0x118,
	OP_CALL_ABSOLUTE = 0x143,
	OP_CALL = 0x144,
	OP_BRANCH = 0x147,
	OP_WARP_SYNC = 0x148, /* "collective", it has a target */
	OP_BRANCH_INDEXED = 0x149,
	OP_JUMP_ABSOLUTE = 0x14a,
	OP_JUMP_INDEXED = 0x14c,
	OP_EXIT = 0x14d,
	OP_RETURN = 0x150,
	OP_KILL = 0x15b
};
#define FORM_IMMEDIATE 4u /* what the operand is, in the bits above the operation */

struct word {
	uint64_t low, high;
};

static unsigned bits(uint64_t word, unsigned at, unsigned count)
{
	return (unsigned)(word >> at) & ((1u << count) - 1);
}

/* Bits 34 to 81, signed. */
static int64_t far(struct word word)
{
	uint64_t value = word.low >> 34 | (word.high & 0x3ffff) << 30, sign = 1ull << 47;

	return (int64_t)(value ^ sign) - (int64_t)sign;
}

static uint64_t target_of(struct word word, uint64_t address, unsigned generation)
{
	uint64_t words = (uint64_t)far(word);

	if (generation >= SASS_HOPPER)
		words = words << 8 | bits(word.low, 16, 8);
	return address + SASS_BYTES + words * 4;
}

static void branch(struct word word, unsigned generation, struct instruction *in)
{
	unsigned guard = bits(word.low, 12, 4), second = bits(word.high, 23, 4);
	bool by_lanes = word.high >> 27 & 1;

	in->target = target_of(word, in->address, generation);
	in->flow = guard == ALWAYS && second == ALWAYS && !by_lanes ? FLOW_JUMP : FLOW_BRANCH;
	/* Functions end in a branch to itself, which nothing leads to. */
	in->is_padding = in->flow == FLOW_JUMP && in->target == in->address;
	if (in->is_padding)
		in->flow = FLOW_STOP;
}

/* A jump that is not always taken lets the next instruction follow. */
static uint8_t guarded(struct word word, enum flow flow)
{
	return bits(word.low, 12, 4) == ALWAYS && bits(word.high, 23, 3) == ALWAYS ? flow : FLOW_NEXT;
}

static void sass_next(unsigned generation, const uint8_t *bytes, size_t size, struct instruction *in)
{
	struct word word;

	in->size = size < SASS_BYTES ? (uint8_t)size : SASS_BYTES;
	in->is_bad = size < SASS_BYTES;
	if (in->is_bad)
		return;
	memcpy(&word, bytes, sizeof word);
	switch (bits(word.low, 0, 9)) {
	case OP_NOP:
		in->is_padding = true;
		break;
	case OP_BRANCH:
		branch(word, generation, in);
		break;
	case OP_WARP_SYNC:
		if (word.high >> 22 & 1) {
			in->flow = FLOW_BRANCH;
			in->target = target_of(word, in->address, generation);
		}
		break;
	case OP_CALL:
	case OP_CALL_ABSOLUTE:
		in->flow = FLOW_CALL;
		if (bits(word.low, 9, 3) == FORM_IMMEDIATE && bits(word.low, 0, 9) == OP_CALL)
			in->target = target_of(word, in->address, generation);
		break;
	case OP_BRANCH_INDEXED:
	case OP_JUMP_ABSOLUTE:
	case OP_JUMP_INDEXED:
		in->flow = FLOW_JUMP_INDIRECT;
		break;
	case OP_EXIT:
	case OP_KILL:
		in->flow = guarded(word, FLOW_STOP);
		break;
	case OP_RETURN:
		in->flow = guarded(word, FLOW_RETURN);
		break;
	default:
		break;
	}
}

static void volta_next(void *state, const uint8_t *bytes, size_t size, struct instruction *in)
{
	(void)state;
	sass_next(SASS_VOLTA, bytes, size, in);
}

static void hopper_next(void *state, const uint8_t *bytes, size_t size, struct instruction *in)
{
	(void)state;
	sass_next(SASS_HOPPER, bytes, size, in);
}

/* Where indexed branches lead stands in the binary (gpu_code_target()): no table is looked for. */
static void sass_effect(
	void *state, const uint8_t *bytes, size_t size, uint64_t address, struct effect *effect)
{
	(void)state, (void)bytes, (void)size, (void)address, (void)effect;
}

unsigned decode_sass_machine(unsigned generation)
{
	if (generation < SASS_VOLTA || generation > NEWEST)
		return EM_CUDA;
	return EM_CUDA | (generation < SASS_HOPPER ? SASS_VOLTA : SASS_HOPPER) << 16;
}

const struct decode_machine decode_volta = {
	.machine = EM_CUDA | SASS_VOLTA << 16, .next = volta_next, .effect = sass_effect};
const struct decode_machine decode_hopper = {
	.machine = EM_CUDA | SASS_HOPPER << 16, .next = hopper_next, .effect = sass_effect};
