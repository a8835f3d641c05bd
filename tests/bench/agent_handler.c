/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_handler.c - what one sample costs inside the agent, the interrupt itself left out: the handler of
 * source_trap on this process's own stack at some depths, with another innermost frame each time, and so
 * after so many MiB of other memory were written, which takes the place of the agent's in the caches.
 * Printed, never asserted, a line for each depth:
 *
 *   frames N of places N | recursion   after_MiB N ns N ...   clock_ns N
 *
 * medians by the clock; "clock": at 1 kHz, where the thread's clock is asked at each sample. Frames are of so
 * many functions, as those of programs are, or of one that calls itself.
 *
 * "agent_handler trace" takes few, each between two writes of `mark`, for sample_pages.py, which counts what
 * the handler touches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "record/agent/base/perf.h"
#include "record/agent/process/process.h"
#include "record/agent/sample/sample.h"
#include "record/agent/sample/source_perf.h"
#include "record/agent/unwind/module_map.h"

#define ROUNDS 301
#define WARM_ROUNDS 3001
#define OTHER_MOST ((size_t)64 << 20)
#define PERIOD_NS 100000u
#define LONG_PERIOD_NS 1000000u
#define PLACES 80

volatile unsigned mark;
static bool is_trace;

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* One sample as the kernel would bring it; how long it took. */
static uint64_t sample_ns(struct thread *t, ucontext_t *context)
{
	struct perf_trap trap = {.code = PERF_TRAP_CODE, .data = source_trap_data(0)};
	siginfo_t info;
	uint64_t begin;

	memcpy(&info, &trap, sizeof(trap));
	t->ring.shared->tail = t->ring.shared->head;
	t->covered_ns = 0; /* the clock, if asked, says that a sample is due */
	t->believed = 0;
	begin = wall_ns();
	t->hit_ns = begin - process.settings.period_ns;
	mark = 1;
	source_trap_handle(SIGTRAP, &info, context);
	mark = 0;
	return wall_ns() - begin;
}

#define TRACED 8 /* samples of a place: what a sample keeps for the next one is there */

/* The median: whoever had the core meanwhile is in some of them. */
static uint64_t median_ns(struct thread *t, ucontext_t *context, size_t bytes)
{
	static volatile unsigned char other[OTHER_MOST];
	static uint64_t took[WARM_ROUNDS];
	unsigned rounds = is_trace ? TRACED : bytes ? ROUNDS : WARM_ROUNDS;
	greg_t pc = context->uc_mcontext.gregs[REG_RIP];

	for (unsigned i = 0; i < rounds; i++) {
		for (size_t at = 0; at < bytes; at += 64)
			other[at]++;
		context->uc_mcontext.gregs[REG_RIP] = pc + i % 4; /* the same row of rules */
		took[i] = sample_ns(t, context);
	}
	context->uc_mcontext.gregs[REG_RIP] = pc;
	qsort(took, rounds, sizeof *took, compare);
	return took[rounds / 2];
}

__attribute__((noipa)) static int measure(const char *what)
{
	struct thread *t = thread_place.self;
	ucontext_t context;

	getcontext(&context);
	median_ns(t, &context, 0);
	printf("frames %u of %s", t->unwinder.walked, what);
	if (is_trace)
		return puts("");
	for (size_t bytes = 0; bytes <= OTHER_MOST; bytes = bytes ? bytes * 8 : (size_t)1 << 20)
		printf("\tafter_MiB %zu ns %lu", bytes >> 20, median_ns(t, &context, bytes));
	process.settings.period_ns = LONG_PERIOD_NS;
	printf("\tclock_ns %lu\n", median_ns(t, &context, 0));
	process.settings.period_ns = PERIOD_NS;
	return 1;
}

__attribute__((noipa)) static int down(unsigned depth)
{
	int below = depth ? down(depth - 1) : measure("recursion");

	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

/* Functions of their own, some cache lines apart. */
typedef int place(unsigned depth);
static place *const places[PLACES];

#define PLACE(tens, ones)                                                             \
	__attribute__((noipa)) static int place_##tens##ones(unsigned depth)          \
	{                                                                             \
		int below = depth ? places[depth - 1](depth - 1) : measure("places"); \
                                                                                      \
		__asm__ volatile(".skip 300, 0x90" : "+r"(below));                    \
		return below + 1;                                                     \
	}
#define TEN(X, tens) \
	X(tens, 0)   \
	X(tens, 1) X(tens, 2) X(tens, 3) X(tens, 4) X(tens, 5) X(tens, 6) X(tens, 7) X(tens, 8) X(tens, 9)
#define ALL(X) TEN(X, 0) TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6) TEN(X, 7)
ALL(PLACE)
#define NAME(tens, ones) place_##tens##ones,
static place *const places[PLACES] = {ALL(NAME)};

int main(int argc, char **argv, char **envp)
{
	char *settings[] = {"HPCT_SOCKET=/none", "HPCT_EVENTS=CPUTIME@100", NULL};
	struct thread *thread;

	is_trace = argc > 1 && !strcmp(argv[1], "trace");
	if (process_settings_read(settings) || process_open(argv, envp))
		return 1;
	module_map_init(envp);
	module_slots_init();
	thread_init();
	thread_place.stack_high = (uintptr_t)argv;
	thread_place.stack_low = (uintptr_t)argv - (1u << 20);
	thread = thread_new();
	thread->unwinder.space.hidden_end = 0; /* the agent's code is this whole program here */
	thread_begin(thread, 0);
	thread->source->disarm(thread);
	if (source_trap_prepare() || source_trap_thread_add(thread))
		return 1;
	source_perf.kernel = true;
	process.settings.period_ns = PERIOD_NS;
	if (is_trace)
		printf("mark %p thread %p %zu process %p %lu stack %p\n", (void *)&mark, (void *)thread,
			thread->block_bytes, (void *)process.shared, process.shared->memory_bytes,
			(void *)argv);
	for (unsigned depth = 6; depth < PLACES; depth = depth * 2 + 14) {
		down(depth);
		places[depth](depth);
	}
	return 0;
}
