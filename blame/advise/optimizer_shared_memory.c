/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_shared_memory.c - waits for shared memory: bank conflicts, or too many accesses. */
#include "blame/advise/optimizer.h"

#include <math.h>

#include "blame/advise/advice.h"
#include "blame/advise/estimate.h"

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	const struct gpu_instruction *in = &function->code.instructions[cause->use];

	(void)kernel;
	if (cause->class == CAUSE_SHARED)
		return true;
	if (cause->stall != STALL_MTHR)
		return false;
	/* A full queue holds back whatever comes next. */
	return in->space == GPU_SPACE_SHARED ||
	       (function->samples[cause->use].near * 2 > function->samples[cause->use].all[STALL_MTHR] &&
		       function->memory.has_conflicts);
}

/* What is left where the number of turns is known: one of them. */
static double stays_of(const struct kernel_function *function)
{
	double issued = 0, turns = 0;

	for (uint32_t i = 0; i < function->code.count; i++) {
		const struct gpu_instruction *in = &function->code.instructions[i];
		unsigned conflicts = in->space == GPU_SPACE_SHARED && in->bytes
					     ? lanes_conflicts(&function->lanes.values[i], in->bytes)
					     : 0;

		if (!conflicts)
			continue;
		issued += function->samples[i].all[STALL_NONE];
		turns += function->samples[i].all[STALL_NONE] * conflicts;
	}
	return turns > issued ? issued / turns : 0;
}

static bool judge(const struct kernel *kernel, struct advice *advice)
{
	double stays = 0;

	for (size_t f = 0; f < kernel->function_count; f++) {
		const struct kernel_function *function = &kernel->functions[f];
		double share = stays_of(function);

		for (size_t c = 0; c < function->causes.count; c++)
			if (matches(kernel, function, &function->causes.list[c]))
				stays += share * function->causes.list[c].samples;
	}
	advice->speedup = estimate_elimination(kernel->total, advice->matched - stays);
	return true;
}

const struct optimizer optimizer_shared_memory = {.name = "shared-memory",
	.title = "Shared Memory Accesses",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.judge = judge,
	.hints = "Warps wait for shared memory.\n"
		 "1. Threads of a warp that access different rows of one bank wait for each other: pad the "
		 "rows of a "
		 "tile by one element ([32][33]).\n"
		 "2. Keep values in registers; load 8 or 16 bytes at a time.\n"
		 "3. Exchange values in a warp by __shfl_sync."};
