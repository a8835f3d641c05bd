/* SPDX-License-Identifier: Apache-2.0 */
/* astray.c - sleeps 300 times on a stack that leads nowhere, for e2e.record.partial. */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t stack[8192] __attribute__((aligned(64)));

__attribute__((noinline)) static void sleep_astray(void)
{
	void *top = &stack[7168];

	__asm__ volatile(
		"mov %%rsp, %%rbx\n\t"
		"mov %0, %%rsp\n\t"
		"mov $100, %%edi\n\t"
		"call usleep@PLT\n\t"
		"mov %%rbx, %%rsp"
		:
		: "r"(top)
		: "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

int main(void)
{
	for (unsigned i = 0; i < sizeof(stack) / sizeof(*stack); i++)
		stack[i] = 0x1234567;
	for (unsigned i = 0; i < 300; i++)
		sleep_astray();
	puts("back");
	return 0;
}
