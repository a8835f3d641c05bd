/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_code_reordering.c - latencies anywhere (S2 Table II). */
#include "blame/advise/optimizer.h"

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	(void)kernel;
	if (memory_is_limit(function, cause))
		return false;
	return cause->class == CAUSE_GLOBAL || cause->class == CAUSE_ARITHMETIC ||
	       cause->class == CAUSE_SHARED || cause->class == CAUSE_WAR ||
	       scalar_memory_is_load(function, cause);
}

const struct optimizer optimizer_code_reordering = {.name = "code-reordering",
	.title = "Code Reordering",
	.category = OPTIMIZER_HIDES,
	.is_scoped = true,
	.matches = matches,
	.hints = "Values are used soon after they are asked for.\n"
		 "1. Load early, use late: move loads up, above independent arithmetic and above barriers.\n"
		 "2. Load the next round's values before computing with this round's.\n"
		 "It gains little if all that could move depends on the load."};
