/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optimizer_wave_tail.c - a last wave of few blocks: while it runs most multiprocessors idle.
 *
 *   wave      blocks that run at a time
 *   time      full waves + the last one: its blocks of a multiprocessor issue more slowly together than
 *             a full multiprocessor does, but there are fewer of them
 *   best      grid / wave; of a single wave, if all multiprocessors had as many blocks
 */
#include "blame/advise/optimizer.h"

#include <math.h>
#include <stdio.h>

#include "blame/advise/advice.h"
#include "blame/advise/estimate.h"

#define MEMORY_MOST 0.5 /* of the samples: then a last wave has more of the memory's rate for itself */
#define WAVES_MOST 64.0

static double share_of(const struct kernel *kernel, enum stall a, enum stall b)
{
	double sum = 0;

	for (size_t f = 0; f < kernel->function_count; f++)
		for (uint32_t i = 0; i < kernel->functions[f].code.count; i++)
			sum += kernel->functions[f].samples[i].all[a] +
			       kernel->functions[f].samples[i].all[b];
	return sum / kernel->total;
}

/* Time of the last wave, in full waves: `blocks` on the fullest multiprocessor, of `most`. */
static double last_of(const struct kernel *kernel, double blocks, double most, double block_warps)
{
	double schedulers = kernel->architecture->schedulers;
	double rate = estimate_issue_rate(kernel->active / kernel->total, most * block_warps / schedulers);

	if (rate <= 0)
		return 1;
	return blocks / most * estimate_issue(rate, most * block_warps / schedulers) /
	       estimate_issue(rate, blocks * block_warps / schedulers);
}

static bool judge(const struct kernel *kernel, struct advice *advice)
{
	const struct kernel_shape *shape = &kernel->shape;
	double block_warps = ceil((double)shape->block / 32), most, wave, full, rest, blocks, last, best;

	if (!shape->grid || !shape->block || shape->grid <= kernel->multiprocessors)
		return false;
	most = architecture_warps(
		       kernel->architecture, (unsigned)shape->block, shape->registers, shape->shared_bytes) /
	       block_warps;
	wave = most * kernel->multiprocessors;
	if (wave <= 0 || (double)shape->grid > wave * WAVES_MOST ||
		share_of(kernel, STALL_GMEM, STALL_MTHR) > MEMORY_MOST)
		return false;
	full = floor((double)shape->grid / wave);
	rest = (double)shape->grid - full * wave;
	if (rest <= 0)
		return false;
	blocks = ceil(rest / kernel->multiprocessors);
	last = last_of(kernel, blocks, most, block_warps);
	/* A single wave is best spread evenly. */
	best = full > 0 ? (double)shape->grid / wave
			: last_of(kernel, rest / kernel->multiprocessors, most, block_warps);
	advice->speedup = (full + last) / best;
	/* Blocks that take different times fill the gap already; or the last wave takes as long as a full
	 * one.
	 */
	advice->low = 1;
	advice->high = fmax((full + blocks / most) / best, advice->speedup * 1.05);
	advice->matched = kernel->total * (1 - best / (full + last));
	snprintf(advice->say, sizeof advice->say,
		"%.0f of %llu blocks run at a time: the last wave has %.0f; %.0f blocks, which share the "
		"work of "
		"all, leave no rest",
		wave, (unsigned long long)shape->grid, rest, full > 0 ? full * wave : wave);
	return true;
}

const struct optimizer optimizer_wave_tail = {.name = "wave-tail",
	.title = "Tail Reduction",
	.category = OPTIMIZER_PARALLEL,
	.judge = judge,
	.hints = "The last wave of blocks does not fill the GPU.\n"
		 "1. Start as many blocks as run at a time, or a multiple, and let each take its share of "
		 "the work "
		 "in a loop (stride gridDim.x).\n"
		 "2. Or use smaller blocks: the rest of a wave becomes small."};
