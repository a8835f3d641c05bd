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
#define ARCH_RED_ZONE 128	/* bytes below the stack pointer that a leaf function may use */
#define ARCH_CALL_PUSHES 8	/* bytes by which a call lowers the stack pointer */
#define ARCH_RETURN 0xc3	/* first byte of the return instruction */
#define ARCH_RAISE_PLACE 2	/* rcx, for GCC */
#define ARCH_RAISE_REGISTERS 2	/* registers, from the first, that pass the exception to its landing pad */
#define ARCH_LOST_BY_CALL 0	/* registers whose value in a caller cannot be restored from its callee */
#define ARCH_TRAMPOLINE_BYTES 0 /* size of the signal trampoline, where no table gives it */
#define ARCH_CALL_BYTES_MAX 8	/* longest call that arch_is_call recognizes */
#define ARCH_ELF_MACHINE 62	/* EM_X86_64 */
#define ARCH_AUDIT AUDIT_ARCH_X86_64  /* the name in seccomp filters */
#define ARCH_GLIBC_BASE "GLIBC_2.2.5" /* glibc's first symbol version here */
#define ARCH_VDSO_CLOCK "__vdso_clock_gettime"
#define ARCH_GLIBC_CONDITIONS "GLIBC_2.3.2" /* of pthread_cond_*, if they have two versions; "": only one */

static inline void arch_registers_read(const ucontext_t *from, uint64_t to[ARCH_REGISTERS])
{
	static const uint8_t order[ARCH_REGISTERS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
		REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
		REG_RIP};

	/* Unrolled, the loop becomes 17 moves and never reads the table. */
#pragma GCC unroll 17
	for (unsigned i = 0; i < ARCH_REGISTERS; i++)
		to[i] = (uint64_t)from->uc_mcontext.gregs[order[i]];
}

/* The line comes, to be written, while the program goes on. */
static inline void arch_prefetch_write(const void *at)
{
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)at));
}

/* The registers that identify a frame. */
static inline void arch_registers_write(ucontext_t *to, const uint64_t from[ARCH_REGISTERS])
{
	to->uc_mcontext.gregs[REG_RIP] = (greg_t)from[ARCH_PC];
	to->uc_mcontext.gregs[REG_RSP] = (greg_t)from[ARCH_SP];
	to->uc_mcontext.gregs[REG_RBP] = (greg_t)from[ARCH_FP];
}

static inline uint64_t arch_stack_pointer(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

/* True if rdfsbase may be used. */
static inline bool arch_has_thread_pointer(void)
{
	return getauxval(AT_HWCAP2) & 1u << 1;
}

/* Address of the thread-local storage, without accessing it. */
static inline uint64_t arch_thread_pointer(void)
{
	uint64_t base;

	__asm__ volatile("rdfsbase %0" : "=r"(base));
	return base;
}

/* True if the signal arrived as a system call returned: the instruction leaves its own return address in
 * rcx. */
static inline bool arch_in_system_call(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RCX] == context->uc_mcontext.gregs[REG_RIP];
}

/* The instruction has two bytes and leaves its own return address in rcx. */
#define ARCH_SYSCALL 0x050fu

/* True if the handler returns to a system call that will be restarted or has not started yet. */
static inline bool arch_call_restarts(const ucontext_t *context)
{
	const greg_t *value = context->uc_mcontext.gregs;

	return value[REG_RCX] == value[REG_RIP] + 2 &&
	       *(const uint16_t *)(uintptr_t)value[REG_RIP] == ARCH_SYSCALL;
}

/* The system call's number and second argument. arch_call_interrupt() ends it with EINTR. */
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

/* First argument of a call that just returned EINTR and may be io_uring_enter without a mask and a
 * timeout; the call number itself is lost. -1: not such a call. */
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

/* Stores the registers of the function into which this is inlined, as far as a caller's frame needs them,
 * in the order above. */
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

/* Body of a function (top, function, argument): see handler_stack.h. */
#define ARCH_CALL_ON                                                        \
	"pushq %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset %rbp, -16\n\t" \
	"movq %rsp, %rbp\n\t.cfi_def_cfa_register %rbp\n\t"                 \
	"movq %rdi, %rsp\n\tmovq %rdx, %rdi\n\tcallq *%rsi\n\t"             \
	"movq %rbp, %rsp\n\tpopq %rbp\n\t.cfi_def_cfa %rsp, 8\n\tret\n\t"

/* Body of syscall(): clone, vfork and clone3 go to the address that `direct` (number, two arguments)
 * returns, with the stack unchanged; all other calls, and those for which it returns 0, go to `call`. */
#define ARCH_PUSH(name) "pushq %" #name "\n\t.cfi_adjust_cfa_offset 8\n\t"
#define ARCH_POP(name) "popq %" #name "\n\t.cfi_adjust_cfa_offset -8\n\t"
#define ARCH_SYSCALL_ENTRY(direct, call)                                                                 \
	"cmpq $56, %rdi\n\tje 1f\n\tcmpq $58, %rdi\n\tje 1f\n\tcmpq $435, %rdi\n\tjne " call             \
	"\n1:\t" ARCH_PUSH(rdi) ARCH_PUSH(rsi) ARCH_PUSH(rdx) ARCH_PUSH(rcx) ARCH_PUSH(r8) ARCH_PUSH(r9) \
		ARCH_PUSH(rax) "callq " direct "\n\tmovq %rax, %r11\n\t" ARCH_POP(rax) ARCH_POP(r9)      \
			ARCH_POP(r8) ARCH_POP(rcx) ARCH_POP(rdx) ARCH_POP(rsi)                           \
				ARCH_POP(rdi) "testq %r11, %r11\n\tje " call "\n\tjmpq *%r11\n\t"

/* Target of a jmp_buf in glibc's encoding. False: unknown. */
static inline bool arch_jump_stack(const void *buffer, uint64_t *sp)
{
	*sp = ((const uint64_t *)buffer)[6];
	__asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(*sp) : : "cc");
	return true;
}

/* Body of a signal handler. It continues in `handle` if the stack has ARCH_HANDLER_BYTES left: if they are
 * on the current page, or rt_sigprocmask can write there. Else it increments the 64-bit `count` and
 * returns. sigreturn restores the registers it overwrites. */
#define ARCH_HANDLER_BYTES 768
#define ARCH_HANDLER(handle, count)                                                              \
	"movl %esp, %eax\n\tandl $4095, %eax\n\tcmpl $768, %eax\n\tjae " handle                  \
	"\n\tmovq %rdi, %r12\n\tmovq %rsi, %r13\n\tmovq %rdx, %r14\n\t"                          \
	"movl $14, %eax\n\txorl %edi, %edi\n\txorl %esi, %esi\n\tleaq -768(%rsp), %rdx\n\t"      \
	"movl $8, %r10d\n\tsyscall\n\tmovq %r12, %rdi\n\tmovq %r13, %rsi\n\tmovq %r14, %rdx\n\t" \
	"testq %rax, %rax\n\tjz " handle "\n\tlock incq " count "(%rip)\n\tret\n\t"

/* True if a call instruction ends at `end`. Bytes end[-ARCH_CALL_BYTES_MAX..-1] must be readable. */
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

/* The return address without pointer authentication. */
static inline uint64_t arch_return_address(uint64_t address)
{
	return address;
}

/* Address of the return address in a function that has not touched the stack; NULL: the stack pointer. */
static inline const uint64_t *arch_leaf_return(const uint64_t value[ARCH_REGISTERS])
{
	(void)value;
	return NULL;
}

#endif
