/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prologue_scan.h - where a function without unwind tables will find its return address: its
 * machine code is read forward from the pc until it returns, and what it takes off
 * the stack on its way is added up (binary analysis of S4 2.1). Assembly of codecs and
 * math libraries, and libraries whose tables were stripped, are walked by this.
 *
 *     sub rsp,24 ... [pc] ... jnz loop ... add rsp,24; pop rbp; ret
 *                    |------------------>   +24        +8       return address at sp + 32
 *
 * Code that aligns its stack keeps the pointer of before in a register, or on the
 * stack, and takes it back at its end:
 *
 *     mov rcx,rsp; and rsp,-32; sub rsp,96 ... [pc] ... mov rsp,rcx; ret         return address at rcx
 *     ... mov [rsp+88],rax ... [pc] ... mov rsp,[rsp+88]; pop rbx; ret           at *(rsp + 88) + 8
 *
 * Ahead of that, what is kept is read off the way too, and what will be pushed is still in its register:
 *
 *     [pc] push rbp; mov rbp,rsp; and rsp,-32 ... leave; ret       return address at sp, frame pointer as it
 * is
 *
 * A guess all the same: a call that never returns may lead into other code, a register
 * may change on the way. Callers check that what lies there comes right behind a call.
 * Signal safe.
 */
#ifndef RECORD_AGENT_PROLOGUE_SCAN_H
#define RECORD_AGENT_PROLOGUE_SCAN_H

#include "record/agent/unwind/cfi.h"

#define PROLOGUE_SCAN_PATHS 24	 /* branches that may be taken later */
#define PROLOGUE_SCAN_PLACES 128 /* jumps that were followed, a power of two */

/* The caller's frame: CFA = base + cfa_offset, the return address right below. The base is a register, or the
 * word at load_at from it. */
struct prologue_scan {
	unsigned base; /* ARCH_SP, as a rule */
	bool is_loaded;
	int32_t load_at;
	int32_t cfa_offset;
	int32_t fp_offset; /* of the saved frame pointer from the CFA; 0: the register still holds it */
};

/* What happens between the pc and a place ahead. */
struct prologue_scan_path {
	uint64_t pc;
	int32_t taken;	 /* bytes off the stack, from the base */
	int32_t fp_at;	 /* where the frame pointer was loaded from, from the base */
	int32_t load_at; /* where the base was loaded from, from `base` */
	uint8_t base;	 /* the register that it is, or was loaded by */
	bool is_loaded;
	bool has_fp;
	bool has_called; /* the last instruction was a call */
	bool is_lost;	 /* `taken` has no meaning until the stack pointer is taken back */
	uint16_t kept;	 /* registers that took the stack pointer on the way, a bit each */
	int32_t kept_at[16];
};

/* Too large for a handler's stack: the caller's. */
struct prologue_scan_scratch {
	struct prologue_scan_path paths[PROLOGUE_SCAN_PATHS];
	uint64_t places[PROLOGUE_SCAN_PLACES];
	uint8_t code[128];
};

/* Reads code from pc on, which the next instruction stands at; it must lie in [begin, end). */
bool prologue_scan_find(uint64_t pc, uint64_t begin, uint64_t end, const struct cfi_memory *memory,
	struct prologue_scan_scratch *scratch, struct prologue_scan *scan);

#endif
