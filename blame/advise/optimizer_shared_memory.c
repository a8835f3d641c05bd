/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_shared_memory.c - waits for shared memory: bank conflicts, or too many accesses. */
#include "blame/advise/optimizer.h"

#include <math.h>

#include "blame/advise/advice.h"

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

/* One of the turns that each access takes. */
static double stays(const struct kernel_function *function, const struct cause *cause)
{
	return function->memory.one_turn * cause->samples;
}

/* Without a conflict that is known an access keeps its latency, which code around it may hide; only fewer of
 * them spare it: between nothing and all, their geometric mean. */
static bool judge(const struct kernel *kernel, struct advice *advice)
{
	bool has_conflicts = false;

	for (size_t f = 0; f < kernel->function_count; f++)
		has_conflicts |= kernel->functions[f].memory.has_conflicts;
	if (has_conflicts)
		return true;
	advice->speedup = sqrt(fmin(advice->speedup, ADVICE_MOST));
	advice->low = 1;
	return true;
}

const struct optimizer optimizer_shared_memory = {.name = "shared-memory",
	.title = "Shared Memory Accesses",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.stays = stays,
	.judge = judge,
	.hints = "Warps wait for shared memory.\n"
		 "1. Threads of a warp that access different rows of one bank wait for each other: pad the "
		 "rows of a "
		 "tile by one element ([32][33]).\n"
		 "2. Keep values in registers; load 8 or 16 bytes at a time.\n"
		 "3. Exchange values in a warp by __shfl_sync."};
