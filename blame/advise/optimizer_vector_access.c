/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_vector_access.c - many accesses of few bytes, beside each other: 16 bytes at a time need fewer.
 */
#include <math.h>

#include "blame/advise/advice.h"
#include "blame/advise/estimate.h"

#define WIDEST 16u
#define NARROW 4u /* bytes: of at least these, as many are under way as memory needs */

/* A queue of accesses is full whatever their size; but that a load is waited for tells of narrow ones only.
 */
static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	const struct memory_scope *scope = memory_scope_of(&function->memory, &function->code, cause->use);

	(void)kernel;
	if (!scope->widest || scope->widest >= WIDEST || memory_is_wasteful(scope))
		return false;
	if (cause->class == CAUSE_GLOBAL && cause->stall == STALL_GMEM)
		return scope->widest < NARROW && function->code.loop_of[cause->use] != LOOP_NONE;
	return memory_queue_is_full(function, cause);
}

/* Fewer accesses take as much of the waits away, until memory's rate is the limit: between nothing and all,
 * their geometric mean. */
static bool judge(const struct kernel *kernel, struct advice *advice)
{
	double stays = 0;

	for (size_t f = 0; f < kernel->function_count; f++) {
		const struct kernel_function *function = &kernel->functions[f];

		for (size_t c = 0; c < function->causes.count; c++) {
			const struct cause *cause = &function->causes.list[c];

			if (matches(kernel, function, cause))
				stays += cause->samples *
					 memory_scope_of(&function->memory, &function->code, cause->use)
						 ->widest /
					 WIDEST;
		}
	}
	advice->high = estimate_elimination(kernel->total, advice->matched - stays);
	advice->speedup = sqrt(advice->high);
	advice->low = 1;
	return true;
}

const struct optimizer optimizer_vector_access = {.name = "vector-access",
	.title = "Vector Access",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.judge = judge,
	.hints = "Each access of global memory moves few bytes of a thread.\n"
		 "1. Load and store 16 bytes at a time (uint4, float4), and compute with their parts; the "
		 "address "
		 "must be a multiple of 16.\n"
		 "2. Let each thread work on neighbouring elements rather than on every n-th."};
