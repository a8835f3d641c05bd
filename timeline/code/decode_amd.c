/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_amd.c - control flow in the machine code of AMD GPUs (GCN 5, CDNA, RDNA 1 and 2), from AMD's
 * instruction set manuals: words of 4 bytes, where the first tells how many follow; only scalar instructions
 * jump.
 */
#include "timeline/code/decode.h"

#include <elf.h>
#include <string.h>

#include "timeline/code/amd_word.h"

#define WORD_BYTES 4u
#define LITERAL 255u /* as an operand: one more word */

static uint32_t word_at(const uint8_t *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof word);
	return word;
}

static unsigned bits(uint32_t word, unsigned at, unsigned count)
{
	return word >> at & ((1u << count) - 1);
}

/* ---- how long ---- */

/* Of the first operand of vector instructions: a literal, or a word that says how lanes are permuted. */
static bool has_second(unsigned generation, unsigned operand)
{
	if (operand == LITERAL || operand == 249 || operand == 250)
		return true;
	return generation >= 10 && (operand == 233 || operand == 234);
}

/* Multiply-adds with a constant, which is always there. */
static bool has_constant(unsigned generation, unsigned operation)
{
	if (generation < 10)
		return operation == 0x17 || operation == 0x18 || operation == 0x24 || operation == 0x25;
	return operation == 0x20 || operation == 0x21 || operation == 0x2c || operation == 0x2d ||
	       operation == 0x37 || operation == 0x38;
}

static unsigned vector_words(unsigned generation, uint32_t word)
{
	unsigned operation = bits(word, 25, 6);

	if (operation < 0x3e && has_constant(generation, operation))
		return 2;
	return has_second(generation, bits(word, 0, 9)) ? 2 : 1;
}

static unsigned scalar_words(unsigned generation, uint32_t word)
{
	bool first = bits(word, 0, 8) == LITERAL;

	switch (bits(word, 23, 9)) {
	case 0x17d: /* one operand */
		return first ? 2 : 1;
	case 0x17f: /* control */
		return 1;
	default:
		break;
	}
	if (bits(word, 28, 4) == 0xb && bits(word, 23, 9) != 0x17e) /* a constant in the word */
		return bits(word, 23, 5) == (generation < 10 ? 0x14u : 0x15u) ? 2 : 1;
	return first || bits(word, 8, 8) == LITERAL ? 2 : 1;
}

/* Operands of a wide vector instruction, in its second word. */
static unsigned wide_words(unsigned generation, uint32_t second)
{
	bool literal = bits(second, 0, 9) == LITERAL || bits(second, 9, 9) == LITERAL ||
		       bits(second, 18, 9) == LITERAL;

	return generation >= 10 && literal ? 3 : 2;
}

static unsigned words_of(unsigned generation, uint32_t word, uint32_t second)
{
	if (!(word >> 31))
		return vector_words(generation, word);
	if (!(word >> 30 & 1))
		return scalar_words(generation, word);
	switch (word >> 26) {
	case 0x32: /* interpolation: RDNA's place of it */
		return generation >= 10 ? 1 : 2;
	case 0x35: /* GCN's; wide vector of RDNA */
		return generation >= 10 ? wide_words(generation, second) : 1;
	case 0x33:
	case 0x34:
		return wide_words(generation, second);
	case 0x3c: /* images: RDNA's may name more registers */
		return generation >= 10 ? 2 + bits(word, 1, 2) : 2;
	default:
		return 2;
	}
}

/* ---- where to ---- */

static uint64_t away(uint32_t word, uint64_t address)
{
	return address + WORD_BYTES + (uint64_t)((int64_t)(int16_t)(word & 0xffff) * WORD_BYTES);
}

static void control(unsigned generation, uint32_t word, struct instruction *in)
{
	switch (bits(word, 16, 7)) {
	case 0: /* s_nop */
		in->is_padding = true;
		break;
	case 0x1: /* s_endpgm, and two that do something before */
	case 0x1b:
	case 0x1e:
		in->flow = FLOW_STOP;
		break;
	case 0x2:
		in->flow = FLOW_JUMP;
		in->target = away(word, in->address);
		break;
	case 0x4: /* s_cbranch: by the condition code, the lanes' or the mask */
	case 0x5:
	case 0x6:
	case 0x7:
	case 0x8:
	case 0x9:
	case 0x17: /* by a debugger */
	case 0x18:
	case 0x19:
	case 0x1a:
		in->flow = FLOW_BRANCH;
		in->target = away(word, in->address);
		break;
	case 0x1f: /* s_code_end */
		in->is_padding = generation >= 10;
		in->flow = in->is_padding ? FLOW_STOP : FLOW_NEXT;
		break;
	default:
		break;
	}
}

static void take_flow(unsigned generation, uint32_t word, struct instruction *in)
{
	unsigned shift = generation >= 10 ? 3 : 0, form = bits(word, 23, 9);

	if (form == 0x17f) {
		control(generation, word, in);
	} else if (form == 0x17d && bits(word, 8, 8) == 0x1d + shift) { /* s_setpc: returns */
		in->flow = FLOW_RETURN;
	} else if (form == 0x17d && bits(word, 8, 8) == 0x1e + shift) { /* s_swappc */
		in->flow = FLOW_CALL;
	} else if (bits(word, 28, 4) == 0xb && bits(word, 23, 5) == (shift ? 0x16u : 0x15u)) { /* s_call */
		in->flow = FLOW_CALL;
		in->target = away(word, in->address);
	}
}

static void amd_next(unsigned generation, const uint8_t *bytes, size_t size, struct instruction *in)
{
	uint32_t word;
	size_t whole;

	in->size = size < WORD_BYTES ? (uint8_t)size : WORD_BYTES;
	in->is_bad = size < WORD_BYTES;
	if (in->is_bad)
		return;
	word = word_at(bytes);
	whole = WORD_BYTES *
		words_of(generation, word, size < 2 * WORD_BYTES ? 0 : word_at(bytes + WORD_BYTES));
	in->is_bad = whole > size;
	if (in->is_bad)
		return;
	in->size = (uint8_t)whole;
	take_flow(generation, word, in);
}

static void gcn_next(void *state, const uint8_t *bytes, size_t size, struct instruction *in)
{
	(void)state;
	amd_next(9, bytes, size, in);
}

static void rdna_next(void *state, const uint8_t *bytes, size_t size, struct instruction *in)
{
	(void)state;
	amd_next(10, bytes, size, in);
}

/* Switches are trees of branches: there are no tables to look for. */
static void amd_effect(
	void *state, const uint8_t *bytes, size_t size, uint64_t address, struct effect *effect)
{
	(void)state, (void)bytes, (void)size, (void)address, (void)effect;
}

/* The last byte of e_flags names the processor, in the order of their invention. */
unsigned decode_amd_machine(unsigned processor)
{
	static const struct {
		uint8_t first, last, family;
	} known[] = {{0x2c, 0x32, AMD_GCN}, {0x33, 0x39, AMD_RDNA}, {0x3d, 0x3e, AMD_RDNA},
		{0x3f, 0x3f, AMD_CDNA2}, {0x40, 0x40, AMD_CDNA3}, {0x42, 0x42, AMD_RDNA},
		{0x45, 0x45, AMD_RDNA}, {0x4b, 0x4c, AMD_CDNA3}};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (processor >= known[i].first && processor <= known[i].last)
			return EM_AMDGPU | (unsigned)known[i].family << 16;
	return EM_AMDGPU;
}

const struct decode_machine decode_gcn = {
	.machine = EM_AMDGPU | AMD_GCN << 16, .next = gcn_next, .effect = amd_effect};
const struct decode_machine decode_cdna2 = {
	.machine = EM_AMDGPU | AMD_CDNA2 << 16, .next = gcn_next, .effect = amd_effect};
const struct decode_machine decode_cdna3 = {
	.machine = EM_AMDGPU | AMD_CDNA3 << 16, .next = gcn_next, .effect = amd_effect};
const struct decode_machine decode_rdna = {
	.machine = EM_AMDGPU | AMD_RDNA << 16, .next = rdna_next, .effect = amd_effect};
