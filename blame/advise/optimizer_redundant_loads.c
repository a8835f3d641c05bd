/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_redundant_loads.c - loads of the same address in every round of a loop. */
#include <math.h>

#include "blame/advise/advice.h"

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	(void)kernel;
	if (memory_scope_of(&function->memory, &function->code, cause->use)->repeated <= 0)
		return false;
	if (cause->stall == STALL_GMEM)
		return cause->class == CAUSE_GLOBAL;
	return memory_queue_is_full(function, cause);
}

/* Waits for another load stay; but it has fewer before it in the queue. */
static double stays(const struct kernel_function *function, const struct cause *cause)
{
	const struct memory_scope *scope = memory_scope_of(&function->memory, &function->code, cause->use);

	if (cause->stall == STALL_GMEM && function->memory.is_repeated[cause->define])
		return 0;
	return cause->samples * fmax(0, 1 - scope->repeated / scope->all);
}

static bool judge(const struct kernel *kernel, struct advice *advice)
{
	(void)kernel;
	advice->low = 1;
	return true;
}

const struct optimizer optimizer_redundant_loads = {.name = "redundant-loads",
	.title = "Redundant Load Removal",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.stays = stays,
	.judge = judge,
	.hints = "A loop loads from the same address in each round: a store in it might have changed the "
		 "value.\n"
		 "1. Load it into a variable before the loop; sum up in a variable, and store that after the "
		 "loop.\n"
		 "2. Declare pointers to what does not overlap const and __restrict__."};
