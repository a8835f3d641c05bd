/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_vector_access.c - many accesses of few bytes, beside each other: 16 bytes at a time need fewer.
 */
#include <math.h>

#include "blame/advise/advice.h"

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

static double stays(const struct kernel_function *function, const struct cause *cause)
{
	return cause->samples * memory_scope_of(&function->memory, &function->code, cause->use)->widest /
	       WIDEST;
}

/* Fewer accesses take as much of the waits away, until memory's rate is the limit: between nothing and all,
 * their geometric mean. */
static bool judge(const struct kernel *kernel, struct advice *advice)
{
	(void)kernel;
	advice->high = advice->speedup;
	advice->speedup = sqrt(advice->high);
	advice->low = 1;
	return true;
}

const struct optimizer optimizer_vector_access = {.name = "vector-access",
	.title = "Vector Access",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.stays = stays,
	.judge = judge,
	.hints = "Each access of global memory moves few bytes of a thread.\n"
		 "1. Load and store 16 bytes at a time (uint4, float4), and compute with their parts; the "
		 "address "
		 "must be a multiple of 16.\n"
		 "2. Let each thread work on neighbouring elements rather than on every n-th."};
