/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_told.c - steps out of code whose maker tells how large its frames are: HotSpot's, whose compiled
 * methods use the frame pointer for something else.
 *
 *   compiled     sp | ... | caller's fp | return address |      sp + frame size is the caller's
 *   interpreter  fp | caller's fp | return address |            the caller's stack pointer is at fp - 8
 *
 * In a leaf the frame may not be there yet, or no longer: prologue and epilogue have one form in all methods.
 * Each step must lead to such code again, or to a place after a call. Only x86-64.
 */
#include "record/agent/unwind/unwind_step.h"

#include <string.h>

#define ARGUMENT_BYTES_MAX (UINT64_C(1) << 16) /* of an interpreted call */
#define EPILOGUE_BYTES 24u

static bool is_caller(struct unwinder *u, uint64_t address)
{
	struct unwind_told told;

	return u->space.told_find(address - 1, &told) ||
	       (u->space.module_find(u->space.context, address - 1) && unwind_is_called(u, address));
}

/* Continues in the caller, whose return address is right below `cfa` and stack pointer is `sp`. fp_at: where
 * its frame pointer is; 0: in the register. False: it is none, nothing changed. */
static bool leave(struct unwinder *u, uint64_t cfa, uint64_t sp, uint64_t fp_at)
{
	const struct cfi_memory *memory = &u->space.memory;
	uint64_t *value = u->registers.value, caller, fp = value[ARCH_FP];

	if (cfa % 8 || sp % 8 || sp <= value[ARCH_SP] || cfi_word_read(memory, cfa - 8, &caller) ||
		(fp_at && cfi_word_read(memory, fp_at, &fp)) || !is_caller(u, caller))
		return false;
	value[ARCH_PC] = caller;
	value[ARCH_SP] = sp;
	value[ARCH_FP] = fp;
	u->registers.known = (u->registers.known & QUICK_KNOWN) | (fp_at ? FP_KNOWN : 0);
	u->unchanged_registers = 0;
	return true;
}

/* By the frame pointer. */
static bool leave_by_fp(struct unwinder *u, uint64_t sp)
{
	uint64_t fp = u->registers.value[ARCH_FP];

	return u->registers.known & FP_KNOWN && fp % 8 == 0 && fp >= u->registers.value[ARCH_SP] &&
	       leave(u, fp + 16, sp, fp);
}

/* A compiled caller's frame ends where it called, before adapters pushed the arguments in the other order. */
static bool leave_interpreter(struct unwinder *u)
{
	uint64_t fp = u->registers.value[ARCH_FP], sp;

	if (!(u->registers.known & FP_KNOWN) || cfi_word_read(&u->space.memory, fp - 8, &sp))
		return false;
	return sp >= fp + 16 && sp - fp < ARGUMENT_BYTES_MAX && leave_by_fp(u, sp);
}

/* Length of an instruction between the frame's end and the return: HotSpot asks there whether to stop. 0:
 * none.
 */
static unsigned poll_bytes(const uint8_t *code)
{
	static const struct {
		uint8_t code[3];
		uint8_t match, bytes;
	} polls[] = {
		{{0x49, 0x3b, 0xa7}, 3, 7}, /* cmp rsp, [r15 + far] */
		{{0x49, 0x3b, 0x67}, 3, 4}, /* cmp rsp, [r15 + near] */
		{{0x0f, 0x87}, 2, 6},	    /* ja */
		{{0x4d, 0x8b, 0x97}, 3, 7}, /* mov r10, [r15 + far], up to Java 15 */
		{{0x41, 0x85, 0x02}, 3, 3}, /* test [r10], eax */
		{{0x85, 0x05}, 2, 6},	    /* test eax, [rip + ...], up to Java 9 */
	};

	for (unsigned i = 0; i < sizeof(polls) / sizeof(*polls); i++)
		if (!memcmp(code, polls[i].code, polls[i].match))
			return polls[i].bytes;
	return 0;
}

/* True: the frame is gone but for *left bytes below the return address. */
static bool is_leaving(struct unwinder *u, uint64_t pc, uint64_t *left)
{
	uint8_t code[EPILOGUE_BYTES + 8] = {0};
	unsigned at = 0, bytes;

	if (u->space.memory.read(u->space.memory.context, pc, code, EPILOGUE_BYTES))
		return false;
	*left = code[0] == 0x5d ? 8 : 0; /* pop rbp */
	at += code[0] == 0x5d;
	while (at < EPILOGUE_BYTES && (bytes = poll_bytes(code + at)))
		at += bytes;
	return at < EPILOGUE_BYTES && code[at] == ARCH_RETURN;
}

/* A frame of a fixed size, not whole perhaps. */
static bool leave_leaf(struct unwinder *u, uint64_t pc, const struct unwind_told *told)
{
	uint64_t sp = u->registers.value[ARCH_SP], cfa = sp + told->frame_bytes, left;

	if (told->complete > 0 && pc - told->begin < (uint64_t)told->complete)
		return leave(u, sp + 8, sp + 8, 0) || leave(u, sp + 16, sp + 16, sp) || leave(u, cfa, cfa, 0);
	if (is_leaving(u, pc, &left))
		return leave(u, sp + left + 8, sp + left + 8, left ? sp : 0);
	return leave(u, cfa, cfa, cfa - 16) || leave(u, sp + 8, sp + 8, 0);
}

bool unwind_step_told(struct unwinder *u, uint64_t pc, bool exact)
{
	uint64_t sp = u->registers.value[ARCH_SP], cfa;
	struct unwind_told told;

	if (ARCH_CALL_PUSHES != 8 || !u->space.told_find(pc, &told))
		return false;
	if (told.is_interpreter)
		return leave_interpreter(u) || (exact && leave(u, sp + 8, sp + 8, 0));
	if (!told.frame_bytes)
		return (exact && leave(u, sp + 8, sp + 8, 0)) ||
		       leave_by_fp(u, u->registers.value[ARCH_FP] + 16);
	cfa = sp + told.frame_bytes;
	return exact ? leave_leaf(u, pc, &told) : leave(u, cfa, cfa, cfa - 16);
}
