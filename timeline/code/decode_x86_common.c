/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_x86_common.c - the length of the instructions that compilers write most: they are a few opcodes in a
 * few forms, and asking the decoder, which also writes each one's text, takes many times as long. Says
 * nothing of all others, nor of anything that might be no instruction.
 */
#include "timeline/code/decode.h"

#include <string.h>

/* What follows an opcode. */
enum form {
	OTHER,	 /* not told here */
	NONE,	 /* nothing */
	BYTE,	 /* a byte */
	FOUR,	 /* four bytes */
	FULL,	 /* four bytes, eight in a wide instruction */
	RM,	 /* an operand */
	RM_BYTE, /* an operand and a byte */
	RM_FOUR,
	MEMORY,	   /* an operand in memory */
	MOVE_BYTE, /* from here on: an operand whose middle bits extend the opcode */
	MOVE_FOUR,
	UNARY_BYTE,
	UNARY_FOUR,
	STEP,
	GROUP
};

#define ARITHMETIC(code)                                                                             \
	[(code)] = RM, [(code) + 1] = RM, [(code) + 2] = RM, [(code) + 3] = RM, [(code) + 4] = BYTE, \
	[(code) + 5] = FOUR

static const uint8_t one[256] = {ARITHMETIC(0x00), ARITHMETIC(0x08), ARITHMETIC(0x10), ARITHMETIC(0x18),
	ARITHMETIC(0x20), ARITHMETIC(0x28), ARITHMETIC(0x30), ARITHMETIC(0x38),
	[0x50 ... 0x5f] = NONE, [0x63] = RM, [0x68] = FOUR, [0x69] = RM_FOUR, [0x6a] = BYTE, [0x6b] = RM_BYTE,
	[0x70 ... 0x7f] = BYTE, [0x80] = RM_BYTE, [0x81] = RM_FOUR, [0x83] = RM_BYTE, [0x84 ... 0x8b] = RM,
	[0x8d] = MEMORY, [0x90] = NONE, [0x98] = NONE, [0x99] = NONE, [0xa8] = BYTE, [0xa9] = FOUR,
	[0xb0 ... 0xb7] = BYTE, [0xb8 ... 0xbf] = FULL, [0xc0 ... 0xc1] = RM_BYTE, [0xc3] = NONE,
	[0xc6] = MOVE_BYTE, [0xc7] = MOVE_FOUR, [0xc9] = NONE, [0xcc] = NONE,
	[0xd0 ... 0xd3] = RM, [0xe8] = FOUR, [0xe9] = FOUR, [0xeb] = BYTE, [0xf6] = UNARY_BYTE,
	[0xf7] = UNARY_FOUR, [0xfe] = STEP, [0xff] = GROUP};

/* After 0F. */
static const uint8_t two[256] = {[0x0b] = NONE,
	[0x10 ... 0x11] = RM,
	[0x28 ... 0x29] = RM,
	[0x2e ... 0x2f] = RM,
	[0x40 ... 0x4f] = RM,
	[0x51] = RM,
	[0x54 ... 0x59] = RM,
	[0x5c ... 0x5f] = RM,
	[0x80 ... 0x8f] = FOUR,
	[0x90 ... 0x9f] = RM,
	[0xa3] = RM,
	[0xaf] = RM,
	[0xb6 ... 0xb7] = RM,
	[0xbe ... 0xbf] = RM};

/* Those of SSE that a prefix F2 or F3 makes another instruction of. */
static const uint8_t scalar[256] = {
	[0x10 ... 0x11] = RM, [0x51] = RM, [0x58 ... 0x59] = RM, [0x5c ... 0x5f] = RM};

/* Whether the opcode is one with that extension. */
static bool is_known(enum form form, unsigned extension)
{
	switch (form) {
	case MOVE_BYTE:
	case MOVE_FOUR:
		return extension == 0;
	case UNARY_BYTE:
	case UNARY_FOUR:
		return extension != 1;
	case STEP:
		return extension < 2;
	case GROUP:
		return extension < 3 || extension == 4 || extension == 6;
	default:
		return true;
	}
}

static size_t immediate_bytes(enum form form, unsigned extension)
{
	switch (form) {
	case RM_BYTE:
	case MOVE_BYTE:
		return 1;
	case RM_FOUR:
	case MOVE_FOUR:
		return 4;
	case UNARY_BYTE:
		return extension == 0 ? 1 : 0; /* test */
	case UNARY_FOUR:
		return extension == 0 ? 4 : 0;
	default:
		return 0;
	}
}

/* ModRM, SIB, displacement; there are two bytes at least. */
static size_t operand_bytes(const uint8_t *at)
{
	unsigned mode = at[0] >> 6, base = at[0] & 7;
	size_t bytes = 1;

	if (mode == 3)
		return 1;
	if (base == 4) {
		base = at[1] & 7;
		bytes++;
	}
	return bytes + (mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0);
}

/* *rest: bytes after the opcode. False: not told. */
static bool rest_of(enum form form, const uint8_t *at, unsigned rex, bool is_short, size_t *rest)
{
	unsigned extension = at[0] >> 3 & 7;
	size_t immediate = 0;

	*rest = form == BYTE ? 1 : form == FOUR ? 4 : form == FULL ? (rex & 8 ? 8 : 4) : 0;
	if (form >= RM) {
		if (!is_known(form, extension) || (form == MEMORY && at[0] >> 6 == 3))
			return false;
		immediate = immediate_bytes(form, extension);
		*rest = operand_bytes(at) + immediate;
	}
	/* The prefix halves what has four bytes; what it does to branches depends on the processor. */
	return !is_short || (form >= RM && immediate < 4);
}

size_t decode_x86_common(const uint8_t *bytes, size_t size)
{
	uint8_t prefix = bytes[0];
	size_t at = prefix == 0x66 || prefix == 0xf2 || prefix == 0xf3, rest;
	const uint8_t *forms = one;
	unsigned rex = 0;

	if (size < 15) /* all bytes may be read */
		return 0;
	if ((bytes[at] & 0xf0) == 0x40)
		rex = bytes[at++];
	if (bytes[at] == 0x0f) {
		at++;
		forms = prefix == 0xf2 || prefix == 0xf3 ? scalar : two;
	} else if (prefix == 0xf2 || prefix == 0xf3) {
		return 0;
	}
	if (!forms[bytes[at]] || !rest_of(forms[bytes[at]], bytes + at + 1, rex, prefix == 0x66, &rest))
		return 0;
	return at + 1 + rest;
}
