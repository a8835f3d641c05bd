/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_end.c - recognizes the ends of stacks that a program has made itself: fibers, coroutines, goroutines.
 * Such code writes the return address of its first function by hand. An address that does not follow a call
 * ends the stack:
 *
 *     0                        Ruby's fibers, and others whose first function never returns
 *     a function's begin       libc's contexts; libco: one that aborts if a fiber returns
 *     call exit; hlt           Boost's contexts, PHP's fibers: the same, in assembly without tables
 */
#include "record/agent/unwind/instruction.h"
#include "record/agent/unwind/unwind_step.h"

#define ENDS_WITHIN 48 /* bytes: a status for exit, a call, a stop */

/* True if straight-line code leads to a call that nothing follows. */
static bool never_returns(struct unwinder *u, uint64_t pc)
{
	uint8_t code[ENDS_WITHIN];
	struct instruction instruction;
	bool has_called = false;

	if (u->space.memory.read(u->space.memory.context, pc, code, sizeof(code)))
		return false;
	for (unsigned at = 0; at < sizeof(code); at += instruction.length) {
		if (!instruction_decode(code + at, sizeof(code) - at, &instruction))
			return false;
		if (instruction.kind == INSTRUCTION_STOP)
			return has_called;
		has_called = instruction.kind == INSTRUCTION_CALL;
		if (!has_called && instruction.kind != INSTRUCTION_OTHER &&
			instruction.kind != INSTRUCTION_NOTHING)
			return false;
	}
	return false;
}

bool unwind_is_planted(struct unwinder *u, const struct cfi_module *module, uint64_t pc, bool has_table)
{
	uint8_t code[ARCH_CALL_BYTES_MAX];

	if (pc == UINT64_MAX)
		return true;
	if (!module || u->space.is_go || (has_table && u->scratch.pc_end != pc + 1) ||
		u->space.memory.read(u->space.memory.context, pc + 1 - sizeof(code), code, sizeof(code)) ||
		arch_is_call(code + sizeof(code)))
		return false;
	if (!cfi_row_find(module, pc + 1, &u->scratch))
		return u->scratch.pc_begin == pc + 1;
	return !has_table && never_returns(u, pc + 1);
}
