/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_block_increase.c - fewer blocks than multiprocessors (S2 Table II, Eq 10). */
#include "blame/advise/optimizer.h"

#include <math.h>
#include <stdio.h>

#include "blame/advise/advice.h"
#include "blame/advise/estimate.h"

#define GRID_BEGIN 0xc /* bytes, in the bank of a launch's constants: how many blocks there are */
#define GRID_END 0x18
#define GENERATION_MOST 100u /* since then constants stand elsewhere */

static bool is_grid(const struct gpu_operand *operand)
{
	return operand->kind == GPU_OPERAND_CONSTANT && operand->value >= GRID_BEGIN &&
	       operand->value < GRID_END;
}

/* A kernel that asks how many blocks there are, and loops, takes its share of the work: more blocks share it,
 * too. */
static bool shares_work(const struct kernel *kernel)
{
	for (size_t f = 0; f < kernel->function_count; f++) {
		const struct kernel_code *code = &kernel->functions[f].code;

		for (uint32_t i = 0;
			i < code->count && code->loops.count && code->isa->vendor == GPU_VENDOR_NVIDIA &&
			code->generation < GENERATION_MOST;
			i++) {
			struct gpu_arithmetic in;

			kernel_code_arithmetic(code, i, &in);
			if (in.operation != GPU_OTHER && (is_grid(&in.a) || is_grid(&in.b) || is_grid(&in.c)))
				return true;
		}
	}
	return false;
}

/* As many threads in each block as now, on all multiprocessors: each issues as it does now; with several
 * blocks of them on each, as many warps would. */
static void judge_shared(const struct kernel *kernel, struct advice *advice, double warps)
{
	const struct kernel_shape *shape = &kernel->shape;
	double most = (double)architecture_warps(kernel->architecture, (unsigned)shape->block,
			      shape->registers, shape->shared_bytes) /
		      kernel->architecture->schedulers;
	double rate = estimate_issue_rate(kernel->active / kernel->total, warps);

	advice->speedup = (double)kernel->multiprocessors / (double)shape->grid;
	advice->low = 1;
	advice->high = advice->speedup;
	if (most > warps && rate > 0)
		advice->high *= estimate_issue(rate, most) / estimate_issue(rate, warps);
	snprintf(advice->say, sizeof advice->say,
		"%llu blocks of %llu threads use %llu of %u multiprocessors: the kernel shares its work out "
		"over as many "
		"blocks as there are, so make it %u or more",
		(unsigned long long)shape->grid, (unsigned long long)shape->block,
		(unsigned long long)shape->grid, kernel->multiprocessors, kernel->multiprocessors);
}

static bool judge(const struct kernel *kernel, struct advice *advice)
{
	const struct kernel_shape *shape = &kernel->shape;
	double warps, new_warps, rate;
	uint64_t threads;

	if (!shape->grid || !shape->block || shape->grid >= kernel->multiprocessors)
		return false;
	/* Warps of a scheduler: now, and with the threads spread over all multiprocessors. */
	warps = ceil((double)shape->block / 32) / kernel->architecture->schedulers;
	advice->matched = kernel->total;
	if (shares_work(kernel)) {
		judge_shared(kernel, advice, warps);
		return true;
	}
	new_warps = warps * (double)shape->grid / kernel->multiprocessors;
	threads = shape->grid * shape->block / kernel->multiprocessors / 32 * 32;
	if (threads < 32)
		threads = 32;
	rate = estimate_issue_rate(kernel->active / kernel->total, warps);
	advice->speedup = estimate_parallel(rate, warps, new_warps, 1);
	advice->low = 1;
	advice->high = warps / new_warps;
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
