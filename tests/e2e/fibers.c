/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fibers.c [SECONDS] - stacks that a program has made itself, and where they end: glibc's contexts, and
 * three ways to plant an address below the first function of a fiber, as Ruby, libco and Boost do. A leaf
 * that has taken its return address off the stack, as OCaml's calls of C do. Code made at run time that
 * LuaJIT's way of an interpreter jumps to, whose tables describe its frame as if it stood before its first
 * instruction.
 *
 * What the trace must show: in equal parts NAME_fiber;spin for NAME in context, zero, entry, finish, then
 * main;owner;popped and main;host;(made code); no partial stack.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#define APART __attribute__((noinline, noclone, noipa))
#define STACK_BYTES (64 * 1024)

static double seconds = 0.2;
static void *main_sp;
static ucontext_t main_context;

void swap(void **from, void *to);
void finish(void);
uint64_t popped(uint64_t count, uint64_t seed);
uint64_t interpreter(uint64_t count, uint64_t seed, const void *code);
extern const char made_begin[], made_end[];
__asm__(".text\n"
	".p2align 4\n"
	".type swap, @function\n"
	"swap:\n\t"
	"push %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\t"
	"mov %rsp, (%rdi)\n\t"
	"mov %rsi, %rsp\n\t"
	"pop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbp\n\tpop %rbx\n\t"
	"ret\n\t"
	".size swap, . - swap\n"
	".type finish, @function\n\t"
	"jmp *%rbx\n" /* whatever is ahead of it, it is no call */
	"finish:\n\t"
	"xor %edi, %edi\n\t"
	"call _exit@PLT\n\t"
	"hlt\n\t"
	".size finish, . - finish\n"
	".p2align 4\n"
	".type popped, @function\n"
	"popped:\n\t"
	".cfi_startproc\n\t"
	"pop %rax\n\t"
	".cfi_adjust_cfa_offset -8\n"
	"1:\timul $69069, %rsi, %rsi\n\t"
	"dec %rdi\n\t"
	"jnz 1b\n\t"
	"push %rax\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"mov %rsi, %rax\n\t"
	"ret\n\t"
	".cfi_endproc\n\t"
	".size popped, . - popped\n"
	".p2align 4\n"
	".type interpreter, @function\n"
	"interpreter:\n\t"
	".cfi_startproc\n\t"
	".cfi_def_cfa_offset 80\n\t"
	".cfi_offset %rbp, -16\n\t"
	".cfi_offset %rbx, -24\n\t"
	"push %rbp\n\t"
	"push %rbx\n\t"
	"sub $56, %rsp\n\t"
	"xor %ebp, %ebp\n\t"
	"lea 1f(%rip), %rbx\n\t"
	"jmp *%rdx\n"
	"1:\tadd $56, %rsp\n\t"
	"pop %rbx\n\t"
	"pop %rbp\n\t"
	"ret\n\t"
	".cfi_endproc\n\t"
	".size interpreter, . - interpreter\n"
	"made_begin:\n\t"
	"sub $32, %rsp\n"
	"1:\timul $69069, %rsi, %rsi\n\t"
	"dec %rdi\n\t"
	"jnz 1b\n\t"
	"mov %rsi, %rax\n\t"
	"add $32, %rsp\n\t"
	"jmp *%rbx\n"
	"made_end:\n");

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

APART static void spin(void)
{
	double end = cpu_seconds() + seconds;
	volatile uint64_t x = 1;

	while (cpu_seconds() < end)
		for (unsigned i = 0; i < 200000; i++)
			x = x * 69069 + 1;
}

APART static void owner(void)
{
	double end = cpu_seconds() + seconds;
	volatile uint64_t x = 1;

	while (cpu_seconds() < end)
		x = popped(200000, x);
}

APART static void host(void)
{
	double end = cpu_seconds() + seconds;
	volatile uint64_t x = 1;
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		exit(1);
	memcpy(code, made_begin, (size_t)(made_end - made_begin));
	while (cpu_seconds() < end)
		x = interpreter(200000, x, code);
}

APART static void context_fiber(void)
{
	spin();
	setcontext(&main_context);
}

#define FIBER(name)                                 \
	APART static void name##_fiber(void)        \
	{                                           \
		void *own;                          \
                                                    \
		spin();                             \
		swap(&own, main_sp); /* for ever */ \
		abort();                            \
	}
/* Should a fiber ever return. */
APART static void crash(void)
{
	puts("a fiber has returned");
	abort();
}

FIBER(zero)
FIBER(entry)
FIBER(finish)

/* `planted`: what `function` would return to. */
static void fiber_run(void (*function)(void), void *planted)
{
	uint64_t *sp = (uint64_t *)aligned_alloc(64, STACK_BYTES) + STACK_BYTES / 8 - 2;

	*--sp = (uintptr_t)planted;
	*--sp = (uintptr_t)function;
	for (int i = 0; i < 6; i++)
		*--sp = 0;
	swap(&main_sp, sp);
}

static void context_run(void)
{
	static ucontext_t context;

	getcontext(&context);
	context.uc_stack.ss_sp = aligned_alloc(64, STACK_BYTES);
	context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&context, context_fiber, 0);
	swapcontext(&main_context, &context);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		seconds = atof(argv[1]) / 6;
	context_run();
	fiber_run(zero_fiber, NULL);
	fiber_run(entry_fiber, crash);
	fiber_run(finish_fiber, finish);
	owner();
	host();
	puts("all ran");
	return 0;
}
