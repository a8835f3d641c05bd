/* SPDX-License-Identifier: Apache-2.0 */
/* arch_x86_64.h - see arch.h. */
#ifndef RECORD_AGENT_ARCH_X86_64_H
#define RECORD_AGENT_ARCH_X86_64_H

#include <stddef.h>
#include <sys/auxv.h>

#define ARCH_REGISTERS 17 /* rax rdx rcx rbx rsi rdi rbp rsp r8..r15, return address */
#define ARCH_FP 6
#define ARCH_SP 7
#define ARCH_PC 16
#define ARCH_RED_ZONE 128	/* bytes below the stack pointer that a leaf may use */
#define ARCH_CALL_PUSHES 8	/* bytes by which a call lowers the stack pointer */
#define ARCH_RETURN 0xc3	/* the first byte of its instruction */
#define ARCH_RAISE_PLACE 2	/* rcx, for GCC */
#define ARCH_RAISE_REGISTERS 2	/* the first ones: they hand over to an exception's handler */
#define ARCH_LOST_BY_CALL 0	/* registers whose value in a caller its callee cannot give back */
#define ARCH_TRAMPOLINE_BYTES 0 /* of the code that signal handlers return to, where tables do not tell */
#define ARCH_CALL_BYTES_MAX 8	/* longest call that arch_is_call recognizes */
#define ARCH_ELF_MACHINE 62	/* EM_X86_64 */
#define ARCH_AUDIT AUDIT_ARCH_X86_64  /* how seccomp filters call it */
#define ARCH_GLIBC_BASE "GLIBC_2.2.5" /* the first version of glibc there */
#define ARCH_VDSO_CLOCK "__vdso_clock_gettime"
#define ARCH_GLIBC_CONDITIONS "GLIBC_2.3.2" /* of pthread_cond_*, where there are two; "": there is one */

static inline void arch_registers_read(const ucontext_t *from, uint64_t to[ARCH_REGISTERS])
{
	static const uint8_t order[ARCH_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
		REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
		REG_RIP};

	/* As so many moves, the table is none to be read. */
#pragma GCC unroll 17
	for (unsigned i = 0; i < ARCH_REGISTERS; i++)
		to[i] = (uint64_t)from->uc_mcontext.gregs[order[i]];
}

static inline uint64_t arch_stack_pointer(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

/* rdfsbase may be used. */
static inline bool arch_has_thread_pointer(void)
{
	return getauxval(AT_HWCAP2) & 1u << 1;
}

/* Where the thread-local storage lies, without looking into it. */
static inline uint64_t arch_thread_pointer(void)
{
	uint64_t base;

	__asm__ volatile("rdfsbase %0" : "=r"(base));
	return base;
}

/* Did the signal come as a system call returned? The instruction leaves its own return address in rcx. */
static inline bool arch_in_system_call(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RCX] == context->uc_mcontext.gregs[REG_RIP];
}

/* The instruction is two bytes long, and leaves its own return address in rcx. */
#define ARCH_SYSCALL 0x050fu

/* Does the handler go back to a system call that is made again, or for the first time? */
static inline bool arch_call_restarts(const ucontext_t *context)
{
	const greg_t *value = context->uc_mcontext.gregs;

	return value[REG_RCX] == value[REG_RIP] + 2 &&
	       *(const uint16_t *)(uintptr_t)value[REG_RIP] == ARCH_SYSCALL;
}

/* Its number and second argument. Ends it with EINTR instead. */
static inline long arch_call_number(const ucontext_t *context)
{
	return (long)context->uc_mcontext.gregs[REG_RAX];
}

static inline long arch_call_second(const ucontext_t *context)
{
	return (long)context->uc_mcontext.gregs[REG_RSI];
}

static inline void arch_call_interrupt(ucontext_t *context)
{
	context->uc_mcontext.gregs[REG_RIP] += 2;
	context->uc_mcontext.gregs[REG_RAX] = -EINTR;
}

#define ARCH_RING_ENTER 426 /* io_uring_enter */

/* The first argument of a call that has just ended with EINTR, and may be io_uring_enter without a mask and a
 * time of its own: which it was is lost. -1: none was. */
static inline int arch_ring_wait_ended(const ucontext_t *context)
{
	const greg_t *value = context->uc_mcontext.gregs;

	if (value[REG_RAX] != -EINTR || value[REG_RCX] != value[REG_RIP] || value[REG_R8])
		return -1;
	return (int)value[REG_RDI];
}

static inline void arch_ring_wait_again(ucontext_t *context)
{
	context->uc_mcontext.gregs[REG_RIP] -= 2;
	context->uc_mcontext.gregs[REG_RAX] = ARCH_RING_ENTER;
}

/* The registers as they are in the function that this is inlined into: all that a caller's frame can need.
 * Their numbers are in the order above. */
#define ARCH_HERE_KNOWN                                                                            \
	(UINT64_C(1) << 3 | UINT64_C(1) << ARCH_FP | UINT64_C(1) << ARCH_SP | UINT64_C(15) << 12 | \
		UINT64_C(1) << ARCH_PC)
static inline __attribute__((always_inline)) void arch_values_here(uint64_t to[ARCH_REGISTERS])
{
	__asm__ volatile("leaq 1f(%%rip), %%rax\n1:\n\t"
			 "movq %%rax, 128(%0)\n\t"
			 "movq %%rbx, 24(%0)\n\t"
			 "movq %%rbp, 48(%0)\n\t"
			 "movq %%rsp, 56(%0)\n\t"
			 "movq %%r12, 96(%0)\n\t"
			 "movq %%r13, 104(%0)\n\t"
			 "movq %%r14, 112(%0)\n\t"
			 "movq %%r15, 120(%0)"
			 :
			 : "r"(to)
			 : "rax", "memory");
}

/* The body of a function (top, function, argument): see handler_stack.h. */
#define ARCH_CALL_ON                                                        \
	"pushq %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset %rbp, -16\n\t" \
	"movq %rsp, %rbp\n\t.cfi_def_cfa_register %rbp\n\t"                 \
	"movq %rdi, %rsp\n\tmovq %rdx, %rdi\n\tcallq *%rsi\n\t"             \
	"movq %rbp, %rsp\n\tpopq %rbp\n\t.cfi_def_cfa %rsp, 8\n\tret\n\t"

/* The body of syscall(): clone, vfork and clone3 go where the function `direct` (number, two arguments) says,
 * with the stack as it was; all else, and what it says nothing of, goes to `call`. */
#define ARCH_PUSH(name) "pushq %" #name "\n\t.cfi_adjust_cfa_offset 8\n\t"
#define ARCH_POP(name) "popq %" #name "\n\t.cfi_adjust_cfa_offset -8\n\t"
#define ARCH_SYSCALL_ENTRY(direct, call)                                                                 \
	"cmpq $56, %rdi\n\tje 1f\n\tcmpq $58, %rdi\n\tje 1f\n\tcmpq $435, %rdi\n\tjne " call             \
	"\n1:\t" ARCH_PUSH(rdi) ARCH_PUSH(rsi) ARCH_PUSH(rdx) ARCH_PUSH(rcx) ARCH_PUSH(r8) ARCH_PUSH(r9) \
		ARCH_PUSH(rax) "callq " direct "\n\tmovq %rax, %r11\n\t" ARCH_POP(rax) ARCH_POP(r9)      \
			ARCH_POP(r8) ARCH_POP(rcx) ARCH_POP(rdx) ARCH_POP(rsi)                           \
				ARCH_POP(rdi) "testq %r11, %r11\n\tje " call "\n\tjmpq *%r11\n\t"

/* Where a jmp_buf leads to, as glibc keeps it. false: it is not known. */
static inline bool arch_jump_stack(const void *buffer, uint64_t *sp)
{
	*sp = ((const uint64_t *)buffer)[6];
	__asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(*sp) : : "cc");
	return true;
}

/* The body of a signal handler that goes on in `handle` if the stack has ARCH_HANDLER_BYTES more: if they lie
 * on the page that is in use, or rt_sigprocmask can write there. Else it counts, in a 64-bit `count`, and is
 * over. What it overwrites sigreturn brings back. */
#define ARCH_HANDLER_BYTES 768
#define ARCH_HANDLER(handle, count)                                                              \
	"movl %esp, %eax\n\tandl $4095, %eax\n\tcmpl $768, %eax\n\tjae " handle                  \
	"\n\tmovq %rdi, %r12\n\tmovq %rsi, %r13\n\tmovq %rdx, %r14\n\t"                          \
	"movl $14, %eax\n\txorl %edi, %edi\n\txorl %esi, %esi\n\tleaq -768(%rsp), %rdx\n\t"      \
	"movl $8, %r10d\n\tsyscall\n\tmovq %r12, %rdi\n\tmovq %r13, %rsi\n\tmovq %r14, %rdx\n\t" \
	"testq %rax, %rax\n\tjz " handle "\n\tlock incq " count "(%rip)\n\tret\n\t"

/* Does a call end right before `end`? Bytes end[-ARCH_CALL_BYTES_MAX..-1] must be readable. */
static inline bool arch_is_call(const uint8_t *end)
{
	if (end[-5] == 0xe8)
		return true;
	for (int length = 2; length <= 7; length++) {
		uint8_t modrm = end[1 - length];
		int tail = (modrm & 0xc0) == 0x40			      ? 1
			   : (modrm & 0xc0) == 0x80 || (modrm & 0xc7) == 0x05 ? 4
									      : 0;

		tail += (modrm & 0xc0) != 0xc0 && (modrm & 7) == 4; /* a SIB byte */
		if (end[-length] == 0xff && (modrm & 0x38) == 0x10 && length == 2 + tail)
			return true;
	}
	return false;
}

/* The return address as it is without what protects it. */
static inline uint64_t arch_return_address(uint64_t address)
{
	return address;
}

/* Where the return address of a function lies that has not touched the stack; NULL: at the stack pointer. */
static inline const uint64_t *arch_leaf_return(const uint64_t value[ARCH_REGISTERS])
{
	(void)value;
	return NULL;
}

#endif
