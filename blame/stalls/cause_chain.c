/* SPDX-License-Identifier: Apache-2.0 */
/* cause_chain.c - see cause_chain.h. */
#include "blame/stalls/cause_chain.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"

#define SHARE_LEAST 0.1
#define FEEDING_MAX 64u	   /* instructions between two steps */
#define FEEDING_REACH 512u /* instructions back */
#define FEEDING_STEPS (UINT64_C(1) << 22)

const char *cause_link_name(enum cause_link link)
{
	static const char *const names[] = {"wait", "memory", "copy", "barrier", "call"};

	return names[link];
}

static double stalls_of(const struct kernel_function *function, uint32_t use)
{
	double stalls = 0;

	for (unsigned s = 0; s < STALL_COUNT; s++)
		stalls += s == STALL_NONE ? 0 : function->samples[use].all[s];
	return stalls;
}

/* The cause elsewhere that explains most of an instruction's stalls; NULL: none. */
static const struct cause *main_cause(const struct kernel_function *function, uint32_t use, double *share)
{
	const struct causes *causes = &function->causes;
	const struct cause *best = NULL;
	double stalls = stalls_of(function, use);

	for (size_t i = causes_first_of(causes, use); i < causes->count && causes->list[i].use == use; i++) {
		const struct cause *cause = &causes->list[i];

		if (cause->class != CAUSE_SELF && cause->define != use &&
			(!best || cause->samples > best->samples))
			best = cause;
	}
	*share = best && stalls > 0 ? best->samples / stalls : 0;
	return best;
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

/* ---- through memory, barriers and calls ---- */

#define LINK_REACH 1300u
#define LINK_STEPS (UINT64_C(1) << 20)

/* A place that may be the next step: what it stalls itself. */
struct candidate {
	const struct kernel_function *function;
	uint32_t at;
	double stalls, all; /* all: of every such place */
};

/* Waits for others of the own block, and turns, are no work of its own. */
static double own_stalls(const struct kernel_function *function, uint32_t at)
{
	const struct cause_samples *s = &function->samples[at];

	return stalls_of(function, at) - s->all[STALL_SYNC] - s->all[STALL_NSEL];
}

static void candidate_take(
	struct candidate *best, const struct kernel_function *function, uint32_t at, double stalls)
{
	best->all += stalls;
	if (stalls > best->stalls) {
		best->function = function;
		best->at = at;
		best->stalls = stalls;
	}
}

/* The address of an access, for comparison. */
struct access {
	const struct kernel_code *code;
	const struct gpu_instruction *in;
	struct gpu_arithmetic address;
	unsigned bytes;
};

static struct access access_of(const struct kernel_code *code, uint32_t at)
{
	struct access access = {.code = code, .in = &code->instructions[at]};

	kernel_code_arithmetic(code, at, &access.address);
	access.bytes = access.in->bytes ? access.in->bytes : 16;
	return access;
}

/* Of a store or a computation it matters what it waited for elsewhere: else it is no step. */
static void waiting_take(struct candidate *best, const struct kernel_function *function, uint32_t at)
{
	double share;
	const struct cause *cause = main_cause(function, at, &share);

	candidate_take(best, function, at, cause && share >= SHARE_LEAST ? cause->samples : 0);
}

#define STACK_POINTER 1 /* of NVIDIA's code: a function's frame stays where it is */

/* Constant for the function's time: nothing but the offset, or the stack. */
static bool is_constant(const struct access *access)
{
	const struct gpu_operand *a = &access->address.a;
	const uint64_t uniform = access->in->uses.words[GPU_UNIFORM / 64];

	return !uniform && (a->kind == GPU_OPERAND_IMMEDIATE ||
				   (a->kind == GPU_OPERAND_REGISTER && a->value == STACK_POINTER));
}

/* May the load read what the store wrote? Where both addresses are constant that is known. */
static bool is_store_of(const void *own, uint32_t at)
{
	const struct access *load = own;
	const struct gpu_instruction *in = &load->code->instructions[at];
	struct access store;

	if (in->kind != GPU_KIND_STORE || in->space != load->in->space)
		return false;
	store = access_of(load->code, at);
	if (!is_constant(load) || !is_constant(&store) || store.address.a.value != load->address.a.value)
		return true;
	return store.address.offset < load->address.offset + (int32_t)load->bytes &&
	       load->address.offset < store.address.offset + (int32_t)store.bytes;
}

static void through_memory(const struct kernel_function *function, uint32_t at, struct parse_budget *budget,
	struct candidate *best)
{
	const struct gpu_instruction *in = &function->code.instructions[at];
	struct access load = access_of(&function->code, at);
	struct dependency_slice *slice;
	const struct dependency *edges;
	struct error ignored;
	size_t count = 0;

	if ((in->kind != GPU_KIND_LOAD && in->kind != GPU_KIND_ATOMIC) ||
		(in->space != GPU_SPACE_LOCAL && in->space != GPU_SPACE_SHARED))
		return;
	slice = dependency_slice_new(&function->code.flow, LINK_REACH, budget);
	if (slice && dependency_slice_nearest(slice, at, is_store_of, &load, &edges, &count, &ignored) == 0)
		for (size_t e = 0; e < count; e++)
			waiting_take(best, function, edges[e].define);
	dependency_slice_free(slice);
}

/* What waited for the instruction: so much there is to explain. */
static double waited_for(const struct kernel_function *function, uint32_t at)
{
	double sum = 0;

	for (size_t i = 0; i < function->causes.count; i++) {
		const struct cause *cause = &function->causes.list[i];

		if (cause->define == at && (cause->use != at || cause->class == CAUSE_BARRIER))
			sum += cause->samples;
	}
	return sum;
}

static bool is_copy(const void *own, uint32_t at)
{
	const struct kernel_code *code = own;

	return code->instructions[at].kind == GPU_KIND_COPY;
}

/* A copy does not stall: it is as long under way as the barrier that it tells is waited for. */
static void through_copy(const struct kernel_function *function, uint32_t at, struct parse_budget *budget,
	struct candidate *best)
{
	const struct gpu_instruction *in = &function->code.instructions[at];
	struct dependency_slice *slice;
	const struct dependency *edges;
	struct error ignored;
	size_t count = 0;
	double waited;

	if (in->kind != GPU_KIND_BARRIER || in->space != GPU_SPACE_SHARED)
		return;
	waited = waited_for(function, at);
	slice = dependency_slice_new(&function->code.flow, LINK_REACH, budget);
	if (slice &&
		dependency_slice_nearest(slice, at, is_copy, &function->code, &edges, &count, &ignored) == 0)
		for (size_t e = 0; e < count; e++)
			candidate_take(best, function, edges[e].define, waited);
	dependency_slice_free(slice);
}

/* A source line between barriers: its stalls, and its instruction that stalls most. */
struct late_line {
	const char *file;
	uint32_t line, at;
	double stalls, most;
};

struct late {
	const struct kernel_function *function;
	struct late_line *lines;
	size_t count, capacity;
};

#define LATE_LINES_MAX 1024u

/* Instructions without a line are lines of their own. False: no memory, or too many lines. */
static bool late_take(struct late *late, uint32_t at)
{
	struct late_line line = {.file = "", .at = at, .stalls = own_stalls(late->function, at)};
	struct late_line *same = NULL;

	line.most = line.stalls;
	if (!(line.stalls > 0))
		return true;
	if (gpu_code_line(
		    late->function->code.binary, late->function->code.addresses[at], &line.file, &line.line))
		for (size_t i = 0; i < late->count && !same; i++)
			if (late->lines[i].line == line.line && !strcmp(late->lines[i].file, line.file))
				same = &late->lines[i];
	if (!same) {
		if (late->count == LATE_LINES_MAX ||
			!array_widen(&late->lines, &late->capacity, late->count, sizeof *late->lines))
			return false;
		late->lines[late->count++] = line;
		return true;
	}
	same->stalls += line.stalls;
	if (line.stalls > same->most) {
		same->most = line.stalls;
		same->at = at;
	}
	return true;
}

/* By what others are late: lines back to the barriers before. */
static void through_barrier(const struct kernel_function *function, uint32_t at, struct parse_budget *budget,
	struct candidate *best)
{
	const struct dependency_code *flow = &function->code.flow;
	uint32_t *stack = calloc((size_t)flow->count + 1, sizeof *stack), depth = 0;
	bool *is_met = calloc((size_t)flow->count + 1, sizeof *is_met);
	struct late late = {.function = function};

	if (stack && is_met && flow->instructions[at].kind == GPU_KIND_BARRIER)
		stack[depth++] = at;
	while (depth && parse_budget_step(budget)) {
		uint32_t now = stack[--depth];

		for (uint32_t e = flow->first_from[now]; e < flow->first_from[now + 1]; e++) {
			uint32_t from = flow->from[e];

			if (is_met[from] || flow->instructions[from].kind == GPU_KIND_BARRIER)
				continue;
			is_met[from] = true;
			if (late_take(&late, from))
				stack[depth++] = from;
		}
	}
	for (size_t i = 0; i < late.count; i++)
		candidate_take(best, function, late.lines[i].at, late.lines[i].stalls);
	free(late.lines);
	free(stack);
	free(is_met);
}

/* Registers of threads that an instruction uses and nothing in its function defines. */
static struct gpu_set handed_over(
	const struct kernel_function *function, uint32_t at, struct dependency_slice *slice)
{
	const struct gpu_set *uses = &function->code.instructions[at].uses;
	struct gpu_set set = {{0}};

	for (unsigned r = 0; r < GPU_UNIFORM; r++) {
		struct gpu_set one = {{0}};
		const struct dependency *edges;
		struct error ignored;
		size_t count;

		if (!gpu_set_has(uses, r) || r == STACK_POINTER)
			continue;
		gpu_set_add(&one, r);
		if (dependency_slice_back(slice, at, &one, &edges, &count, &ignored) == 0 && !count)
			gpu_set_add(&set, r);
	}
	return set;
}

/* Where a function that calls `start` computes these registers. */
static void caller_take(const struct kernel_function *function, uint64_t start,
	const struct gpu_set *registers, struct parse_budget *budget, struct candidate *best)
{
	struct dependency_slice *slice = NULL;

	for (uint32_t i = 0; i < function->code.count; i++) {
		const struct dependency *edges;
		struct error ignored;
		size_t count = 0;

		if (function->code.calls[i] != start || !parse_budget_step(budget))
			continue;
		if (!slice)
			slice = dependency_slice_new(&function->code.flow, LINK_REACH, budget);
		if (!slice || dependency_slice_resources(slice, i, registers, &edges, &count, &ignored) != 0)
			break;
		for (size_t e = 0; e < count; e++)
			waiting_take(best, function, edges[e].define);
	}
	dependency_slice_free(slice);
}

static void through_call(const struct kernel *kernel, const struct kernel_function *function, uint32_t at,
	struct parse_budget *budget, struct candidate *best)
{
	struct dependency_slice *slice = NULL;
	struct gpu_set registers;

	if (!function->is_kernel)
		slice = dependency_slice_new(&function->code.flow, LINK_REACH, budget);
	if (!slice)
		return;
	registers = handed_over(function, at, slice);
	dependency_slice_free(slice);
	for (size_t f = 0; f < kernel->function_count; f++)
		if (kernel->functions[f].code.calls)
			caller_take(&kernel->functions[f], function->code.start, &registers, budget, best);
}

/* ---- the chain ---- */

static const struct cause *next_cause(const struct kernel_function *function, uint32_t at, double *share)
{
	const struct cause *cause = main_cause(function, at, share), *waits;
	struct parse_budget budget;
	double stalls;

	if (cause || !function->code.isa || function->code.isa->vendor != GPU_VENDOR_AMD)
		return cause;
	parse_budget_allow(&budget, FEEDING_STEPS, 0);
	cause = feeding_wait(function, at, &budget);
	waits = wait_for(function, at, &budget);
	if (!cause || budget.spent || (waits && cause->samples < SHARE_LEAST * waits->samples))
		return NULL;
	stalls = stalls_of(function, cause->use);
	*share = stalls > 0 ? cause->samples / stalls : 0;
	return cause;
}

/* Through memory, a barrier or a call, to a place that waits itself, as long as a part of what is to be
 * explained. *weight: how long. */
static bool link_find(const struct kernel *kernel, const struct kernel_function *function, uint32_t at,
	struct cause_step *step, double *weight)
{
	struct candidate found[CAUSE_LINKS] = {{.function = NULL}};
	double waited = waited_for(function, at);
	struct parse_budget budget;

	if (!function->code.isa || function->code.isa->vendor != GPU_VENDOR_NVIDIA)
		return false;
	parse_budget_allow(&budget, LINK_STEPS, 0);
	through_memory(function, at, &budget, &found[CAUSE_LINK_MEMORY]);
	through_copy(function, at, &budget, &found[CAUSE_LINK_COPY]);
	through_barrier(function, at, &budget, &found[CAUSE_LINK_BARRIER]);
	through_call(kernel, function, at, &budget, &found[CAUSE_LINK_CALL]);
	for (enum cause_link link = CAUSE_LINK_MEMORY; link < CAUSE_LINKS && !budget.spent; link++) {
		const struct candidate *best = &found[link];

		/* Many wait at a barrier for few, who may be late by many instructions. */
		if (!best->function ||
			(link != CAUSE_LINK_BARRIER && (best->stalls < SHARE_LEAST * waited ||
							       best->stalls < SHARE_LEAST * best->all)))
			continue;
		*weight = best->stalls;
		*step = (struct cause_step){link, best->function, best->at, NULL, best->stalls / best->all};
		return true;
	}
	return false;
}

/* Its own wait, or the link to another place, whichever explains more. */
static bool step_find(const struct kernel *kernel, const struct kernel_function *function, uint32_t at,
	struct cause_step *step)
{
	double share;
	const struct cause *cause = next_cause(function, at, &share);
	double weight;
	bool has_link = link_find(kernel, function, at, step, &weight);

	if (!cause || share < SHARE_LEAST)
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
