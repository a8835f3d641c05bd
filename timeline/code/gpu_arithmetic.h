/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_arithmetic.h - what an instruction of a GPU computes from its operands, as far as it moves values or is
 * integer arithmetic by which programs make addresses and conditions; independent of the machine.
 * gpu_instruction.h tells which registers it defines and uses.
 */
#ifndef TIMELINE_GPU_ARITHMETIC_H
#define TIMELINE_GPU_ARITHMETIC_H

#include <stdbool.h>
#include <stdint.h>

enum gpu_operand_kind {
	GPU_OPERAND_REGISTER,  /* value: its resource (gpu_instruction.h) */
	GPU_OPERAND_IMMEDIATE, /* value: 32 bits, sign-extended; a register that is always zero, too */
	GPU_OPERAND_CONSTANT,  /* value: bank << 16 | byte */
};

struct gpu_operand {
	enum gpu_operand_kind kind;
	int64_t value;
	bool is_negated;
};

enum gpu_operation {
	GPU_OTHER,	 /* not known here */
	GPU_MULTIPLY,	 /* a * b + c */
	GPU_ADD,	 /* a + b + c */
	GPU_SHIFT_ADD,	 /* (a << b) + c */
	GPU_SHIFT_RIGHT, /* (a >> b) + c */
	GPU_AND,	 /* a & b */
	GPU_MERGE,	 /* (a & b) | (c & ~b) */
	GPU_EXTREME,	 /* the smaller or the larger of a and b */
	GPU_COPY,	 /* a */
	GPU_SPECIAL,	 /* reads a special register: enum gpu_special in `special` */
	GPU_SAME,	 /* something that all threads of a warp get alike: votes, sums over the warp */
	GPU_COMPARE,	 /* a ? b, by `comparison`: defines predicates */
};
enum gpu_special {
	GPU_SPECIAL_WARP, /* the same for all threads of a warp: blocks, sizes */
	GPU_SPECIAL_LANE,
	GPU_SPECIAL_THREAD_X,
	GPU_SPECIAL_THREAD_Y,
	GPU_SPECIAL_THREAD_Z,
	GPU_SPECIAL_OTHER
};
enum gpu_comparison {
	GPU_COMPARE_ORDER, /* less, greater */
	GPU_COMPARE_EQUAL,
	GPU_COMPARE_UNEQUAL
};

struct gpu_arithmetic {
	enum gpu_operation operation;
	enum gpu_special special;
	enum gpu_comparison comparison;
	bool is_sign;	 /* GPU_SHIFT_RIGHT keeps the sign */
	uint16_t define; /* register of the result's low word, a uniform one's number as it is; of GPU_COMPARE
			    unused */
	struct gpu_operand a, b, c;
	int32_t offset; /* of an access to local or shared memory, beside a and its uniform register; where an
			   instruction waits for a barrier in shared memory, arrives there, or copies and
			   tells it: the barrier is at a + b + offset */
};

/* What NVIDIA's instruction in these two words computes (sass_arithmetic.c). Never fails. */
void sass_arithmetic(uint64_t word_low, uint64_t word_high, struct gpu_arithmetic *arithmetic);

#endif
