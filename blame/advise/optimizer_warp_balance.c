/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_warp_balance.c - warps that wait for each other at barriers (S2 Table II). */
#include "blame/advise/optimizer.h"

#include <math.h>
#include <stdlib.h>

#include "blame/advise/advice.h"
#include "blame/advise/estimate.h"
#include "blame/stalls/balance.h"

#define STEPS_MAX (UINT64_C(1) << 22)

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	(void)kernel, (void)function;
	return cause->class == CAUSE_BARRIER || (cause->stall == STALL_SYNC && cause->class == CAUSE_SELF);
}

/* Samples of waits for each barrier of a function that uneven work explains. */
static double uneven_of(const struct kernel *kernel, const struct kernel_function *function)
{
	double *waits = calloc((size_t)function->code.count + 1, sizeof *waits), sum = 0;
	double period = kernel->period ? (double)kernel->period : 1;
	struct parse_budget budget;

	parse_budget_allow(&budget, STEPS_MAX, 0);
	for (size_t c = 0; waits && c < function->causes.count; c++)
		if (function->causes.list[c].class == CAUSE_BARRIER)
			waits[function->causes.list[c].define] += function->causes.list[c].samples;
	for (uint32_t i = 0; waits && i < function->code.count; i++)
		if (waits[i] > 0)
			sum += fmin(waits[i], balance_uneven(function, i, period, &budget));
	free(waits);
	return sum;
}

/* Waits for work that few warps do go once all share it. The others may only move to where the next one is:
 * between nothing and all, their geometric mean. */
static bool judge(const struct kernel *kernel, struct advice *advice)
{
	double uneven = 0;

	for (size_t f = 0; f < kernel->function_count; f++)
		uneven += uneven_of(kernel, &kernel->functions[f]);
	uneven = fmin(uneven, advice->matched);
	advice->speedup = sqrt(fmin(ADVICE_MOST, estimate_elimination(kernel->total, uneven)) *
			       fmin(ADVICE_MOST, estimate_elimination(kernel->total, advice->matched)));
	return advice->matched > 0;
}

const struct optimizer optimizer_warp_balance = {.name = "warp-balance",
	.title = "Warp Balance",
	.category = OPTIMIZER_ELIMINATES,
	.is_moved = true,
	.matches = matches,
	.judge = judge,
	.hints = "Warps wait for other warps of their block at barriers.\n"
		 "1. Spread the work between barriers evenly over the warps; let no single thread or warp "
		 "work alone.\n"
		 "2. Exchange values in a warp by __shfl_sync or __syncwarp in place of __syncthreads.\n"
		 "3. Use fewer barriers: two buffers take turns."};
