/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare.c [CPU SECONDS] - code without unwind tables and without frame pointers, as in stripped libraries and
 * in hand-written assembly: compiled so, and with an inner loop that a person wrote.
 *
 * What the trace must show: all samples below main;outer;middle, in `middle` itself, in `inner` below it, or
 * in `by_hand`, `aligned`, `kept` or, below these, `leaf`; no partial stack.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline, noclone, noipa))

/* Pushes, a frame, a loop with a way out in its middle, a call, and two ways to return. */
uint64_t by_hand(uint64_t count, uint64_t seed);
#if defined(__x86_64__)
__asm__(".text\n"
	".p2align 4\n"
	".globl by_hand\n"
	".type by_hand, @function\n"
	"by_hand:\n\t"
	"push %rbx\n\t"
	"push %rbp\n\t"
	"push %r12\n\t"
	"sub $264, %rsp\n\t"
	"mov %rdi, %rbx\n\t"
	"mov %rsi, %rbp\n"
	"1:\ttest %rbx, %rbx\n\t"
	"jz 2f\n\t"
	"imul $69069, %rbp, %rbp\n\t"
	"add $1, %rbp\n\t"
	"mov %rbp, 16(%rsp)\n\t"
	"vpxor %xmm0, %xmm0, %xmm0\n\t"
	"vmovdqu %xmm0, 32(%rsp)\n\t"
	"dec %rbx\n\t"
	"cmp $7, %rbp\n\t"
	"je 3f\n\t"
	"jmp 1b\n"
	"3:\txor %eax, %eax\n\t"
	"add $264, %rsp\n\t"
	"pop %r12\n\t"
	"pop %rbp\n\t"
	"pop %rbx\n\t"
	"ret\n"
	"2:\tlea 264(%rsp), %rsp\n\t"
	"mov %rbp, %rax\n\t"
	"pop %r12\n\t"
	"pop %rbp\n\t"
	"pop %rbx\n\t"
	"ret\n\t"
	".size by_hand, . - by_hand\n");

/* Vectors want an aligned stack: the pointer of before is in a register, or on the stack; both call. */
uint64_t aligned(uint64_t count, uint64_t seed);
uint64_t kept(uint64_t count, uint64_t seed);
__asm__(".text\n"
	".p2align 4\n"
	".type leaf, @function\n"
	"leaf:\n\t"
	"sub $40, %rsp\n\t"
	"mov $64, %edx\n"
	"1:\timul $69069, %rsi, %rsi\n\t"
	"mov %rsi, 8(%rsp)\n\t"
	"dec %edx\n\t"
	"jnz 1b\n\t"
	"add $40, %rsp\n\t"
	"ret\n\t"
	".size leaf, . - leaf\n"
	".p2align 4\n"
	".globl aligned\n"
	".type aligned, @function\n"
	"aligned:\n\t"
	"mov %rsp, %rcx\n\t"
	"and $-32, %rsp\n\t"
	"sub $96, %rsp\n"
	"1:\timul $69069, %rsi, %rsi\n\t"
	"add $1, %rsi\n\t"
	"mov %rsi, 16(%rsp)\n\t"
	"test $63, %edi\n\t"
	"jnz 2f\n\t"
	"call leaf\n"
	"2:\tdec %rdi\n\t"
	"jnz 1b\n\t"
	"mov %rsi, %rax\n\t"
	"mov %rcx, %rsp\n\t"
	"ret\n\t"
	".size aligned, . - aligned\n"
	".p2align 4\n"
	".globl kept\n"
	".type kept, @function\n"
	"kept:\n\t"
	"push %rbx\n\t"
	"mov %rsp, %rax\n\t"
	"and $-64, %rsp\n\t"
	"sub $192, %rsp\n\t"
	"mov %rax, 88(%rsp)\n\t"
	"mov %rdi, %rbx\n"
	"1:\timul $69069, %rsi, %rsi\n\t"
	"xor %eax, %eax\n\t"
	"test $63, %ebx\n\t"
	"jnz 2f\n\t"
	"call leaf\n"
	"2:\tdec %rbx\n\t"
	"jnz 1b\n\t"
	"mov %rsi, %rax\n\t"
	"mov 88(%rsp), %rsp\n\t"
	"pop %rbx\n\t"
	"ret\n\t"
	".size kept, . - kept\n");
#else
#define aligned by_hand
#define kept by_hand
APART uint64_t by_hand(uint64_t count, uint64_t seed)
{
	while (count--)
		seed = seed * 69069 + 1;
	return seed;
}
#endif

static APART uint64_t inner(uint64_t seed)
{
	volatile uint64_t table[40];

	for (unsigned i = 0; i < 40; i++)
		table[i] = seed + i;
	for (unsigned i = 0; i < 4000; i++)
		table[i % 40] += table[(i + seed) % 40] * 3;
	seed = by_hand(2000, table[seed % 40]);
	seed += aligned(1000, seed);
	seed += kept(1000, seed);
	__asm__ volatile("" : "+r"(seed)); /* no tail call */
	return seed;
}

static APART uint64_t middle(uint64_t seed, int rounds)
{
	uint64_t a = seed, b = 1, c = 2, d = 3, e = 4;

	while (rounds--) {
		a += inner(b);
		b ^= a + c;
		c = d * 3 + e;
		d += a;
		e -= b;
	}
	return a + b + c + d + e;
}

static APART uint64_t outer(double seconds)
{
	struct timespec begin, now;
	uint64_t sum = 0;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		sum += middle(sum, 1000);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while (
		(double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
	return sum;
}

int main(int argc, char **argv)
{
	return outer(argc > 1 ? atof(argv[1]) : 1) == 42;
}
