/* SPDX-License-Identifier: Apache-2.0 */
/* balance.c - see balance.h. */
#include "blame/stalls/balance.h"

#include <stdlib.h>

#include "blame/stalls/executions.h"

#define ISSUED_LEAST 40.0 /* samples of a block: fewer do not tell how often it ran */
#define UNEVEN_MOST 0.9	  /* of the warps: more is as good as all, for what so many samples tell */

struct region {
	const struct kernel_function *function;
	double period, barrier; /* barrier: how often it ran */
};

static struct executions executions_of(const struct region *region, uint32_t at)
{
	const struct dependency_code *flow = &region->function->code.flow;

	return executions_from(flow, region->function->samples, region->period, executions_block(flow, at));
}

/* The outermost loop around it that is not around the barrier, too; LOOP_NONE: there is none. */
static uint32_t own_loop(const struct kernel_code *code, uint32_t at, uint32_t barrier)
{
	uint32_t loop = code->loop_of[at], own = LOOP_NONE;

	while (loop != LOOP_NONE && !loop_is_in(&code->loops, code->loop_of[barrier], loop)) {
		own = loop;
		loop = code->loops.loops[loop].parent;
	}
	return own;
}

/* How often the loop is come to, and so by how many warps: what leads into it from outside. */
static struct executions entries_of(const struct region *region, uint32_t loop, struct parse_budget *budget)
{
	const struct kernel_code *code = &region->function->code;
	const struct dependency_code *flow = &code->flow;
	struct executions best = {0, 0};

	for (uint32_t i = 0; i < code->count && parse_budget_step(budget); i++) {
		if (!loop_is_in(&code->loops, code->loop_of[i], loop))
			continue;
		for (uint32_t e = flow->first_from[i]; e < flow->first_from[i + 1]; e++) {
			uint32_t from = flow->from[e];
			struct executions one;

			if (loop_is_in(&code->loops, code->loop_of[from], loop))
				continue;
			one = executions_of(region, from);
			if (!best.count || executions_mean(one) > executions_mean(best))
				best = one;
		}
	}
	return best;
}

/* Waits that an instruction explains of which `executions` tells how many warps run it. */
static double waits_of(const struct region *region, uint32_t at, struct executions executions)
{
	const struct cause_samples *samples = &region->function->samples[at];
	double own = cause_samples_sum(samples) - samples->all[STALL_SYNC], part;

	if (!executions.count || executions.sum < ISSUED_LEAST)
		return 0;
	part = executions_mean(executions) / region->barrier;
	return part < UNEVEN_MOST ? own * (1 - part) / part : 0;
}

/* It ran once for all rounds of the barrier's loop: how often tells nothing of warps. */
static bool is_before_rounds(const struct kernel_code *code, uint32_t at, uint32_t barrier)
{
	uint32_t rounds = code->loop_of[barrier];

	return rounds != LOOP_NONE && !loop_is_in(&code->loops, code->loop_of[at], rounds);
}

double balance_uneven(
	const struct kernel_function *function, uint32_t barrier, double period, struct parse_budget *budget)
{
	const struct kernel_code *code = &function->code;
	const struct dependency_code *flow = &code->flow;
	struct region region = {function, period, 0};
	struct executions at_barrier = executions_of(&region, barrier);
	uint32_t *stack = calloc((size_t)code->count + 1, sizeof *stack), depth = 0;
	bool *is_met = calloc((size_t)code->count + 1, sizeof *is_met);
	struct executions *entries = calloc((size_t)code->loops.count + 1, sizeof *entries);
	double waits = 0;

	if (stack && is_met && entries && at_barrier.sum >= ISSUED_LEAST) {
		region.barrier = executions_mean(at_barrier);
		stack[depth++] = barrier;
	}
	while (depth && parse_budget_step(budget)) {
		uint32_t now = stack[--depth];

		for (uint32_t e = flow->first_from[now]; e < flow->first_from[now + 1]; e++) {
			uint32_t from = flow->from[e], loop;

			if (is_met[from] || flow->instructions[from].kind == GPU_KIND_BARRIER ||
				is_before_rounds(code, from, barrier))
				continue;
			is_met[from] = true;
			stack[depth++] = from;
			loop = own_loop(code, from, barrier);
			if (loop != LOOP_NONE && !entries[loop].count)
				entries[loop] = entries_of(&region, loop, budget);
			waits += waits_of(&region, from,
				loop == LOOP_NONE ? executions_of(&region, from) : entries[loop]);
		}
	}
	free(entries);
	free(is_met);
	free(stack);
	return budget->spent ? 0 : waits;
}
