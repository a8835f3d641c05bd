/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_end.c - recognizes the ends of stacks that a program has made itself: fibers, coroutines, goroutines.
 * Such code writes the return address of its first function by hand. An address that does not follow a call
 * ends the stack:
 *
 *     0                        Ruby's fibers, and others whose first function never returns
 *     a function's begin       libc's contexts; libco: one that aborts if a fiber returns
 *     call exit; hlt           Boost's contexts, PHP's fibers: the same, in assembly without tables
 *
 * Go's scheduler writes no address, but is recognized by its machine code.
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

/* True for runtime.abort: a trap, a loop. */
static bool is_abort(struct unwinder *u, uint64_t pc)
{
	uint8_t code[4];

	return !u->space.memory.read(u->space.memory.context, pc, code, sizeof(code)) &&
	       ((code[0] == 0xcd && code[2] == 0xeb && code[3] == 0xfe) ||
		       (code[0] == 0xcc && code[1] == 0xeb && code[2] == 0xfe));
}

/* Where a thread begins (runtime.clone), with the frame pointer of the thread that made it: mov $111, %edi;
 * mov $60, %eax; syscall. */
static bool is_thread_end(const uint8_t *code)
{
	static const uint8_t ends[] = {0xbf, 111, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05};

	return !__builtin_memcmp(code, ends, sizeof(ends));
}

/* runtime.goexit: nop; call goexit1; nop. A goroutine's function has returned to it. */
static bool is_goroutine_end(struct unwinder *u, uint64_t return_address)
{
	uint8_t code[7];

	return !u->registers.value[ARCH_FP] &&
	       !u->space.memory.read(u->space.memory.context, return_address - 6, code, sizeof(code)) &&
	       code[0] == 0x90 && code[1] == 0xe8 && code[6] == 0x90;
}

/* The code after the call shows it: mcall pops its argument and jumps, morestack and rt0_go call
 * runtime.abort. */
bool unwind_go_top_note(struct unwinder *u, uint64_t return_address)
{
	uint8_t code[12];
	int32_t target;
	bool is_mcall;

	if (!ARCH_CALL_PUSHES || u->go_top ||
		u->space.memory.read(u->space.memory.context, return_address, code, sizeof(code)))
		return false;
	__builtin_memcpy(&target, code + 1, sizeof(target));
	is_mcall = code[0] == 0x58 && code[1] == 0xe9;
	if (is_mcall || (code[0] == 0xe8 && is_abort(u, return_address + 5 + (uint64_t)(int64_t)target)))
		u->go_top = u->count;
	return is_mcall || is_thread_end(code) || is_goroutine_end(u, return_address);
}
