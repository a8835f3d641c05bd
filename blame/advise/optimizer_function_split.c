/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_function_split.c - code too long for the instruction cache (S2 Table II). */
#include "blame/advise/advice.h"

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	(void)kernel, (void)function;
	return cause->stall == STALL_IFET;
}

/* Loops that branch much wait for branches, not for code: with little code splitting has harmed. */
#define CACHE_INSTRUCTIONS 2048u /* 32 KiB */

#define FETCH_LEAST 0.2 /* of the samples: code that runs once is fetched once, split or not */

static bool judge(const struct kernel *kernel, struct advice *advice)
{
	uint64_t instructions = 0;

	if (advice->matched < kernel->total * FETCH_LEAST)
		return false;
	for (size_t f = 0; f < kernel->function_count; f++)
		instructions += kernel->functions[f].code.count;
	return instructions > CACHE_INSTRUCTIONS;
}

const struct optimizer optimizer_function_split = {.name = "function-split",
	.title = "Function Split",
	.category = OPTIMIZER_ELIMINATES,
	.is_moved = true,
	.matches = matches,
	.judge = judge,
	.hints = "Warps wait for instructions: the code does not fit the instruction cache.\n"
		 "1. Split the kernel, or a long loop body, so that each part fits.\n"
		 "2. Unroll less (#pragma unroll 1), inline less (__noinline__)."};
