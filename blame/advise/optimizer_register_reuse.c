/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_register_reuse.c - registers that the compiler spilled to local memory (S2 Table II). */
#include "blame/advise/optimizer.h"

static bool is_local(const struct kernel_function *function, uint32_t at)
{
	return function->code.instructions[at].space == GPU_SPACE_LOCAL;
}

/* Also of a store whose register is written again, or whose value is loaded: spilled registers go back and
 * forth. */
static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	(void)kernel;
	return cause->class == CAUSE_LOCAL ||
	       (cause->class == CAUSE_WAR && is_local(function, cause->define)) ||
	       (cause->stall == STALL_MTHR && is_local(function, cause->use));
}

const struct optimizer optimizer_register_reuse = {.name = "register-reuse",
	.title = "Register Reuse",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.leaves = is_local,
	.hints = "The kernel waits for local memory: registers were spilled, or an array is indexed by what "
		 "is known only "
		 "at run time.\n"
		 "1. Allow more registers: raise -maxrregcount, or lower the blocks in __launch_bounds__.\n"
		 "2. Split a loop that keeps many values alive into two.\n"
		 "3. Index local arrays by constants (unroll the loop), or keep them in shared memory."};
