/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_intel.c - control flow in the machine code of Intel's GPUs (Gen8 to Xe), as its assembler IGA
 * decodes it: instructions have 16 bytes, or 8 in the compact form, which no jump uses. The graph is that of
 * one lane: what other lanes do meanwhile (join, endif) just continues.
 *
 *   bit 0     7        16 or 24   29           64           96          128
 *   | operation | ...  | predicate | compact ... | UIP or -- | JIP        |      bytes from the instruction
 */
#include "timeline/code/decode.h"

#include <elf.h>
#include <string.h>

#include "timeline/code/intel_word.h"

#ifndef EM_INTELGT
#define EM_INTELGT 205
#endif
#define WHOLE_BYTES 16u
#define COMPACT_BYTES 8u

enum operation {
	OP_JUMP = 0x20,
	OP_BRANCH_DIVERGING,
	OP_IF,
	OP_BRANCH_CONVERGING,
	OP_ELSE,
	OP_ENDIF,
	OP_WHILE = 0x27,
	OP_BREAK,
	OP_CONTINUE,
	OP_HALT,
	OP_CALL_ABSOLUTE,
	OP_CALL,
	OP_RETURN,
	OP_GOTO,
	OP_SEND = 0x31,
	OP_SEND_CONDITIONAL,
	OP_SENDS,
	OP_SENDS_CONDITIONAL
};

struct word {
	uint64_t low, high;
};

static bool is_predicated(unsigned generation, struct word word)
{
	return word.low >> (generation >= INTEL_GEN12 ? 24 : 16) & 15;
}

static bool ends_thread(unsigned generation, struct word word)
{
	return generation >= INTEL_GEN12 ? word.low >> 34 & 1 : word.high >> 63;
}

static void jump_to(unsigned generation, struct word word, int32_t distance, struct instruction *in)
{
	in->flow = is_predicated(generation, word) ? FLOW_BRANCH : FLOW_JUMP;
	in->target = in->address + (uint64_t)(int64_t)distance;
}

static void take_flow(unsigned generation, struct word word, struct instruction *in)
{
	int32_t jip = (int32_t)(word.high >> 32), uip = (int32_t)word.high;

	switch (word.low & 0x7f) {
	case OP_JUMP: /* counts from the next instruction */
		jump_to(generation, word, jip + (int32_t)WHOLE_BYTES, in);
		break;
	case OP_IF:
	case OP_ELSE:
	case OP_WHILE:
	case OP_BRANCH_DIVERGING:
	case OP_BRANCH_CONVERGING:
		jump_to(generation, word, jip, in);
		break;
	case OP_BREAK:
	case OP_CONTINUE:
	case OP_HALT:
	case OP_GOTO:
		jump_to(generation, word, uip, in);
		break;
	case OP_CALL_ABSOLUTE:
		in->flow = FLOW_CALL;
		break;
	case OP_CALL:
		in->flow = FLOW_CALL;
		in->target = in->address + (uint64_t)(int64_t)jip;
		break;
	case OP_RETURN:
		in->flow = is_predicated(generation, word) ? FLOW_NEXT : FLOW_RETURN;
		break;
	case OP_SEND:
	case OP_SEND_CONDITIONAL:
		in->flow = ends_thread(generation, word) ? FLOW_STOP : FLOW_NEXT;
		break;
	case OP_SENDS:
	case OP_SENDS_CONDITIONAL:
		in->flow = generation < INTEL_GEN12 && ends_thread(generation, word) ? FLOW_STOP : FLOW_NEXT;
		break;
	default:
		break;
	}
}

static void intel_next(unsigned generation, const uint8_t *bytes, size_t size, struct instruction *in)
{
	struct word word = {0};
	bool is_compact;

	in->is_bad = size < COMPACT_BYTES;
	in->size = size < COMPACT_BYTES ? (uint8_t)size : COMPACT_BYTES;
	if (in->is_bad)
		return;
	memcpy(&word, bytes, COMPACT_BYTES);
	is_compact = word.low >> 29 & 1;
	in->is_padding = !word.low || (word.low & 0x7f) == (generation >= INTEL_GEN12 ? 0x60 : 0x7e);
	in->is_bad = !is_compact && size < WHOLE_BYTES;
	if (is_compact || in->is_bad)
		return;
	memcpy(&word.high, bytes + COMPACT_BYTES, COMPACT_BYTES);
	in->size = WHOLE_BYTES;
	take_flow(generation, word, in);
}

static void gen8_next(void *state, const uint8_t *bytes, size_t size, struct instruction *in)
{
	(void)state;
	intel_next(INTEL_GEN8, bytes, size, in);
}

static void gen12_next(void *state, const uint8_t *bytes, size_t size, struct instruction *in)
{
	(void)state;
	intel_next(INTEL_GEN12, bytes, size, in);
}

/* Switches are trees of branches. */
static void intel_effect(
	void *state, const uint8_t *bytes, size_t size, uint64_t address, struct effect *effect)
{
	(void)state, (void)bytes, (void)size, (void)address, (void)effect;
}

unsigned decode_intel_machine(unsigned family, unsigned product)
{
	if ((family >= 11 && family <= 16) || (!family && product >= 16 && product <= 28))
		return EM_INTELGT | INTEL_GEN8 << 16;
	if (family == 0xc08 || (!family && product == 1271))
		return EM_INTELGT | INTEL_XE_HPC << 16;
	if ((family >= 0xc05 && family <= 0xc07) || (!family && product >= 1250 && product <= 1270))
		return EM_INTELGT | INTEL_XE_HP << 16;
	if (family == 17 || family == 18 ||
		(!family && ((product >= 29 && product <= 33) || (product >= 1210 && product <= 1249))))
		return EM_INTELGT | INTEL_GEN12 << 16;
	return EM_INTELGT;
}

const struct decode_machine decode_gen8 = {
	.machine = EM_INTELGT | INTEL_GEN8 << 16, .next = gen8_next, .effect = intel_effect};
const struct decode_machine decode_gen12 = {
	.machine = EM_INTELGT | INTEL_GEN12 << 16, .next = gen12_next, .effect = intel_effect};
const struct decode_machine decode_xe_hp = {
	.machine = EM_INTELGT | INTEL_XE_HP << 16, .next = gen12_next, .effect = intel_effect};
const struct decode_machine decode_xe_hpc = {
	.machine = EM_INTELGT | INTEL_XE_HPC << 16, .next = gen12_next, .effect = intel_effect};
