/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_aarch64.h - see arch.h. A call leaves its return address in x30; when a function saves it on the stack
 * it may be signed. The kernel's unwind tables for its signal trampoline name the caller of the interrupted
 * function, not the function, so we read the registers from the kernel's signal frame.
 */
#ifndef RECORD_AGENT_ARCH_AARCH64_H
#define RECORD_AGENT_ARCH_AARCH64_H

#include <signal.h>
#include <stddef.h>
#include <string.h>

#define ARCH_REGISTERS 33 /* x0..x30, sp, pc, in the kernel's order */
#define ARCH_FP 29
#define ARCH_LINK 30
#define ARCH_SP 31
#define ARCH_PC 32
#define ARCH_RED_ZONE 0
#define ARCH_CALL_PUSHES 0
#define ARCH_RETURN 0 /* first byte of the return instruction */
#define ARCH_RAISE_PLACE 0
#define ARCH_RAISE_REGISTERS 0
#define ARCH_LOST_BY_CALL (UINT64_C(1) << ARCH_LINK)
#define ARCH_TRAMPOLINE_BYTES 8
#define ARCH_SIGNAL_CONTEXT (sizeof(siginfo_t) + offsetof(ucontext_t, uc_mcontext.regs))
#define ARCH_CALL_BYTES_MAX 4
#define ARCH_ELF_MACHINE 183 /* EM_AARCH64 */
#define ARCH_AUDIT AUDIT_ARCH_AARCH64
#define ARCH_GLIBC_BASE "GLIBC_2.17"
#define ARCH_VDSO_CLOCK "__kernel_clock_gettime"
#define ARCH_GLIBC_CONDITIONS ""

static inline void arch_registers_read(const ucontext_t *from, uint64_t to[ARCH_REGISTERS])
{
	for (unsigned i = 0; i < ARCH_SP; i++)
		to[i] = from->uc_mcontext.regs[i];
	to[ARCH_SP] = from->uc_mcontext.sp;
	to[ARCH_PC] = from->uc_mcontext.pc;
}

/* The line comes, to be written, while the program goes on. */
static inline void arch_prefetch_write(const void *at)
{
	__builtin_prefetch(at, 1);
}

/* The registers that identify a frame. */
static inline void arch_registers_write(ucontext_t *to, const uint64_t from[ARCH_REGISTERS])
{
	for (unsigned i = 0; i < ARCH_SP; i++)
		to->uc_mcontext.regs[i] = from[i];
	to->uc_mcontext.sp = from[ARCH_SP];
	to->uc_mcontext.pc = from[ARCH_PC];
}

static inline uint64_t arch_stack_pointer(const ucontext_t *context)
{
	return context->uc_mcontext.sp;
}

static inline bool arch_has_thread_pointer(void)
{
	return true;
}

static inline uint64_t arch_thread_pointer(void)
{
	uint64_t base;

	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(base));
	return base;
}

static inline uint32_t arch_instruction(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

#define ARCH_SVC 0xd4000001u

static inline bool arch_in_system_call(const ucontext_t *context)
{
	uint64_t pc = context->uc_mcontext.pc;

	return pc % 4096 && arch_instruction((const uint8_t *)(uintptr_t)pc - 4) == ARCH_SVC;
}

static inline bool arch_call_restarts(const ucontext_t *context)
{
	return arch_instruction((const uint8_t *)(uintptr_t)context->uc_mcontext.pc) == ARCH_SVC;
}

static inline long arch_call_number(const ucontext_t *context)
{
	return (long)context->uc_mcontext.regs[8];
}

static inline long arch_call_second(const ucontext_t *context)
{
	return (long)context->uc_mcontext.regs[1];
}

static inline void arch_call_interrupt(ucontext_t *context)
{
	context->uc_mcontext.pc += 4;
	context->uc_mcontext.regs[0] = (uint64_t)-EINTR;
}

/* x0 holds both the first argument and the result. */
static inline int arch_ring_wait_ended(const ucontext_t *context)
{
	(void)context;
	return -1;
}

static inline void arch_ring_wait_again(ucontext_t *context)
{
	(void)context;
}

#define ARCH_HERE_KNOWN (((UINT64_C(1) << ARCH_REGISTERS) - 1) & ~((UINT64_C(1) << 19) - 1))
static inline __attribute__((always_inline)) void arch_values_here(uint64_t to[ARCH_REGISTERS])
{
	__asm__ volatile("adr x16, 1f\n1:\n\t"
			 "str x16, [%0, 256]\n\t"
			 "mov x16, sp\n\t"
			 "str x16, [%0, 248]\n\t"
			 "stp x19, x20, [%0, 152]\n\t"
			 "stp x21, x22, [%0, 168]\n\t"
			 "stp x23, x24, [%0, 184]\n\t"
			 "stp x25, x26, [%0, 200]\n\t"
			 "stp x27, x28, [%0, 216]\n\t"
			 "stp x29, x30, [%0, 232]"
			 :
			 : "r"(to)
			 : "x16", "memory");
}

#define ARCH_CALL_ON                                                                                    \
	"stp x29, x30, [sp, -16]!\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset 29, -16\n\t.cfi_offset 30, " \
	"-8\n\t"                                                                                        \
	"mov x29, sp\n\t.cfi_def_cfa_register 29\n\t"                                                   \
	"mov sp, x0\n\tmov x0, x2\n\tblr x1\n\t"                                                        \
	"mov sp, x29\n\tldp x29, x30, [sp], 16\n\t.cfi_restore 29\n\t.cfi_restore 30\n\t"               \
	".cfi_def_cfa 31, 0\n\tret\n\t"

/* All arguments are in registers. */
#define ARCH_SYSCALL_ENTRY(direct, call)                                                                  \
	"cmp x0, 220\n\tb.eq 1f\n\tcmp x0, 435\n\tb.eq 1f\n\tb " call "\n"                                \
	"1:\tstp x29, x30, [sp, -80]!\n\t.cfi_def_cfa_offset 80\n\t.cfi_offset 29, -80\n\t"               \
	".cfi_offset 30, -72\n\tstp x0, x1, [sp, 16]\n\tstp x2, x3, [sp, 32]\n\tstp x4, x5, [sp, 48]\n\t" \
	"str x6, [sp, 64]\n\tbl " direct "\n\tmov x16, x0\n\tldp x0, x1, [sp, 16]\n\t"                    \
	"ldp x2, x3, [sp, 32]\n\tldp x4, x5, [sp, 48]\n\tldr x6, [sp, 64]\n\t"                            \
	"ldp x29, x30, [sp], 80\n\t.cfi_def_cfa_offset 0\n\t.cfi_restore 29\n\t.cfi_restore 30\n\t"       \
	"cbnz x16, 2f\n\tb " call "\n2:\tbr x16\n\t"

/* Target of a jmp_buf. Always false here: only the loader has the key. */
static inline bool arch_jump_stack(const void *buffer, uint64_t *sp)
{
	(void)buffer, (void)sp;
	return false;
}

/* Frames are small compared to the guard pages at the end of stacks. */
#define ARCH_HANDLER_BYTES 0
#define ARCH_HANDLER(handle, count) "b " handle "\n\t"

/* bl, or blr and its variants with pointer authentication. */
static inline bool arch_is_call(const uint8_t *end)
{
	uint32_t word = arch_instruction(end - 4);

	return (word & 0xfc000000u) == 0x94000000u || (word & 0xfefff000u) == 0xd63f0000u;
}

/* mov x8, #__NR_rt_sigreturn; svc #0 */
static inline bool arch_is_trampoline(const uint8_t *code)
{
	return arch_instruction(code) == 0xd2801168u && arch_instruction(code + 4) == ARCH_SVC;
}

/* xpaclri, a nop on older processors. */
static inline uint64_t arch_return_address(uint64_t address)
{
	register uint64_t link __asm__("x30") = address;

	__asm__("hint 7" : "+r"(link));
	return link;
}

static inline const uint64_t *arch_leaf_return(const uint64_t value[ARCH_REGISTERS])
{
	return &value[ARCH_LINK];
}

#endif
