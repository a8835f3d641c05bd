/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_memory_transactions.c - global memory is asked for more sectors than threads need (S2 Table II).
 * Accesses whose neighbours read beside each other are none of its matter: no other order of them moves less.
 */
#include <math.h>

#include "blame/advise/advice.h"
#include "blame/advise/estimate.h"

#define LATENCY_CYCLES 800.0 /* of a load that misses all caches while nothing else is under way */

/* Special registers are read by way of the queue of memory instructions: what that takes beyond its own
 * latency is time behind these, as a share of the wait. */
static double queued_share(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	const struct gpu_instruction *define = &function->code.instructions[cause->define];
	double issued = function->samples[cause->use].all[STALL_NONE];
	double waits = function->samples[cause->use].all[STALL_IDEP];

	if (cause->stall != STALL_IDEP || define->kind != GPU_KIND_MOVE ||
		define->write_barrier == GPU_NO_BARRIER || waits <= 0)
		return 0;
	return fmax(0, 1 - architecture_latency(kernel->architecture, define) * issued / waits);
}

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	const struct memory_scope *scope = memory_scope_of(&function->memory, &function->code, cause->use);

	if (!memory_is_wasteful(scope))
		return false;
	if (cause->class == CAUSE_GLOBAL && cause->stall == STALL_GMEM)
		return memory_is_saturated(scope);
	return memory_queue_is_full(function, cause) || queued_share(kernel, function, cause) > 0;
}

/* What is left of the samples of a cause. With the transactions the time of saturated memory shrinks; but a
 * load keeps its latency, while caches may hold already what others move in vain. Between these two: their
 * geometric mean. */
static double stays(const struct kernel_function *function, const struct cause *cause)
{
	const struct memory_scope *scope = memory_scope_of(&function->memory, &function->code, cause->use);
	double waste = memory_waste(scope), needed = waste > 0 ? 1 / waste : 0;
	double latency = cause->stall == STALL_GMEM ? fmin(1, LATENCY_CYCLES / scope->longest) : needed;

	if (latency <= needed)
		return cause->samples * needed;
	return cause->samples * (needed > 0 ? sqrt(needed * latency) : latency);
}

static bool judge(const struct kernel *kernel, struct advice *advice)
{
	double most = 1;

	for (size_t f = 0; f < kernel->function_count; f++) {
		const struct kernel_function *function = &kernel->functions[f];

		for (size_t c = 0; c < function->causes.count; c++) {
			const struct cause *cause = &function->causes.list[c];

			if (matches(kernel, function, cause))
				most = fmax(most, memory_waste(memory_scope_of(
							  &function->memory, &function->code, cause->use)));
		}
	}
	/* All fields of a structure may be needed; and whatever waits beside the loads may go with them. */
	advice->low = estimate_elimination(kernel->total, (advice->matched - advice->stays) / 2);
	advice->high = most;
	return true;
}

const struct optimizer optimizer_memory_transactions = {.name = "memory-transactions",
	.title = "Memory Transaction Reduction",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.stays = stays,
	.judge = judge,
	.hints = "Threads of a warp access places far apart: global memory moves more than they need, its "
		 "queue is full, "
		 "or loads take longer than memory's latency.\n"
		 "1. Let neighbouring threads access neighbouring addresses: arrays of fields rather than of "
		 "structures, another order of loops, a tile in shared memory.\n"
		 "2. Load 8 or 16 bytes at a time (float2, float4).\n"
		 "3. Load what several threads use once, into shared memory."};
