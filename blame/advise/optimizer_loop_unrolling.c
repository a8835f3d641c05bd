/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_loop_unrolling.c - latencies in loops (S2 Table II). */
#include "blame/advise/optimizer.h"

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	bool is_dependency = cause->class == CAUSE_GLOBAL || cause->class == CAUSE_ARITHMETIC ||
			     cause->class == CAUSE_SHARED || cause->class == CAUSE_WAR ||
			     scalar_memory_is_load(function, cause);

	(void)kernel;
	if (memory_is_limit(function, cause))
		return false;
	return is_dependency &&
	       kernel_code_common_loop(&function->code, cause->define, cause->use) != LOOP_NONE;
}

#define ROUNDS 4.0 /* that compilers unroll where they do not know how many there are */

/* Loads whose address is not made of what was loaded do not wait for each other: those of several rounds take
 * as long together as one does (Little's law), until memory is saturated. A barrier keeps rounds apart. Where
 * a load is what waits, it needs the other one's value: a chain of pointers. */
static double overlaps(const struct kernel_function *function, const struct cause *cause)
{
	const struct kernel_code *code = &function->code;
	uint32_t loop = kernel_code_common_loop(code, cause->define, cause->use);
	unsigned address = function->lanes.values[cause->define].kind;

	if (cause->class != CAUSE_GLOBAL || code->instructions[cause->define].kind != GPU_KIND_LOAD ||
		code->instructions[cause->use].kind == GPU_KIND_LOAD || loop == LOOP_NONE ||
		code->has_barrier[loop] || address == LANES_DATA || address == LANES_UNKNOWN)
		return 0;
	return 1 - 1 / ROUNDS;
}

const struct optimizer optimizer_loop_unrolling = {.name = "loop-unrolling",
	.title = "Loop Unrolling",
	.category = OPTIMIZER_HIDES,
	.is_scoped = true,
	.matches = matches,
	.overlaps = overlaps,
	.hints = "Each round of the loop waits for its own loads and results.\n"
		 "1. #pragma unroll N before the loop, or unroll it by hand, so that loads of several rounds "
		 "are "
		 "under way together.\n"
		 "2. Split a sum over rounds into several that are independent.\n"
		 "It gains little if loops have few rounds."};
