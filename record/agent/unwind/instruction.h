/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction.h - of one machine instruction, its length and what it does to the stack
 * pointer, the frame pointer and the flow. No more than prologue_scan.c needs. Signal safe.
 */
#ifndef RECORD_AGENT_INSTRUCTION_H
#define RECORD_AGENT_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSTRUCTION_BYTES_MAX 15

enum instruction_kind {
	INSTRUCTION_OTHER,
	INSTRUCTION_CALL, /* which returns, mostly */
	INSTRUCTION_NOTHING,
	INSTRUCTION_STACK,   /* stack pointer += value */
	INSTRUCTION_POP_FP,  /* frame pointer = top of the stack, which is taken off */
	INSTRUCTION_LOAD_FP, /* frame pointer = word at stack pointer + value */
	INSTRUCTION_LOAD_SP, /* stack pointer = word at stack pointer + value */
	INSTRUCTION_FROM,    /* stack pointer = register `from` + value */
	INSTRUCTION_LEAVE,   /* stack pointer = frame pointer, then as POP_FP */
	INSTRUCTION_KEEP,    /* register `from` = stack pointer + value */
	INSTRUCTION_ALIGN,   /* stack pointer: lower, by how much is not known */
	INSTRUCTION_RETURN,
	INSTRUCTION_JUMP,    /* to value from its end */
	INSTRUCTION_BRANCH,  /* there, or on */
	INSTRUCTION_END,     /* where to is not known */
	INSTRUCTION_STOP,    /* nowhere */
	INSTRUCTION_UNKNOWN, /* of the stack pointer's value nothing is known behind it */
};

struct instruction {
	enum instruction_kind kind;
	unsigned length;
	unsigned from; /* by the number of arch.h */
	int32_t value;
};

/* False: it is cut off by `size`, or is none. */
bool instruction_decode(const uint8_t *code, size_t size, struct instruction *instruction);

#endif
