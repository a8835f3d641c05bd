/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_memory_transactions.c - the queue of global memory is full (S2 Table II). */
#include "blame/advise/advice.h"
#include "blame/advise/estimate.h"

#define LATENCY_CYCLES 800.0	/* of a load that misses all caches while nothing else is under way */
#define SATURATED_CYCLES 1200.0 /* a load that takes longer waits behind others */

/* Cycles that the use of a load waits each time: its samples that stall for each that issued. */
static double wait_of(const struct kernel_function *function, uint32_t use)
{
	const struct cause_samples *s = &function->samples[use];

	return s->all[STALL_NONE] > 0 ? s->all[STALL_GMEM] / s->all[STALL_NONE] : 0;
}

static bool is_saturated(const struct kernel_function *function, const struct cause *cause)
{
	return cause->class == CAUSE_GLOBAL && cause->stall == STALL_GMEM &&
	       wait_of(function, cause->use) > SATURATED_CYCLES;
}

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	const struct gpu_instruction *in = &function->code.instructions[cause->use];

	(void)kernel;
	if (is_saturated(function, cause))
		return true;
	return cause->stall == STALL_MTHR && in->space != GPU_SPACE_SHARED && in->space != GPU_SPACE_NONE &&
	       in->space != GPU_SPACE_LOCAL;
}

/* Fewer transactions take away what a load waits beyond its own latency. */
static bool judge(const struct kernel *kernel, struct advice *advice)
{
	double stays = 0;

	for (size_t f = 0; f < kernel->function_count; f++) {
		const struct kernel_function *function = &kernel->functions[f];

		for (size_t c = 0; c < function->causes.count; c++) {
			const struct cause *cause = &function->causes.list[c];

			if (is_saturated(function, cause))
				stays += cause->samples * LATENCY_CYCLES / wait_of(function, cause->use);
		}
	}
	advice->speedup = estimate_elimination(kernel->total, advice->matched - stays);
	if (advice->low > advice->speedup)
		advice->low = advice->speedup;
	return true;
}

const struct optimizer optimizer_memory_transactions = {.name = "memory-transactions",
	.title = "Memory Transaction Reduction",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.judge = judge,
	.hints = "More transactions of global memory are asked for than it can serve: its queue is full, or "
		 "loads take longer "
		 "than memory's latency.\n"
		 "1. Let neighbouring threads access neighbouring addresses.\n"
		 "2. Load 8 or 16 bytes at a time (float2, float4).\n"
		 "3. Load what several threads use once, into shared memory."};
