/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_arithmetic.c - integer arithmetic in NVIDIA's machine code since Volta: see sass_operands.c for the
 * encoding. Of results of two words it tells the low one: addresses differ between the threads of a warp by
 * little.
 */
#include "timeline/code/gpu_arithmetic.h"

#include "timeline/code/gpu_instruction.h"
#include "timeline/code/sass_word.h"

enum {
	OP_MOV = 0x002,
	OP_VOTE = 0x006,
	OP_ISETP = 0x00c,
	OP_IADD3 = 0x010,
	OP_LEA = 0x011,
	OP_LOP3 = 0x012,
	OP_IMNMX = 0x017,
	OP_SHF = 0x019,
	OP_IMAD = 0x024,
	OP_IMAD_WIDE = 0x025,
	OP_VIADD = 0x036,
	OP_VIMNMX = 0x048,
	OP_CS2R = 0x005,
	OP_UMOV = 0x082,
	OP_UIADD3 = 0x090,
	OP_ULEA = 0x091,
	OP_UPRMT = 0x096,
	OP_USHF = 0x099,
	OP_UIMAD = 0x0a4,
	OP_S2R = 0x119,
	OP_SYNCS = 0x1a7,
	OP_UTMALDG = 0x1b4,
	OP_UBLKCP = 0x1ba,
	OP_R2UR = 0x0ca,
	OP_R2UR_OLD = 0x1c2,
	OP_ULDC = 0x0b9,
	OP_LDC = 0x182,
	OP_REDUX = 0x1c4
};

#define LUT_AND 0xc0u /* of LOP3: a & b */
#define LUT_MERGE 0xe2u
#define PRMT_ADDRESS 0x654

struct word {
	uint64_t low, high;
};

static unsigned high_bits(struct word word, unsigned at, unsigned count)
{
	return (unsigned)(word.high >> (at - 64)) & ((1u << count) - 1);
}

static struct gpu_operand reg(unsigned number, bool is_negated)
{
	if (number == RZ)
		return (struct gpu_operand){GPU_OPERAND_IMMEDIATE, 0, false};
	return (struct gpu_operand){GPU_OPERAND_REGISTER, number, is_negated};
}

static struct gpu_operand a_of(struct word word)
{
	return reg(word.low >> 24 & 0xff, word.high >> 8 & 1);
}

/* What stands at bit 32, by the form. */
static struct gpu_operand at_32(struct word word, unsigned form)
{
	unsigned number = (unsigned)(word.low >> 32);

	switch (form) {
	case FORM_IMMEDIATE:
	case FORM_C_IMMEDIATE:
		return (struct gpu_operand){GPU_OPERAND_IMMEDIATE, (int32_t)number, false};
	case FORM_CONSTANT:
	case FORM_C_CONSTANT:
		return (struct gpu_operand){GPU_OPERAND_CONSTANT,
			(int64_t)((word.low >> 54 & 0x1f) << 16 | (word.low >> 40 & 0x3fff) << 2),
			word.low >> 63 & 1};
	case FORM_UNIFORM:
	case FORM_C_UNIFORM:
		number &= 0x3f;
		if (number == UNIFORM_ZERO)
			return (struct gpu_operand){GPU_OPERAND_IMMEDIATE, 0, false};
		return (struct gpu_operand){GPU_OPERAND_REGISTER, GPU_UNIFORM + number, word.low >> 63 & 1};
	default:
		return reg(number & 0xff, word.low >> 63 & 1);
	}
}

static void b_and_c(struct word word, struct gpu_arithmetic *to)
{
	unsigned form = word.low >> 9 & 7;
	struct gpu_operand first = at_32(word, form), second = reg(word.high & 0xff, word.high >> 11 & 1);
	bool is_swapped = form == FORM_C_IMMEDIATE || form == FORM_C_CONSTANT || form == FORM_C_UNIFORM;

	to->b = is_swapped ? second : first;
	to->c = is_swapped ? first : second;
}

static struct gpu_operand uniform(unsigned number)
{
	number &= UNIFORM_ZERO;
	if (number == UNIFORM_ZERO)
		return (struct gpu_operand){GPU_OPERAND_IMMEDIATE, 0, false};
	return (struct gpu_operand){GPU_OPERAND_REGISTER, GPU_UNIFORM + number, false};
}

/* Operations of the uniform datapath have their operands where the others have them. */
static bool is_uniform_operation(unsigned operation)
{
	return operation >= OP_UMOV && operation <= OP_UIMAD;
}

static void to_uniform(struct gpu_operand *operand)
{
	bool is_negated = operand->is_negated;

	if (operand->kind != GPU_OPERAND_REGISTER || operand->value >= GPU_UNIFORM)
		return;
	*operand = uniform((unsigned)operand->value);
	operand->is_negated = is_negated;
}

static enum gpu_special special_of(unsigned number)
{
	switch (number) {
	case 0x00:
		return GPU_SPECIAL_LANE;
	case 0x21:
		return GPU_SPECIAL_THREAD_X;
	case 0x22:
		return GPU_SPECIAL_THREAD_Y;
	case 0x23:
		return GPU_SPECIAL_THREAD_Z;
	default:
		/* Indexes of blocks. */
		return number >= 0x25 && number <= 0x27 ? GPU_SPECIAL_WARP : GPU_SPECIAL_OTHER;
	}
}

/* Funnel shifts of which one half is zero are plain ones. */
static void shift(struct word word, struct gpu_arithmetic *to)
{
	bool is_right = high_bits(word, 76, 1), is_high = high_bits(word, 80, 1);
	bool has_a = to->a.kind != GPU_OPERAND_IMMEDIATE, has_c = to->c.kind != GPU_OPERAND_IMMEDIATE;

	if (is_right && (is_high || has_c != has_a) && !(has_a && has_c)) {
		to->operation = GPU_SHIFT_RIGHT;
		to->is_sign = !(high_bits(word, 73, 2) & 1);
		to->a = is_high ? to->c : to->a;
		to->c = reg(RZ, false);
	} else if (!is_right && !is_high) {
		to->operation = GPU_SHIFT_ADD;
		to->c = reg(RZ, false);
	}
}

static void lea(struct word word, struct gpu_arithmetic *to)
{
	struct gpu_operand added = to->b;

	if (high_bits(word, 80, 1)) {
		/* The high word of a shift to the left is a shift to the right, if nothing stands above. */
		if (to->c.kind != GPU_OPERAND_IMMEDIATE)
			return;
		to->operation = GPU_SHIFT_RIGHT;
		to->b = (struct gpu_operand){
			GPU_OPERAND_IMMEDIATE, 32 - (int64_t)high_bits(word, 75, 5), false};
		to->c = added;
		return;
	}
	to->operation = GPU_SHIFT_ADD;
	to->b = (struct gpu_operand){GPU_OPERAND_IMMEDIATE, high_bits(word, 75, 5), false};
	to->c = added;
}

static void compare(struct word word, struct gpu_arithmetic *to)
{
	unsigned comparison = high_bits(word, 76, 3);

	to->operation = GPU_COMPARE;
	to->comparison = comparison == 2   ? GPU_COMPARE_EQUAL
			 : comparison == 5 ? GPU_COMPARE_UNEQUAL
					   : GPU_COMPARE_ORDER;
}

/* Which barrier in shared memory is waited for, or told. Beside the place that is copied to: bit 73 of a
 * block's copy says that this is in shared memory. */
static void barrier_of(struct word word, struct gpu_arithmetic *to)
{
	bool is_told = (word.low & 0x1ff) == OP_UTMALDG || high_bits(word, 73, 1);

	to->b = to->c = reg(RZ, false);
	to->a.is_negated = false;
	if ((word.low & 0x1ff) == OP_SYNCS) {
		to->b = uniform(word.high & 0xff);
		to->offset = (int32_t)((int64_t)word.low >> 40);
	} else {
		to->a = is_told ? uniform((unsigned)(word.low >> 32) + 1) : reg(RZ, false);
	}
}

void sass_arithmetic(uint64_t word_low, uint64_t word_high, struct gpu_arithmetic *to)
{
	struct word word = {word_low, word_high};

	*to = (struct gpu_arithmetic){.define = word_low >> 16 & 0xff, .a = a_of(word)};
	b_and_c(word, to);
	if (is_uniform_operation(word_low & 0x1ff)) {
		to_uniform(&to->a);
		to_uniform(&to->b);
		to_uniform(&to->c);
	}
	switch (word_low & 0x1ff) {
	case OP_SYNCS:
	case OP_UTMALDG:
	case OP_UBLKCP:
		barrier_of(word, to);
		break;
	case OP_R2UR:
	case OP_R2UR_OLD:
		to->operation = GPU_COPY;
		to->a.is_negated = false;
		break;
	case OP_UPRMT:
		/* Puts the block's number in its cluster above an address. */
		if (to->b.kind == GPU_OPERAND_IMMEDIATE && to->b.value == PRMT_ADDRESS) {
			to->operation = GPU_COPY;
			to->a = to->c;
		}
		break;
	case OP_MOV:
	case OP_UMOV:
	case OP_ULDC:
		to->operation = GPU_COPY;
		to->a = to->b;
		break;
	case OP_LDC:
		if (to->a.kind == GPU_OPERAND_IMMEDIATE) { /* no index */
			to->operation = GPU_COPY;
			to->a = to->b;
		}
		break;
	case OP_VOTE:
	case OP_CS2R:
	case OP_REDUX:
		to->operation = GPU_SAME;
		break;
	case OP_ISETP:
		compare(word, to);
		break;
	case OP_IADD3:
	case OP_UIADD3:
		to->operation = GPU_ADD;
		break;
	case OP_VIADD:
		to->operation = GPU_ADD;
		to->c = reg(RZ, false);
		break;
	case OP_IMNMX:
	case OP_VIMNMX:
		to->operation = GPU_EXTREME;
		break;
	case OP_LEA:
	case OP_ULEA:
		lea(word, to);
		break;
	case OP_LOP3:
		if (high_bits(word, 72, 8) == LUT_AND)
			to->operation = GPU_AND;
		else if (high_bits(word, 72, 8) == LUT_MERGE)
			to->operation = GPU_MERGE;
		to->a.is_negated = to->c.is_negated = false;
		break;
	case OP_SHF:
	case OP_USHF:
		to->a.is_negated = to->c.is_negated = false;
		shift(word, to);
		break;
	case OP_IMAD:
	case OP_IMAD_WIDE:
	case OP_UIMAD:
		to->operation = GPU_MULTIPLY;
		to->a.is_negated = false;
		break;
	case OP_S2R:
		to->operation = GPU_SPECIAL;
		to->special = special_of(high_bits(word, 72, 8));
		break;
	default:
		/* Of accesses to memory the bit has another meaning; they have an offset of 24 bits. */
		to->a.is_negated = false;
		to->offset = (int32_t)((int64_t)word_low >> 40);
	}
}
