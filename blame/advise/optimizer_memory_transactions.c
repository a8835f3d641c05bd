/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_memory_transactions.c - the queue of global memory is full (S2 Table II). */
#include "blame/advise/optimizer.h"

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	const struct gpu_instruction *in = &function->code.instructions[cause->use];

	(void)kernel;
	return cause->stall == STALL_MTHR && in->space != GPU_SPACE_SHARED && in->space != GPU_SPACE_NONE &&
	       in->space != GPU_SPACE_LOCAL;
}

const struct optimizer optimizer_memory_transactions = {.name = "memory-transactions",
	.title = "Memory Transaction Reduction",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.hints = "More transactions of global memory are asked for than its queue takes.\n"
		 "1. Let neighbouring threads access neighbouring addresses.\n"
		 "2. Load 8 or 16 bytes at a time (float2, float4).\n"
		 "3. Load what several threads use once, into shared memory."};
