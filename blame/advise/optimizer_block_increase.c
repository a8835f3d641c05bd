/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_block_increase.c - fewer blocks than multiprocessors (S2 Table II, Eq 10). */
#include "blame/advise/optimizer.h"

#include <math.h>
#include <stdio.h>

#include "blame/advise/advice.h"
#include "blame/advise/estimate.h"

static bool judge(const struct kernel *kernel, struct advice *advice)
{
	const struct kernel_shape *shape = &kernel->shape;
	double warps, new_warps, rate;
	uint64_t threads;

	if (!shape->grid || !shape->block || shape->grid >= kernel->multiprocessors)
		return false;
	/* Warps of a scheduler: now, and with the threads spread over all multiprocessors. */
	warps = ceil((double)shape->block / 32) / kernel->architecture->schedulers;
	new_warps = warps * (double)shape->grid / kernel->multiprocessors;
	threads = shape->grid * shape->block / kernel->multiprocessors / 32 * 32;
	if (threads < 32)
		threads = 32;
	rate = estimate_issue_rate(kernel->active / kernel->total, warps);
	advice->speedup = estimate_parallel(rate, warps, new_warps, 1);
	advice->low = 1;
	advice->high = warps / new_warps;
	advice->matched = kernel->total;
	snprintf(advice->say, sizeof advice->say,
		"%llu blocks of %llu threads use %llu of %u multiprocessors: make it %u blocks or more, of "
		"%llu threads",
		(unsigned long long)shape->grid, (unsigned long long)shape->block,
		(unsigned long long)shape->grid, kernel->multiprocessors, kernel->multiprocessors,
		(unsigned long long)threads);
	return true;
}

const struct optimizer optimizer_block_increase = {.name = "block-increase",
	.title = "Block Increase",
	.category = OPTIMIZER_PARALLEL,
	.judge = judge,
	.hints = "There are fewer blocks than multiprocessors.\n"
		 "1. Use smaller blocks and more of them, for the same number of threads.\n"
		 "2. Or give each thread less work, and start more threads."};
