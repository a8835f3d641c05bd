/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer_divergence.c - branches that threads of one warp take different ways (divergence.h). */
#include "blame/advise/optimizer.h"

#include <math.h>
#include <stdio.h>

#include "blame/advise/advice.h"
#include "blame/advise/estimate.h"

static bool matches(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	(void)kernel;
	return function->divergence.is_in[cause->use];
}

/* Its place is the branch and what was sampled most in its ways. */
static struct advice_hotspot hotspot_of(const struct kernel *kernel, const struct kernel_function *function,
	const struct divergence_branch *branch)
{
	return (struct advice_hotspot){.function = function,
		.cause = {.define = branch->at,
			.use = branch->most,
			.stall = STALL_NONE,
			.class = CAUSE_DIVERGENCE,
			.samples = branch->samples},
		.speedup = estimate_elimination(kernel->total, branch->saved)};
}

static void say(struct advice *advice, const struct divergence_branch *branch)
{
	snprintf(advice->say, sizeof advice->say, "%s by %s",
		branch->is_loop ? "threads of a warp make different numbers of rounds,"
				: "threads of a warp go different ways,",
		branch->is_by_data ? "data: how often cannot be known from samples alone"
				   : "their index: certain");
}

static void sum_add(struct divergence_sum *sum, const struct divergence_sum *more)
{
	sum->saved += more->saved;
	sum->low += more->low;
	sum->high += more->high;
}

/* Where the schedulers are busy, time goes with what is issued: warps that wait for their turn elsewhere wait
 * less. */
static double gain_of(const struct kernel *kernel, double samples, double issued)
{
	double by_issue = kernel->issued > 0 ? kernel->active * issued / kernel->issued : 0;

	return estimate_elimination(kernel->total, fmax(samples, by_issue));
}

static bool judge(const struct kernel *kernel, struct advice *advice)
{
	struct divergence_sum samples = {0}, issued = {0};
	double most = 0;

	advice->hotspot_count = 0;
	for (size_t f = 0; f < kernel->function_count; f++) {
		const struct kernel_function *function = &kernel->functions[f];
		const struct divergence *divergence = &function->divergence;

		sum_add(&samples, &divergence->samples);
		sum_add(&issued, &divergence->issued);
		for (size_t b = 0; b < divergence->count && b < ADVICE_HOTSPOTS; b++) {
			struct advice_hotspot hotspot = hotspot_of(kernel, function, &divergence->list[b]);

			advice_hotspot_put(advice, &hotspot);
		}
		if (divergence->count && divergence->list[0].saved > most) {
			most = divergence->list[0].saved;
			say(advice, &divergence->list[0]);
		}
	}
	advice->speedup = gain_of(kernel, samples.saved, issued.saved);
	advice->low = gain_of(kernel, samples.low, issued.low);
	advice->high = gain_of(kernel, samples.high, issued.high);
	return samples.saved > 0;
}

const struct optimizer optimizer_divergence = {.name = "divergence",
	.title = "Divergence Reduction",
	.category = OPTIMIZER_ELIMINATES,
	.matches = matches,
	.judge = judge,
	.hints = "A warp runs all ways that its threads take, one after another, with the other threads "
		 "idle.\n"
		 "1. Let whole warps go the same way: decide by the index divided by the warp's size, or "
		 "sort the work by "
		 "the "
		 "way that it takes.\n"
		 "2. Take what both ways have in common out of them; keep in them only a choice of values.\n"
		 "3. Give threads of a warp loops of equal length: sort by length, or share out one long "
		 "loop."};
