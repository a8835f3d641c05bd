/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_warp_balance.c - warps that wait for each other at barriers (S2 Table II). */
#include "blame/advise/optimizer.h"

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	(void)kernel, (void)function;
	return cause->class == CAUSE_BARRIER || (cause->stall == STALL_SYNC && cause->class == CAUSE_SELF);
}

const struct optimizer optimizer_warp_balance = {.name = "warp-balance",
	.title = "Warp Balance",
	.category = OPTIMIZER_ELIMINATES,
	.is_moved = true,
	.matches = matches,
	.hints = "Warps wait for other warps of their block at barriers.\n"
		 "1. Spread the work between barriers evenly over the warps; let no single thread or warp "
		 "work alone.\n"
		 "2. Exchange values in a warp by __shfl_sync or __syncwarp in place of __syncthreads.\n"
		 "3. Use fewer barriers: two buffers take turns."};
