/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_handler.c - what one sample costs inside the agent, the interrupt itself
 * left out: sample_take on this process's own stack at some depths, hot (the same
 * path again) and with a new innermost frame each time; and so after so many MiB of
 * other memory were written, which takes the place of the agent's in the caches.
 * Printed, never asserted: "frames N unwind_ns N same_ns N other_ns N", then
 * "after_MiB N median_ns N" for some of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

#include "record/agent/process.h"
#include "record/agent/sample.h"

#define ROUNDS 20000
#define COLD_ROUNDS 301
#define OTHER_MOST ((size_t)64 << 20)

static void sample(struct thread *t, const ucontext_t *context)
{
	sample_take(t, context, 1);
	t->ring.shared->tail = t->ring.shared->head;
}

/* Of this thread: what else the machine does is left out. */
static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t sampled_ns(struct thread *t, ucontext_t *context, unsigned ways)
{
	greg_t pc = context->uc_mcontext.gregs[REG_RIP];
	uint64_t begin = cpu_ns();

	for (unsigned i = 0; i < ROUNDS; i++) {
		context->uc_mcontext.gregs[REG_RIP] = pc + i % ways; /* the same row of rules */
		sample(t, context);
	}
	context->uc_mcontext.gregs[REG_RIP] = pc;
	return (cpu_ns() - begin) / ROUNDS;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The median: whoever had the core meanwhile is in some of them. */
static uint64_t cold_ns(struct thread *t, ucontext_t *context, size_t bytes)
{
	static volatile unsigned char other[OTHER_MOST];
	static uint64_t took[COLD_ROUNDS];
	greg_t pc = context->uc_mcontext.gregs[REG_RIP];

	for (unsigned i = 0; i < COLD_ROUNDS; i++) {
		for (size_t at = 0; at < bytes; at += 64)
			other[at]++;
		context->uc_mcontext.gregs[REG_RIP] = pc + i % 4;
		took[i] = wall_ns();
		sample(t, context);
		took[i] = wall_ns() - took[i];
	}
	context->uc_mcontext.gregs[REG_RIP] = pc;
	qsort(took, COLD_ROUNDS, sizeof *took, compare);
	return took[COLD_ROUNDS / 2];
}

__attribute__((noinline)) static void measure(void)
{
	struct thread *t = thread_place.self;
	struct arch_registers start = {.known = ARCH_ALL_KNOWN};
	uint64_t same, other, begin;
	ucontext_t context;

	getcontext(&context);
	arch_registers_read(&context, start.value);
	sampled_ns(t, &context, 4);
	same = sampled_ns(t, &context, 1);
	other = sampled_ns(t, &context, 4);
	begin = cpu_ns();
	for (unsigned i = 0; i < ROUNDS; i++)
		unwind_walk(&t->unwinder, &start);
	printf("frames %u unwind_ns %lu same_ns %lu other_ns %lu\n", t->unwinder.walked,
		(cpu_ns() - begin) / ROUNDS, same, other);
	for (size_t bytes = (size_t)1 << 20; bytes <= OTHER_MOST; bytes *= 8)
		printf("\tafter_MiB %zu median_ns %lu\n", bytes >> 20, cold_ns(t, &context, bytes));
}

__attribute__((noinline)) static int down(unsigned depth)
{
	int below = 1;

	if (depth)
		below += down(depth - 1);
	else
		measure();
	__asm__ volatile("" : "+r"(below));
	return below;
}

int main(int argc, char **argv, char **envp)
{
	char *settings[] = {"HPCT_SOCKET=/none", "HPCT_EVENTS=CPUTIME@100000000", NULL};
	struct thread *thread;

	(void)argc;
	if (process_settings_read(settings) || process_open(argv, envp))
		return 1;
	module_init(envp);
	thread_init();
	thread_place.stack_high = (uintptr_t)argv;
	thread_place.stack_low = (uintptr_t)argv - (1u << 20);
	thread = thread_new();
	thread->unwinder.space.hidden_end = 0; /* the agent's code is this whole program here */
	thread_begin(thread, 0);
	for (unsigned depth = 7; depth < 128; depth = depth * 2 + 13)
		down(depth);
	return 0;
}
