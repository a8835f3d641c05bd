/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prologue_scan.h - finds the return address of a function without unwind tables: reads its machine code
 * forward from the pc to its return and adds up what that pops off the stack (binary analysis of S4 2.1).
 * Used for assembly in codecs and math libraries, and for libraries with stripped tables.
 *
 *     sub rsp,24 ... [pc] ... jnz loop ... add rsp,24; pop rbp; ret
 *                    |------------------>   +24        +8       return address at sp + 32
 *
 * Code that aligns its stack saves the old stack pointer in a register, or on the stack, and restores it at
 * its end:
 *
 *     mov rcx,rsp; and rsp,-32; sub rsp,96 ... [pc] ... mov rsp,rcx; ret         return address at rcx
 *     ... mov [rsp+88],rax ... [pc] ... mov rsp,[rsp+88]; pop rbx; ret           at *(rsp + 88) + 8
 *
 * At a pc before that, the saving is still ahead, and registers to be pushed still hold their values:
 *
 *     [pc] push rbp; mov rbp,rsp; and rsp,-32 ... leave; ret       return address at sp, frame pointer
 * unchanged
 *
 * A call that never returns may be followed by other code. Where such code is met by a branch, too, and with
 * another stack, the call is known for what it is:
 *
 *     jnz 1f; push rax; call raise; 1: ret       the branch comes to 1 with 8 bytes less on the stack
 *
 * The result is a guess: such code may be met by no branch, and a register may change on the way. Callers
 * check that the return address follows a call, and ask for the next guess where it does not. Signal safe.
 */
#ifndef RECORD_AGENT_PROLOGUE_SCAN_H
#define RECORD_AGENT_PROLOGUE_SCAN_H

#include "record/agent/unwind/cfi.h"

#define PROLOGUE_SCAN_PATHS 24	 /* branches left to follow */
#define PROLOGUE_SCAN_PLACES 128 /* jumps already followed, a power of two */

/* The caller's frame: CFA = base + cfa_offset, the return address right below. The base is a register, or
 * the word at load_at from it. */
struct prologue_scan {
	unsigned base; /* usually ARCH_SP */
	bool is_loaded;
	int32_t load_at;
	int32_t cfa_offset;
	int32_t fp_offset; /* offset of the saved frame pointer from the CFA; 0: the register still holds
			      it */
};

/* State of the scan between the pc and a place ahead. */
struct prologue_scan_path {
	uint64_t pc;
	int32_t taken;	 /* bytes popped, from the base */
	int32_t fp_at;	 /* where the frame pointer was loaded from, relative to the base */
	int32_t load_at; /* where the base was loaded from, from `base` */
	uint8_t base;	 /* the register that is the base or the base's address */
	bool is_loaded;
	bool has_fp;
	bool has_called; /* the last instruction was a call */
	bool is_lost;	 /* `taken` is invalid until the stack pointer is restored */
	uint16_t kept;	 /* bitmap of registers that saved the stack pointer on the way */
	int32_t kept_at[16];
};

/* Too large for a handler's stack, so the caller provides it. */
struct prologue_scan_scratch {
	struct prologue_scan_path paths[PROLOGUE_SCAN_PATHS];
	uint64_t places[PROLOGUE_SCAN_PLACES];
	int32_t taken[PROLOGUE_SCAN_PLACES]; /* of the path that came to the place first */
	uint8_t code[128];
};

#define PROLOGUE_SCAN_GUESSES 6u

/* Scans code from pc, the next instruction to run; it must be in [begin, end). Returns how many guesses there
 * are, the most likely first, at most PROLOGUE_SCAN_GUESSES and `most`. */
unsigned prologue_scan_find(uint64_t pc, uint64_t begin, uint64_t end, const struct cfi_memory *memory,
	struct prologue_scan_scratch *scratch, struct prologue_scan *scans, unsigned most);

/* Where no way on leads to a return: the other way round. How many bytes a function that begins at `function`
 * has on the stack, below its return address, when it comes to `pc`. Negative: it was not seen to come there.
 */
int32_t prologue_scan_depth(uint64_t function, uint64_t pc, uint64_t begin, uint64_t end,
	const struct cfi_memory *memory, struct prologue_scan_scratch *scratch);

#endif
