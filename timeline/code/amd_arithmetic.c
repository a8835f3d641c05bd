/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amd_arithmetic.c - integer arithmetic in AMD's machine code (GCN 5, CDNA 1 to 3), as far as programs make
 * addresses and conditions of it: encodings and operations are those of amd_operands.c, the same for all
 * these processors. Of results of two words it tells the low one.
 */
#include "timeline/code/amd_arithmetic.h"

#include <string.h>

enum {
	VCC_LO = 106,
	EXEC_LO = 126,
	INTEGER = 128,		/* 0 to 64, */
	INTEGER_NEGATIVE = 193, /* and -1 to -16 */
	INTEGER_END = 209,
	SDWA = 249,
	DPP = 250,
	LITERAL = 255,
	VECTOR = 256
};
#define OUT_OF_BANKS (1 << 20) /* a constant that is not known */

/* Operations; the wide form of narrow ones begins at 0x100 (two operands) and 0x140 (one). */
enum {
	V_MUL_I24 = 0x06,
	V_MUL_U24 = 0x08,
	V_LSHRREV = 0x10,
	V_ASHRREV,
	V_LSHLREV,
	V_AND,
	V_ADD_CO = 0x19,
	V_SUB_CO,
	V_SUBREV_CO,
	V_ADD = 0x34,
	V_SUB,
	V_SUBREV
};
enum { V_MOV = 0x01, V_READFIRSTLANE };
enum {
	W_MAD_I24 = 0x1c2,
	W_MAD_U24,
	W_BFE_U = 0x1c8,
	W_BFE_I,
	W_MAD_U64 = 0x1e8,
	W_LSHL_ADD = 0x1fd,
	W_ADD3 = 0x1ff,
	W_LSHL_OR,
	W_MUL_LO = 0x285,
	W_MBCNT_LO = 0x28c,
	W_MBCNT_HI,
	W_LSHLREV_64 = 0x28f,
	W_LSHRREV_64,
	W_ASHRREV_64
};
enum { S_MOV_32 = 0x00, S_MOV_64, S_AND_SAVEEXEC = 0x20, S_OR_SAVEEXEC, S_ANDN2_SAVEEXEC = 0x23 };

struct word {
	uint32_t first, second;
};

static unsigned bits(uint32_t word, unsigned at, unsigned count)
{
	return word >> at & ((1u << count) - 1);
}

static struct gpu_operand immediate(int64_t value)
{
	return (struct gpu_operand){GPU_OPERAND_IMMEDIATE, value, false};
}

static struct gpu_operand vector(unsigned number)
{
	return (struct gpu_operand){GPU_OPERAND_REGISTER, number, false};
}

/* An operand of 9 bits. */
static struct gpu_operand source(struct word word, unsigned number)
{
	if (number >= VECTOR)
		return vector(number - VECTOR);
	if (number < INTEGER)
		return (struct gpu_operand){GPU_OPERAND_REGISTER, GPU_SCALAR + number, false};
	if (number < INTEGER_NEGATIVE)
		return immediate((int64_t)number - INTEGER);
	if (number < INTEGER_END)
		return immediate((int64_t)INTEGER_NEGATIVE - 1 - number);
	if (number == LITERAL)
		return immediate((int32_t)word.second);
	return (struct gpu_operand){GPU_OPERAND_CONSTANT, OUT_OF_BANKS, false};
}

static void swap(struct gpu_arithmetic *to)
{
	struct gpu_operand a = to->a;

	to->a = to->b;
	to->b = a;
}

static void add(struct gpu_arithmetic *to, bool is_negated)
{
	to->operation = GPU_ADD;
	to->b.is_negated = is_negated;
	to->c = immediate(0);
}

/* Two operands; of reversed ones the second comes first. */
static void two(struct gpu_arithmetic *to, unsigned operation)
{
	switch (operation) {
	case V_MUL_I24:
	case V_MUL_U24:
		to->operation = GPU_MULTIPLY;
		to->c = immediate(0);
		break;
	case V_LSHRREV:
	case V_ASHRREV:
		swap(to);
		to->operation = GPU_SHIFT_RIGHT;
		to->is_sign = operation == V_ASHRREV;
		to->c = immediate(0);
		break;
	case V_LSHLREV:
		swap(to);
		to->operation = GPU_SHIFT_ADD;
		to->c = immediate(0);
		break;
	case V_AND:
		if (to->a.kind == GPU_OPERAND_IMMEDIATE)
			swap(to);
		to->operation = GPU_AND;
		break;
	case V_SUBREV_CO:
	case V_SUBREV:
		swap(to);
		add(to, true);
		break;
	case V_ADD_CO:
	case V_ADD:
	case V_SUB_CO:
	case V_SUB:
		add(to, operation == V_SUB_CO || operation == V_SUB);
		break;
	default:
		break;
	}
}

static void one(struct gpu_arithmetic *to, unsigned operation)
{
	if (operation == V_MOV)
		to->operation = GPU_COPY;
	else if (operation == V_READFIRSTLANE)
		to->operation = GPU_SAME;
}

static void three(struct gpu_arithmetic *to, unsigned operation)
{
	switch (operation) {
	case W_MAD_I24:
	case W_MAD_U24:
	case W_MAD_U64:
		to->operation = GPU_MULTIPLY;
		break;
	case W_MUL_LO:
		to->operation = GPU_MULTIPLY;
		to->c = immediate(0);
		break;
	case W_BFE_U: /* the lowest bits of what is left */
	case W_BFE_I:
		to->operation = GPU_SHIFT_RIGHT;
		to->c = immediate(0);
		break;
	case W_LSHL_ADD:
	case W_LSHL_OR: /* compilers make it where no bit meets another */
		to->operation = GPU_SHIFT_ADD;
		break;
	case W_ADD3:
		to->operation = GPU_ADD;
		break;
	case W_MBCNT_LO:
	case W_MBCNT_HI: /* of a whole mask: the number of the thread in its wave */
		if (to->a.kind == GPU_OPERAND_IMMEDIATE && to->a.value == -1) {
			to->operation = GPU_SPECIAL;
			to->special = GPU_SPECIAL_LANE;
		}
		break;
	case W_LSHLREV_64:
		two(to, V_LSHLREV);
		break;
	case W_LSHRREV_64:
	case W_ASHRREV_64:
		two(to, operation == W_ASHRREV_64 ? V_ASHRREV : V_LSHRREV);
		break;
	default:
		break;
	}
}

/* Of the lowest three bits: less, equal, not greater, greater, unequal, not less. */
static void compare(struct gpu_arithmetic *to, unsigned operation)
{
	unsigned comparison = operation & 7;

	to->operation = comparison && comparison != 7 ? GPU_COMPARE : GPU_OTHER;
	to->comparison = comparison == 2   ? GPU_COMPARE_EQUAL
			 : comparison == 5 ? GPU_COMPARE_UNEQUAL
					   : GPU_COMPARE_ORDER;
}

static void narrow(struct word word, struct gpu_arithmetic *to)
{
	unsigned operation = bits(word.first, 25, 6), a = bits(word.first, 0, 9);

	if (a == SDWA || a == DPP)
		return;
	to->a = source(word, a);
	to->b = vector(bits(word.first, 9, 8));
	to->define = (uint16_t)bits(word.first, 17, 8);
	if (operation == 0x3e)
		compare(to, bits(word.first, 17, 8));
	else if (operation == 0x3f)
		one(to, bits(word.first, 9, 8));
	else
		two(to, operation);
}

static void wide(struct word word, struct gpu_arithmetic *to)
{
	unsigned operation = bits(word.first, 16, 10);

	to->a = source(word, bits(word.second, 0, 9));
	to->b = source(word, bits(word.second, 9, 9));
	to->c = source(word, bits(word.second, 18, 9));
	to->define = (uint16_t)bits(word.first, 0, 8);
	if (operation < 0x100)
		compare(to, operation);
	else if (operation < 0x140)
		two(to, operation - 0x100);
	else if (operation < 0x1c0)
		one(to, operation - 0x140);
	else
		three(to, operation);
}

/* Masks of threads; all other scalars are the same for a wave. */
static void scalar(struct word word, struct gpu_arithmetic *to)
{
	unsigned operation = bits(word.first, 8, 8), d = bits(word.first, 16, 7);

	to->define = (uint16_t)(GPU_SCALAR + d);
	if (bits(word.first, 23, 9) == 0x17d) {
		to->a = source(word, bits(word.first, 0, 8));
		if (operation == S_MOV_32 || operation == S_MOV_64 || operation == S_AND_SAVEEXEC ||
			operation == S_ANDN2_SAVEEXEC)
			to->operation = GPU_COPY;
		else if (operation == S_OR_SAVEEXEC)
			to->operation = GPU_SAME;
	} else if (bits(word.first, 30, 2) == 2 && bits(word.first, 28, 4) != 0xb && d == EXEC_LO &&
		   bits(word.first, 23, 7) == 0x0f) {
		to->operation = GPU_SAME; /* s_or_b64: the threads that were left out join again */
	}
}

static void memory(struct word word, struct gpu_arithmetic *to)
{
	switch (word.first >> 26) {
	case 0x30: /* scalar */
		to->a = (struct gpu_operand){
			GPU_OPERAND_REGISTER, GPU_SCALAR + bits(word.first, 0, 6) * 2, false};
		break;
	case 0x36: /* shared */
		to->a = vector(bits(word.second, 0, 8));
		to->offset = (int32_t)bits(word.first, 0, 16);
		break;
	case 0x37:
		to->a = vector(bits(word.second, 0, 8));
		break;
	case 0x38:
	case 0x3a: /* buffers: an index or an offset, or none */
		to->a = bits(word.first, 12, 2) ? vector(bits(word.second, 0, 8)) : immediate(0);
		break;
	default:
		break;
	}
}

void amd_arithmetic(const uint8_t *bytes, size_t size, struct gpu_arithmetic *to)
{
	struct word word = {0, 0};

	*to = (struct gpu_arithmetic){
		.operation = GPU_OTHER, .a = immediate(0), .b = immediate(0), .c = immediate(0)};
	if (size < sizeof word.first)
		return;
	memcpy(&word.first, bytes, sizeof word.first);
	if (size >= sizeof word)
		memcpy(&word.second, bytes + sizeof word.first, sizeof word.second);
	if (!(word.first >> 31))
		narrow(word, to);
	else if (!(word.first >> 30 & 1))
		scalar(word, to);
	else if (word.first >> 26 == 0x34)
		wide(word, to);
	else
		memory(word, to);
}
