/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_arm64.c - AArch64: every instruction has four bytes, and a few bits identify branches, so no
 * library is needed. Undefined words count as instructions that do nothing.
 */
#include "timeline/code/decode.h"

#include <elf.h>
#include <string.h>

#define WORD_BYTES 4u
#define CALL_CLOBBERS 0x4007ffffu /* x0..x18, x30 */

static uint32_t word_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* Bits [low, low + count) of the word, signed. */
static int64_t field(uint32_t word, unsigned low, unsigned count)
{
	uint64_t bits = (word >> low) & ((1ull << count) - 1), sign = 1ull << (count - 1);

	return (int64_t)(bits ^ sign) - (int64_t)sign;
}

static uint64_t away(uint64_t address, int64_t words)
{
	return address + (uint64_t)words * WORD_BYTES;
}

static void arm64_next(void *state, const uint8_t *bytes, size_t size, struct instruction *in)
{
	uint32_t word;

	(void)state;
	in->size = size < WORD_BYTES ? (uint8_t)size : WORD_BYTES;
	in->is_bad = size < WORD_BYTES;
	if (in->is_bad)
		return;
	word = word_at(bytes);
	if ((word & 0x7c000000) == 0x14000000) { /* b, bl */
		in->flow = word >> 31 ? FLOW_CALL : FLOW_JUMP;
		in->target = away(in->address, field(word, 0, 26));
	} else if ((word & 0xff000000) == 0x54000000) { /* b.cond: "always" has two spellings */
		in->flow = (word & 0xe) == 0xe ? FLOW_JUMP : FLOW_BRANCH;
		in->target = away(in->address, field(word, 5, 19));
	} else if ((word & 0x7e000000) == 0x34000000) { /* cbz, cbnz */
		in->flow = FLOW_BRANCH;
		in->target = away(in->address, field(word, 5, 19));
	} else if ((word & 0x7e000000) == 0x36000000) { /* tbz, tbnz */
		in->flow = FLOW_BRANCH;
		in->target = away(in->address, field(word, 5, 14));
	} else if ((word & 0xfe000000) == 0xd6000000) { /* br, blr, ret, eret, with or without a key */
		static const uint8_t flows[] = {
			FLOW_JUMP_INDIRECT, FLOW_CALL, FLOW_RETURN, FLOW_STOP, FLOW_RETURN, FLOW_RETURN};
		unsigned which = (word >> 21) & 7;

		in->flow = which < sizeof flows ? flows[which] : FLOW_NEXT;
	} else if ((word & 0xffe0001f) == 0xd4200000 || (word & 0xffff0000) == 0) { /* brk, udf */
		in->flow = FLOW_STOP;
		in->is_padding = (word & 0xffff0000) == 0;
	} else if (word == 0xd503201f) {
		in->is_padding = true;
	} else if (word == 0xd503203f || word == 0xd503205f || word == 0xd5033fdf) { /* yield, wfe, isb */
		in->is_pause = true;
	} else {
		in->is_bad = (word & 0x1e000000) == 0; /* reserved */
	}
}

/* adr, adrp */
static bool take_address(uint32_t word, uint64_t address, struct effect *effect)
{
	int64_t value;

	if ((word & 0x1f000000) != 0x10000000)
		return false;
	value = field(word, 5, 19) * 4 + ((word >> 29) & 3);
	effect->kind = EFFECT_ADDRESS;
	effect->to = word & 31;
	effect->value = word >> 31 ? (int64_t)((address & ~(uint64_t)0xfff) + (uint64_t)value * 4096)
				   : (int64_t)(address + (uint64_t)value);
	return true;
}

static bool take_add(uint32_t word, struct effect *effect)
{
	if ((word & 0xff800000) == 0x91000000) { /* add xd, xn, #imm, lsl #0 or #12 */
		effect->value = (int64_t)((word >> 10) & 0xfff) << (word & 0x400000 ? 12 : 0);
	} else if ((word & 0xffe00000) == 0x8b000000) { /* add xd, xn, xm, lsl #n */
		effect->b = (word >> 16) & 31;
		effect->shift = (word >> 10) & 63;
	} else if ((word & 0xffe00000) == 0x8b200000) { /* add xd, xn, wm, extend #n */
		static const uint8_t widths[] = {1, 2, 4, 8};

		effect->b = (word >> 16) & 31;
		effect->shift = (word >> 10) & 7;
		effect->width = widths[(word >> 13) & 3];
		effect->is_signed = (word >> 15) & 1;
	} else {
		return false;
	}
	effect->kind = EFFECT_ADD;
	effect->to = word & 31;
	effect->a = (word >> 5) & 31;
	return true;
}

/* Loads with a register offset: [xn, xm or wm, extend #0 or #size]. */
static bool take_load(uint32_t word, struct effect *effect)
{
	unsigned size = word >> 30, what = (word >> 22) & 3;

	if ((word & 0x3f200c00) != 0x38200800 || what == 0)
		return false;
	effect->kind = EFFECT_LOAD;
	effect->to = word & 31;
	effect->a = (word >> 5) & 31;
	effect->b = (word >> 16) & 31;
	effect->shift = word & 0x1000 ? (uint8_t)size : 0;
	effect->width = (uint8_t)(1u << size);
	effect->is_signed = what >= 2;
	return true;
}

static void arm64_effect(
	void *state, const uint8_t *bytes, size_t size, uint64_t address, struct effect *effect)
{
	uint32_t word = size < WORD_BYTES ? 0 : word_at(bytes);

	(void)state;
	if ((word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000) {
		effect->clobbers = CALL_CLOBBERS;
		return;
	}
	if ((word & 0xfffffc1f) == 0xd61f0000) {
		effect->kind = EFFECT_JUMP;
		effect->a = (word >> 5) & 31;
		return;
	}
	if ((word & 0x7f80001f) == 0x7100001f) { /* cmp wn or xn, #imm */
		effect->kind = EFFECT_COMPARE;
		effect->a = (word >> 5) & 31;
		effect->value = (int64_t)((word >> 10) & 0xfff) << (word & 0x400000 ? 12 : 0);
		return;
	}
	if ((word & 0xff00001e) == 0x54000008) { /* b.hi, b.ls */
		effect->kind = EFFECT_ABOVE;
		return;
	}
	if ((word & 0xff00001e) == 0x54000002) { /* b.hs, b.lo */
		effect->kind = EFFECT_NOT_BELOW;
		return;
	}
	if (take_address(word, address, effect) || take_add(word, effect) || take_load(word, effect)) {
		effect->clobbers = 1u << effect->to;
	} else if ((word & 0xffe0ffe0) == 0xaa0003e0 || (word & 0xffe0ffe0) == 0x2a0003e0) { /* mov */
		effect->kind = EFFECT_COPY;
		effect->to = word & 31;
		effect->a = (word >> 16) & 31;
		effect->clobbers = 1u << effect->to;
	} else if ((word & 0x1c000000) == 0x10000000 || (word & 0x0e000000) == 0x0a000000 ||
		   ((word & 0x0a000000) == 0x08000000 && (word & 0x00400000))) {
		/* data processing, loads: they write the first operand; so do, by assumption, stores of
		 * pairs */
		effect->clobbers = 1u << (word & 31);
	}
}

const struct decode_machine decode_arm64 = {
	.machine = EM_AARCH64,
	.next = arm64_next,
	.effect = arm64_effect,
};
