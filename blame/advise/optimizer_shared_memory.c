/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_shared_memory.c - waits for shared memory: bank conflicts, or too many accesses. */
#include "blame/advise/optimizer.h"

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	const struct gpu_instruction *in = &function->code.instructions[cause->use];

	(void)kernel;
	return cause->class == CAUSE_SHARED || (cause->stall == STALL_MTHR && in->space == GPU_SPACE_SHARED);
}

const struct optimizer optimizer_shared_memory = {.name = "shared-memory",
	.title = "Shared Memory Accesses",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.hints = "Warps wait for shared memory.\n"
		 "1. Threads of a warp that access different rows of one bank wait for each other: pad the "
		 "rows of a "
		 "tile by one element ([32][33]).\n"
		 "2. Keep values in registers; load 8 or 16 bytes at a time.\n"
		 "3. Exchange values in a warp by __shfl_sync."};
