/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_thread_increase.c - blocks so small that their number limits occupancy (S2 Table II, Eq 10). */
#include "blame/advise/optimizer.h"

#include <math.h>
#include <stdio.h>

#include "blame/advise/advice.h"
#include "blame/advise/estimate.h"

#define BLOCK 256u /* threads: what fills a multiprocessor of any generation */

static bool judge(const struct kernel *kernel, struct advice *advice)
{
	const struct kernel_shape *shape = &kernel->shape;
	const struct architecture *architecture = kernel->architecture;
	double warps, new_warps, full, rate;
	unsigned now, then;

	/* A block that has a multiprocessor for itself takes as long with fewer warps. */
	if (!shape->grid || !shape->block || shape->block >= BLOCK || shape->grid <= kernel->multiprocessors)
		return false;
	now = architecture_warps(architecture, (unsigned)shape->block, shape->registers, shape->shared_bytes);
	then = architecture_warps(architecture, BLOCK, shape->registers,
		shape->shared_bytes * (BLOCK / (unsigned)shape->block ? BLOCK / (unsigned)shape->block : 1));
	/* Blocks of fewer threads than a warp leave its other lanes idle. */
	full = ceil((double)shape->block / 32) * 32 / (double)shape->block;
	/* Without blocks that wait there is nothing to run beside. */
	if (shape->grid * ceil((double)shape->block / 32) < (double)kernel->multiprocessors * now)
		then = now;
	if (!now || !then || (then <= now && full <= 1))
		return false;
	warps = (double)now / architecture->schedulers;
	new_warps = (double)then / architecture->schedulers;
	/* The work is the same, so f takes back Eq 6: what counts is the rate of issue, and lanes that were
	 * idle. */
	rate = estimate_issue_rate(kernel->active / kernel->total, warps);
	advice->speedup = estimate_parallel(rate, warps, new_warps, new_warps / warps * full);
	advice->low = fmax(1, full * 0.9);
	advice->high = full * new_warps / warps;
	advice->matched = kernel->total;
	snprintf(advice->say, sizeof advice->say,
		"blocks of %llu threads: a multiprocessor runs %u warps at a time; of %u threads: %u",
		(unsigned long long)shape->block, now, BLOCK, then);
	return true;
}

const struct optimizer optimizer_thread_increase = {.name = "thread-increase",
	.title = "Thread Increase",
	.category = OPTIMIZER_PARALLEL,
	.judge = judge,
	.hints = "A multiprocessor runs a limited number of blocks, and these are small.\n"
		 "1. Use blocks of 128 to 256 threads, fewer of them, for the same number of threads.\n"
		 "2. Make the number of threads a multiple of 32."};
