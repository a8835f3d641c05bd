/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instruction.h - decodes one machine instruction: its length and effect on stack pointer, frame pointer and
 * control flow. Only what prologue_scan.c needs. Signal safe.
 */
#ifndef RECORD_AGENT_INSTRUCTION_H
#define RECORD_AGENT_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSTRUCTION_BYTES_MAX 15

enum instruction_kind {
	INSTRUCTION_OTHER,
	INSTRUCTION_CALL, /* usually returns */
	INSTRUCTION_NOTHING,
	INSTRUCTION_STACK,   /* stack pointer += value */
	INSTRUCTION_POP_FP,  /* frame pointer = top of the stack, popped */
	INSTRUCTION_LOAD_FP, /* frame pointer = word at stack pointer + value */
	INSTRUCTION_LOAD_SP, /* stack pointer = word at stack pointer + value */
	INSTRUCTION_FROM,    /* stack pointer = register `from` + value */
	INSTRUCTION_LEAVE,   /* stack pointer = frame pointer, then as POP_FP */
	INSTRUCTION_KEEP,    /* register `from` = stack pointer + value */
	INSTRUCTION_ALIGN,   /* lowers the stack pointer by an unknown amount */
	INSTRUCTION_RETURN,  /* or the jump to a function of another library, which returns for it */
	INSTRUCTION_JUMP,    /* to value, relative to its end */
	INSTRUCTION_BRANCH,  /* to value, or falls through */
	INSTRUCTION_END,     /* to an unknown place */
	INSTRUCTION_STOP,    /* does not continue */
	INSTRUCTION_UNKNOWN, /* the stack pointer is unknown after it */
};

struct instruction {
	enum instruction_kind kind;
	unsigned length;
	unsigned from; /* register number of arch.h */
	int32_t value;
};

/* False: truncated by `size`, or no valid instruction. */
bool instruction_decode(const uint8_t *code, size_t size, struct instruction *instruction);

#endif
