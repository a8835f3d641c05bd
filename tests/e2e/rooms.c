/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rooms.c MODE ARGUMENT - code on stacks with little room left, which any program may have: a fiber's, a
 * small thread's, or the end of one that it reserves. Each mode prints what it saw, which must be the same
 * with and without a recorder (e2e.record.rooms.sh).
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "samples/burn.h"

#define STACK_BYTES (64u << 10)

static volatile uint64_t sink;
static volatile uintptr_t frame_bytes; /* of a signal: what the kernel puts on the stack */

APART static void spin(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		sink = sink * 69069 + i;
}

/* ---- a fiber of which the program uses nearly all ---- */

static void on_signal(int number, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;

	(void)number, (void)info;
	frame_bytes =
		(uintptr_t)interrupted->uc_mcontext.gregs[REG_RSP] - (uintptr_t)__builtin_frame_address(0);
}

/* Turns for a while with so much room left; calls nothing, so that it needs none. */
APART static void spin_at(uintptr_t sp, uint64_t count)
{
	__asm__ volatile("mov %%rsp, %%r12\n\t"
			 "mov %0, %%rsp\n"
			 "1:\tdec %1\n\t"
			 "jnz 1b\n\t"
			 "mov %%r12, %%rsp"
			 : "+r"(sp), "+r"(count)
			 :
			 : "r12", "memory", "cc");
}

static char *stack_new(void)
{
	char *memory =
		mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory, STACK_BYTES, PROT_NONE))
		exit(1);
	return memory + STACK_BYTES;
}

/* What every signal needs, and `more`, in steps. */
static int fiber(unsigned more)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	char *stack = stack_new();

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	for (unsigned i = 0; i < 40; i++) {
		uint64_t end = cpu_now_ns() + 5000000;

		while (cpu_now_ns() < end)
			spin_at((uintptr_t)stack + ((frame_bytes + more + i * 64) & ~(uintptr_t)15), 200000);
	}
	puts("there was room");
	return 0;
}

/* ---- a program that handles the overflows of its stack ---- */

static sigjmp_buf out;
static volatile unsigned overflows, others, general;
static char *overflow_stack;

static void on_fault(int number, siginfo_t *info, void *context)
{
	const char *at = info->si_addr;

	(void)number, (void)context;
	if (at >= overflow_stack - 4096 && at < overflow_stack)
		overflows++;
	else if (info->si_code == SI_KERNEL && !at)
		general++;
	else
		others++;
	siglongjmp(out, 1);
}

APART static unsigned recurse(unsigned depth)
{
	volatile char here[32];

	here[0] = (char)depth;
	spin(100);
	return depth < 1u << 20 ? recurse(depth + 1) + (unsigned)here[0] : 0;
}

/* An address that no processor knows: as the kernel has it where a signal's frame has no room. */
APART static void general_fault(void)
{
	*(volatile char *)(uintptr_t)0x8000000000000000u = 1;
}

static unsigned rounds;

static void *overflow_run(void *nothing)
{
	static char alternate[65536];

	sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof(alternate)}, NULL);
	for (volatile unsigned i = 0; i < rounds; i++)
		if (!sigsetjmp(out, 1))
			recurse(0);
	for (volatile unsigned i = 0; i < 10; i++)
		if (!sigsetjmp(out, 1))
			general_fault();
	sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
	return nothing;
}

static int overflow(unsigned count)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK}, old;
	pthread_attr_t own;
	pthread_t thread;

	rounds = count;
	overflow_stack = stack_new();
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGSEGV, NULL, &old);
	printf("read back %d, flags %x\n", old.sa_sigaction == on_fault,
		(unsigned)old.sa_flags & ~0x04000000u);
	pthread_attr_init(&own);
	pthread_attr_setstack(&own, overflow_stack, STACK_BYTES);
	if (pthread_create(&thread, &own, overflow_run, NULL))
		return 1;
	pthread_join(thread, NULL);
	printf("overflows %u, general %u, others %u\n", overflows, general, others);
	action.sa_flags = SA_ONSTACK;
	action.sa_handler = SIG_DFL;
	sigaction(SIGSEGV, &action, &old);
	printf("read back %d\n", old.sa_sigaction == on_fault);
	action.sa_handler = (void (*)(int))(void (*)(void))general_fault;
	sigaction(SIGSEGV, &action, &old);
	printf("was default %d\n", old.sa_handler == SIG_DFL);
	printf("signal gives it back %d\n", signal(SIGSEGV, SIG_DFL) == action.sa_handler);
	fflush(stdout);
	general_fault();
	return 0;
}

/* ---- threads with the least stack ---- */

APART static unsigned depth_reach(unsigned depth)
{
	volatile char here[64];

	here[0] = (char)depth;
	spin(20000);
	return depth ? depth_reach(depth - 1) + (unsigned)(here[0] & 0) : 0;
}

static void *thread_run(void *nothing)
{
	const struct timespec soon = {0, 100000};

	for (unsigned i = 0; i < 30; i++) {
		depth_reach(10);
		nanosleep(&soon, NULL);
	}
	return nothing;
}

static int threads(unsigned count)
{
	pthread_attr_t least;
	pthread_t thread[16];

	pthread_attr_init(&least);
	pthread_attr_setstacksize(&least, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	for (unsigned i = 0; i < count; i += 16) {
		for (unsigned k = 0; k < 16; k++)
			if (pthread_create(&thread[k], &least, thread_run, NULL))
				return 1;
		for (unsigned k = 0; k < 16; k++)
			pthread_join(thread[k], NULL);
	}
	puts("all ended");
	return 0;
}

/* ---- a runtime's own stacks between its data, where no signal may write (Poly/ML's threads) ---- */

static void on_timer(int number)
{
	(void)number;
}

static int among(unsigned count)
{
	static unsigned char heap[65536], alternate[16384];
	const struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_ONSTACK | SA_RESTART};
	const size_t stack = sizeof(heap) - 512, red_zone = 128;
	unsigned written = 0;

	sigaction(SIGVTALRM, &action, NULL);
	sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof(alternate)}, NULL);
	memset(heap, 0xa5, sizeof(heap));
	for (unsigned i = 0; i < count; i++)
		spin_at((uintptr_t)(heap + stack) & ~(uintptr_t)15, 100000000);
	for (size_t i = 0; i < stack - 16 - red_zone; i++)
		written += heap[i] != 0xa5;
	printf("bytes of others that were written: %u\n", written);
	sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(unsigned);
	} modes[] = {{"fiber", fiber}, {"overflow", overflow}, {"threads", threads}, {"among", among}};

	for (unsigned i = 0; argc > 2 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(modes[i].name, argv[1]))
			return modes[i].run((unsigned)atoi(argv[2]));
	return 2;
}
