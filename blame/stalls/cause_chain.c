/* SPDX-License-Identifier: Apache-2.0 */
/* cause_chain.c - see cause_chain.h. */
#include "blame/stalls/cause_links.h"

#include <stdlib.h>
#include <string.h>

#define FEEDING_MAX 64u	   /* instructions between two steps */
#define FEEDING_REACH 512u /* instructions back */
#define FEEDING_STEPS (UINT64_C(1) << 22)

const char *cause_link_name(enum cause_link link)
{
	static const char *const names[] = {"wait", "memory", "copy", "barrier", "call"};

	return names[link];
}

/* ---- waits of their own ---- */

/* The wait for this instruction that has most samples; NULL: none. */
static const struct cause *wait_for(
	const struct kernel_function *function, uint32_t define, struct parse_budget *budget)
{
	const struct causes *causes = &function->causes;
	const struct cause *best = NULL;

	for (size_t i = 0; i < causes->count && parse_budget_step(budget); i++)
		if (causes->list[i].define == define && causes->list[i].use != define &&
			function->code.instructions[causes->list[i].use].waits &&
			(!best || causes->list[i].samples > best->samples))
			best = &causes->list[i];
	return best;
}

struct feeding {
	const struct kernel_function *function;
	uint32_t list[FEEDING_MAX]; /* what the operands come from, through instructions that do not count */
	unsigned count;
	const struct cause *best;
	struct parse_budget *budget;
};

static void feeding_put(struct feeding *feeding, uint32_t define)
{
	if (feeding->function->code.instructions[define].counts) {
		const struct cause *wait = wait_for(feeding->function, define, feeding->budget);

		if (wait && (!feeding->best || wait->samples > feeding->best->samples))
			feeding->best = wait;
		return;
	}
	for (unsigned i = 0; i < feeding->count; i++)
		if (feeding->list[i] == define)
			return;
	if (feeding->count < FEEDING_MAX)
		feeding->list[feeding->count++] = define;
}

/* The wait for what the operands of an instruction come from; NULL: none stalls. */
static const struct cause *feeding_wait(
	const struct kernel_function *function, uint32_t at, struct parse_budget *budget)
{
	struct feeding feeding = {.function = function, .list = {at}, .count = 1, .budget = budget};
	struct dependency_slice *slice = dependency_slice_new(&function->code.flow, FEEDING_REACH, budget);
	const struct dependency *edges;
	struct gpu_set registers;
	struct error ignored;
	size_t count;

	memset(&registers, 0xff, sizeof registers);
	for (unsigned c = 0; c < GPU_COUNTERS; c++)
		registers.words[(GPU_COUNTER + c) / 64] &= ~(UINT64_C(1) << (GPU_COUNTER + c) % 64);
	for (unsigned i = 0; slice && i < feeding.count; i++)
		if (dependency_slice_back(slice, feeding.list[i], &registers, &edges, &count, &ignored) == 0)
			for (size_t e = 0; e < count; e++)
				feeding_put(&feeding, edges[e].define);
	dependency_slice_free(slice);
	return feeding.best;
}

/* ---- the chain ---- */

static const struct cause *next_cause(const struct kernel_function *function, uint32_t at, double *share)
{
	const struct cause *cause = cause_main(function, at, share), *waits;
	struct parse_budget budget;
	double stalls;

	if (cause || !function->code.isa || function->code.isa->vendor != GPU_VENDOR_AMD)
		return cause;
	parse_budget_allow(&budget, FEEDING_STEPS, 0);
	cause = feeding_wait(function, at, &budget);
	waits = wait_for(function, at, &budget);
	if (!cause || budget.spent || (waits && cause->samples < CAUSE_SHARE_LEAST * waits->samples))
		return NULL;
	stalls = cause_stalls_of(function, cause->use);
	*share = stalls > 0 ? cause->samples / stalls : 0;
	return cause;
}

/* Its own wait, or the link to another place, whichever explains more. */
static bool step_find(const struct kernel *kernel, const struct kernel_function *function, uint32_t at,
	struct cause_step *step)
{
	double share;
	const struct cause *cause = next_cause(function, at, &share);
	double weight;
	bool has_link = cause_link_find(kernel, function, at, step, &weight);

	if (!cause || share < CAUSE_SHARE_LEAST)
		return has_link;
	if (has_link && weight > cause->samples)
		return true;
	*step = (struct cause_step){CAUSE_LINK_WAIT, function, cause->define, cause, share};
	return true;
}

static bool is_met(const struct kernel_function *function, uint32_t from, const struct cause_step *steps,
	unsigned count, const struct cause_step *step)
{
	for (unsigned i = 0; i < count; i++)
		if (steps[i].function == step->function && steps[i].at == step->at)
			return true;
	return step->function == function && step->at == from;
}

unsigned cause_chain_find(const struct kernel *kernel, const struct kernel_function *function, uint32_t from,
	struct cause_step steps[CAUSE_CHAIN_MAX])
{
	const struct kernel_function *in = function;
	unsigned count = 0;
	uint32_t at = from;

	while (count < CAUSE_CHAIN_MAX) {
		struct cause_step step;

		if (!step_find(kernel, in, at, &step) || is_met(function, from, steps, count, &step))
			break;
		steps[count++] = step;
		in = step.function;
		at = step.at;
	}
	return count;
}
