/* SPDX-License-Identifier: Apache-2.0 */
/* divergence.c - see divergence.h. Where ways join is the immediate post-dominator of the branch (Cooper,
 * Harvey, Kennedy: A Simple, Fast Dominance Algorithm). */
#include "blame/stalls/divergence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blame/stalls/executions.h"
#include "store/base/array.h"

#define STEPS_MAX (UINT64_C(1) << 24)	   /* instructions of ways that are walked, of a function */
#define JOIN_STEPS_MAX (UINT64_C(1) << 26) /* likewise, of chains of joins: short steps */
#define TURNS_LEAST 0.5			   /* of a loop's samples are in the ways */
#define UNKNOWN_BOTH 0.5		   /* of warps that go both ways by data, where nothing tells */
#define UNKNOWN_ONE 0.25		   /* likewise, of ways that some threads skip, and of loops */
#define BOTH_ERROR_MOST 0.5 /* two standard deviations: what is known less well tells nothing */

/* ---- where ways join ---- */

struct joining {
	const struct dependency_code *code;
	uint32_t *joins;  /* by number of the instruction; count: the end */
	uint32_t *number; /* in a postorder of the reversed graph; 0: the end is not reached */
	uint32_t *order;  /* and back */
	uint32_t *stack, *next;
	struct parse_budget *budget;
};

static bool is_end(const struct dependency_code *code, uint32_t i)
{
	return code->first_to[i] == code->first_to[i + 1] || strcmp(code->instructions[i].name, "EXIT") == 0;
}

/* Backward from the ends. Returns how many instructions lead to one. */
static uint32_t number_all(struct joining *joining)
{
	const struct dependency_code *code = joining->code;
	uint32_t last = 0;

	for (uint32_t end = 0; end < code->count; end++) {
		uint32_t depth = 0;

		if (!is_end(code, end) || joining->number[end])
			continue;
		joining->number[end] = UINT32_MAX;
		joining->next[end] = code->first_from[end];
		joining->stack[depth++] = end;
		while (depth) {
			uint32_t at = joining->stack[depth - 1], from;

			if (joining->next[at] == code->first_from[at + 1]) {
				joining->number[at] = ++last;
				joining->order[last] = at;
				depth--;
				continue;
			}
			from = code->from[joining->next[at]++];
			if (joining->number[from])
				continue;
			joining->number[from] = UINT32_MAX;
			joining->next[from] = code->first_from[from];
			joining->stack[depth++] = from;
		}
	}
	return last;
}

/* The end has the highest number. Once the budget is spent it stops somewhere. */
static uint32_t meet(const struct joining *joining, uint32_t a, uint32_t b)
{
	while (a != b && parse_budget_step(joining->budget)) {
		uint32_t *lower = a < b ? &a : &b;

		*lower = joining->joins[joining->order[*lower]];
	}
	return a;
}

static bool pass(struct joining *joining, uint32_t count)
{
	const struct dependency_code *code = joining->code;
	bool has_changed = false;

	for (uint32_t n = count; n > 0 && parse_budget_step(joining->budget); n--) {
		uint32_t at = joining->order[n], join = is_end(code, at) ? count + 1 : 0;

		for (uint32_t e = code->first_to[at]; e < code->first_to[at + 1]; e++) {
			uint32_t to = joining->number[code->to[e]];

			if (to && joining->joins[code->to[e]])
				join = join ? meet(joining, join, to) : to;
		}
		has_changed |= join != joining->joins[at];
		joining->joins[at] = join;
	}
	return has_changed && !joining->budget->spent;
}

bool divergence_joins(const struct dependency_code *code, uint32_t *joins, struct parse_budget *budget)
{
	struct joining joining = {.code = code, .joins = joins, .budget = budget};
	size_t room = (size_t)code->count + 2;
	uint32_t count;
	bool ok;

	joining.number = calloc(room, sizeof *joining.number);
	joining.order = calloc(room, sizeof *joining.order);
	joining.stack = calloc(room, sizeof *joining.stack);
	joining.next = calloc(room, sizeof *joining.next);
	ok = joining.number && joining.order && joining.stack && joining.next;
	memset(joins, 0, code->count * sizeof *joins);
	if (ok) {
		count = number_all(&joining);
		while (pass(&joining, count))
			;
		for (uint32_t i = 0; i < code->count; i++)
			joins[i] = joins[i] && joins[i] <= count && !budget->spent ? joining.order[joins[i]]
										   : UINT32_MAX;
	}
	free(joining.number);
	free(joining.order);
	free(joining.stack);
	free(joining.next);
	return ok;
}

/* ---- ways ---- */

struct way {
	double samples;
	struct executions issued; /* of its first instructions */
	uint32_t most;
};

struct finding {
	const struct kernel_code *code;
	const struct lanes *lanes;
	const struct cause_samples *samples;
	double period;
	uint32_t *joins, *stack;
	uint32_t *met; /* [instruction] number of the walk that met it last */
	uint32_t walk;
	uint64_t steps_left;
	double *saved, *low, *high; /* [instruction] share of its samples */
};

static double samples_of(const struct finding *finding, uint32_t i)
{
	return cause_samples_sum(&finding->samples[i]);
}

/* Sums up a way, which ends where all join. The stack keeps its instructions; returns how many. */
static uint32_t walk(struct finding *finding, uint32_t from, uint32_t join, struct way *way)
{
	const struct dependency_code *flow = &finding->code->flow;
	uint32_t count = 0;

	*way = (struct way){.most = from};
	if (from == join)
		return 0;
	way->issued = executions_from(&finding->code->flow, finding->samples, finding->period, from);
	finding->walk++;
	finding->met[from] = finding->walk;
	finding->stack[count++] = from;
	for (uint32_t done = 0; done < count && finding->steps_left; done++) {
		uint32_t at = finding->stack[done];
		double here = samples_of(finding, at);

		finding->steps_left--;
		way->samples += here;
		if (here > samples_of(finding, way->most))
			way->most = at;
		for (uint32_t e = flow->first_to[at]; e < flow->first_to[at + 1]; e++) {
			uint32_t to = flow->to[e];

			if (to == join || finding->met[to] == finding->walk)
				continue;
			finding->met[to] = finding->walk;
			finding->stack[count++] = to;
		}
	}
	return count;
}

struct shares {
	double saved, low, high;
};

static void shares_take(struct finding *finding, uint32_t count, struct shares shares)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = finding->stack[i];

		finding->saved[at] = fmax(finding->saved[at], shares.saved);
		finding->low[at] = fmax(finding->low[at], shares.low);
		finding->high[at] = fmax(finding->high[at], shares.high);
	}
}

/* ---- branches ---- */

/* Which part of the warps that come to the branch go both ways, by how often both begin; 0 to 1. False: too
 * few samples. */
static bool both_of(
	const struct finding *finding, uint32_t branch, const struct way ways[2], double *both, double *error)
{
	const struct dependency_code *flow = &finding->code->flow;
	struct executions at =
		executions_from(flow, finding->samples, finding->period, executions_block(flow, branch));
	double mean, ratio;

	if (!ways[0].issued.count || !ways[1].issued.count || at.sum <= 0)
		return false;
	mean = executions_mean(at);
	ratio = (executions_mean(ways[0].issued) + executions_mean(ways[1].issued)) / mean;
	*both = fmin(1, fmax(0, ratio - 1));
	*error = 2 / mean *
		 sqrt(executions_variance(ways[0].issued) + executions_variance(ways[1].issued) +
			 ratio * ratio * executions_variance(at));
	return *error <= BOTH_ERROR_MOST;
}

/* What each way saves, as a share of its samples. */
static void shares_of(const struct finding *finding, const struct divergence_branch *branch,
	const struct lanes_value *taken, const struct way ways[2], struct shares shares[2])
{
	double both, error, all = ways[0].samples + ways[1].samples;
	double least = fmin(ways[0].samples, ways[1].samples), most = all - least;
	double threads = finding->lanes->machine.threads;
	double unknown = least > 0 ? UNKNOWN_BOTH : UNKNOWN_ONE;
	bool is_known;

	for (unsigned w = 0; w < 2; w++) {
		shares[w] = (struct shares){0.5, all > 0 ? least / all : 0, all > 0 ? most / all : 0};
		if (least <= 0)
			shares[w].high = 1 - 1 / threads;
	}
	if (taken->part == LANES_ONE || taken->part == LANES_ALL_BUT_ONE) {
		unsigned one = taken->part == LANES_ONE ? 0 : 1;

		shares[one] = (struct shares){1 - 1 / threads, 0, 1 - 1 / threads};
		shares[!one] = (struct shares){0, 0, 1 / threads};
	}
	if (!branch->is_by_data)
		return;
	is_known = both_of(finding, branch->at, ways, &both, &error);
	for (unsigned w = 0; w < 2; w++) {
		shares[w].saved *= is_known ? both : unknown;
		shares[w].low *= is_known ? fmax(0, both - error) : 0;
		shares[w].high *= is_known ? fmin(1, both + error) : 1;
	}
}

/* Where a loop does little else than to give each thread its turn, all of its rounds but one go. */
static void turns_take(struct finding *finding, const struct divergence_branch *branch, struct shares shares)
{
	const struct kernel_code *code = finding->code;
	uint32_t loop = code->loop_of[branch->at], count = 0;
	double all = 0;

	for (uint32_t i = 0; i < code->count; i++)
		if (loop_is_in(&code->loops, code->loop_of[i], loop)) {
			finding->stack[count++] = i;
			all += samples_of(finding, i);
		}
	finding->steps_left -= finding->steps_left < code->count ? finding->steps_left : code->count;
	if (branch->samples > all * TURNS_LEAST)
		shares_take(finding, count, shares);
}

/* False: the branch is none that costs. */
static bool branch_look(struct finding *finding, struct divergence_branch *branch)
{
	const struct dependency_code *flow = &finding->code->flow;
	const struct lanes_value *taken = &finding->lanes->values[branch->at];
	uint32_t first = flow->first_to[branch->at], join = finding->joins[branch->at];
	struct shares shares[2];
	struct way ways[2];
	bool is_one = taken->part == LANES_ONE || taken->part == LANES_ALL_BUT_ONE;

	/* The first successor is where the branch goes, if it does not fall through. */
	uint32_t to[2] = {flow->to[first], flow->to[first + 1]};

	if (to[0] == branch->at + 1) {
		to[0] = to[1];
		to[1] = branch->at + 1;
	}
	for (unsigned w = 0; w < 2; w++) {
		walk(finding, to[w], join, &ways[w]);
		branch->is_loop |= to[w] != join && finding->met[branch->at] == finding->walk;
	}
	/* Work of one thread that no other one repeats cannot be shared out; and an index that grows by as
	 * much for all reaches its limit in the same round, or the next. */
	if (is_one && finding->code->loop_of[branch->at] == LOOP_NONE)
		return false;
	if (branch->is_loop && (taken->part == LANES_FIRST || is_one))
		return false;
	/* Threads beyond a limit have nothing to do: no order of the work changes that. */
	if (taken->part == LANES_FIRST && (ways[0].samples <= 0 || ways[1].samples <= 0))
		return false;
	branch->is_by_data = taken->kind == LANES_DATA;
	shares_of(finding, branch, taken, ways, shares);
	branch->samples = ways[0].samples + ways[1].samples;
	branch->most = ways[0].samples > ways[1].samples ? ways[0].most : ways[1].most;
	for (unsigned w = 0; w < 2; w++)
		branch->saved += ways[w].samples * shares[w].saved;
	if (branch->saved <= 0)
		return false;
	for (unsigned w = 0; w < 2; w++) {
		uint32_t count = walk(finding, to[w], join, &ways[w]);

		shares_take(finding, count, shares[w]);
	}
	if (is_one)
		turns_take(finding, branch, shares[taken->part == LANES_ONE ? 0 : 1]);
	return true;
}

static bool branches_look(struct finding *finding, struct divergence *divergence)
{
	const struct dependency_code *flow = &finding->code->flow;

	for (uint32_t i = 0; i < flow->count && finding->steps_left; i++) {
		struct divergence_branch branch = {.at = i};

		if (flow->first_to[i + 1] != flow->first_to[i] + 2 ||
			(finding->lanes->values[i].kind != LANES_DIFFER &&
				finding->lanes->values[i].kind != LANES_DATA) ||
			!branch_look(finding, &branch))
			continue;
		if (!array_widen(&divergence->list, &divergence->capacity, divergence->count,
			    sizeof *divergence->list))
			return false;
		divergence->list[divergence->count++] = branch;
	}
	return true;
}

static int branch_compare(const void *left, const void *right)
{
	const struct divergence_branch *a = left, *b = right;

	if (a->saved != b->saved)
		return a->saved > b->saved ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static void sum_add(const struct finding *finding, struct divergence_sum *sum, uint32_t at, double samples)
{
	sum->saved += samples * finding->saved[at];
	sum->low += samples * finding->low[at];
	sum->high += samples * finding->high[at];
}

static void sum_up(const struct finding *finding, struct divergence *divergence)
{
	for (uint32_t i = 0; i < finding->code->count; i++) {
		divergence->is_in[i] = finding->saved[i] > 0;
		sum_add(finding, &divergence->samples, i, samples_of(finding, i));
		sum_add(finding, &divergence->issued, i, finding->samples[i].all[STALL_NONE]);
	}
	if (divergence->count)
		qsort(divergence->list, divergence->count, sizeof *divergence->list, branch_compare);
}

int divergence_find(struct divergence *divergence, const struct kernel_code *code, const struct lanes *lanes,
	const struct cause_samples *samples, uint64_t period, struct error *error)
{
	struct finding finding = {.code = code,
		.lanes = lanes,
		.samples = samples,
		.period = period ? (double)period : 1,
		.steps_left = STEPS_MAX};
	size_t room = (size_t)code->count + 1;
	struct parse_budget budget;
	bool ok;

	*divergence = (struct divergence){.is_in = calloc(room, sizeof *divergence->is_in)};
	finding.joins = calloc(room, sizeof *finding.joins);
	finding.stack = calloc(room, sizeof *finding.stack);
	finding.met = calloc(room, sizeof *finding.met);
	finding.saved = calloc(3 * room, sizeof *finding.saved);
	ok = divergence->is_in && finding.joins && finding.stack && finding.met && finding.saved;
	if (ok) {
		finding.low = finding.saved + room;
		finding.high = finding.low + room;
		/* Where no join is known, ways would reach to the end. */
		parse_budget_allow(&budget, JOIN_STEPS_MAX, 0);
		ok = divergence_joins(&code->flow, finding.joins, &budget) &&
		     (budget.spent || branches_look(&finding, divergence));
	}
	if (ok)
		sum_up(&finding, divergence);
	free(finding.joins);
	free(finding.stack);
	free(finding.met);
	free(finding.saved);
	return ok ? 0 : error_memory(error);
}

void divergence_fini(struct divergence *divergence)
{
	free(divergence->list);
	free(divergence->is_in);
	*divergence = (struct divergence){0};
}
