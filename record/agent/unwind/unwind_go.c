/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_go.c - what Go's machine code tells beyond its frame pointers: where stacks end, and a frame that is
 * just being made or left.
 */
#include "record/agent/unwind/unwind_step.h"

#include <string.h>

#define FUNCTION_ALIGN 32u /* of Go's functions, which int3 fills up to */
#define FUNCTION_BYTES_MAX 16384u
#define PIECE_BYTES 512u   /* of code that are read at once */
#define PROLOGUE_BYTES 24u /* up to the frame */

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
enum unwind_go_after unwind_go_after(struct unwinder *u, uint64_t return_address)
{
	uint8_t code[12];
	int32_t target;
	bool is_mcall;

	if (!ARCH_CALL_PUSHES ||
		u->space.memory.read(u->space.memory.context, return_address, code, sizeof(code)))
		return UNWIND_GO_ON;
	if (code[0] == ARCH_RETURN)
		return UNWIND_GO_RETURNS;
	__builtin_memcpy(&target, code + 1, sizeof(target));
	is_mcall = code[0] == 0x58 && code[1] == 0xe9;
	if (!u->go_top && (is_mcall || (code[0] == 0xe8 &&
					       is_abort(u, return_address + 5 + (uint64_t)(int64_t)target))))
		u->go_top = u->count;
	return is_mcall || is_thread_end(code) || is_goroutine_end(u, return_address) ? UNWIND_GO_ENDS
										      : UNWIND_GO_ON;
}

/* Bytes from the stack pointer to the return address, in a function whose frame pointer is still, or again,
 * its caller's, though its frame is there; 0: it is not at such a place.
 *
 *   sub  $N, %rsp | mov  %rbp, N-8(%rsp) | lea  N-8(%rsp), %rbp | ...        up to Go 1.20
 *   push %rbp     | mov  %rsp, %rbp      | ...
 *   mov  N-8(%rsp), %rbp | add  $N, %rsp | ret
 */
static uint64_t depth_of(struct unwinder *u, uint64_t pc)
{
	uint8_t code[8];
	int32_t far;

	if (!ARCH_CALL_PUSHES || u->space.memory.read(u->space.memory.context, pc, code, sizeof(code)) ||
		code[0] != 0x48)
		return 0;
	memcpy(&far, code + 3, sizeof(far));
	if (code[1] == 0x83 && code[2] == 0xc4 && code[4] == ARCH_RETURN)
		return (uint64_t)code[3] & 0x78;
	if (code[1] == 0x81 && code[2] == 0xc4 && code[7] == ARCH_RETURN)
		return far > 0 ? (uint64_t)far : 0;
	if (code[1] == 0x89 && code[2] == 0xe5)
		return 8;
	if ((code[1] != 0x89 && code[1] != 0x8d) || code[3] != 0x24)
		return 0;
	memcpy(&far, code + 4, sizeof(far));
	return code[2] == 0x6c		    ? ((uint64_t)code[4] & 0x78) + 8
	       : code[2] == 0xac && far > 0 ? (uint64_t)far + 8
					    : 0;
}

/* True if the code is of the function that begins at `function`, as far as no other begins in between. */
static bool is_of(struct unwinder *u, uint64_t function, uint64_t pc)
{
	uint8_t code[PIECE_BYTES];
	uint64_t begin = (pc | (FUNCTION_ALIGN - 1)) + 1, at;

	if (pc - function >= FUNCTION_BYTES_MAX)
		return false;
	do {
		begin -= PIECE_BYTES;
		if (u->space.memory.read(u->space.memory.context, begin, code, sizeof(code)))
			return false;
		for (at = begin + FUNCTION_ALIGN; at < begin + PIECE_BYTES; at += FUNCTION_ALIGN)
			if (at > function && code[at - 1 - begin] == 0xcc && code[at - 2 - begin] == 0xcc)
				return false;
		begin += FUNCTION_ALIGN;
	} while (begin > function);
	return true;
}

/* True if the frame pointer is of that code's own frame: what has called that is known to call it. */
static bool has_frame(struct unwinder *u, uint64_t pc)
{
	uint64_t caller, function;
	uint8_t code;

	if (cfi_word_read(&u->space.memory, u->registers.value[ARCH_FP] + 8, &caller) ||
		!unwind_is_called(u, caller))
		return false;
	function = unwind_called_at(u, caller);
	return function && pc - function >= PROLOGUE_BYTES && is_of(u, function, pc) &&
	       !u->space.memory.read(u->space.memory.context, pc, &code, 1) && code != ARCH_RETURN;
}

/* A word at the stack pointer that looks like a return address may be left over from other calls. */
enum unwind_go_leaf unwind_go_leaf(struct unwinder *u, uint64_t pc, uint64_t *depth)
{
	const struct cfi_memory *memory = &u->space.memory;
	uint64_t sp = u->registers.value[ARCH_SP], caller, function;

	if (!ARCH_CALL_PUSHES)
		return UNWIND_GO_LEAF_UNKNOWN;
	*depth = depth_of(u, pc);
	if (*depth && !cfi_word_read(memory, sp + *depth, &caller) && unwind_is_called(u, caller))
		return UNWIND_GO_LEAF_RETURNS;
	*depth = 0;
	if (has_frame(u, pc))
		return UNWIND_GO_LEAF_FRAME;
	if (cfi_word_read(memory, sp, &caller) || !unwind_is_called(u, caller))
		return UNWIND_GO_LEAF_UNKNOWN;
	function = unwind_called_at(u, caller);
	return !function || is_of(u, function, pc) ? UNWIND_GO_LEAF_RETURNS : UNWIND_GO_LEAF_FRAME;
}
