/* SPDX-License-Identifier: Apache-2.0 */
/* cause_links.c - see cause_links.h. */
#include "blame/stalls/cause_links.h"

#include <stdlib.h>
#include <string.h>

#include "blame/stalls/shared_barrier.h"
#include "store/base/array.h"

double cause_stalls_of(const struct kernel_function *function, uint32_t use)
{
	double stalls = 0;

	for (unsigned s = 0; s < STALL_COUNT; s++)
		stalls += s == STALL_NONE ? 0 : function->samples[use].all[s];
	return stalls;
}

const struct cause *cause_main(const struct kernel_function *function, uint32_t use, double *share)
{
	const struct causes *causes = &function->causes;
	const struct cause *best = NULL;
	double stalls = cause_stalls_of(function, use);

	for (size_t i = causes_first_of(causes, use); i < causes->count && causes->list[i].use == use; i++) {
		const struct cause *cause = &causes->list[i];

		if (cause->class != CAUSE_SELF && cause->define != use &&
			(!best || cause->samples > best->samples))
			best = cause;
	}
	*share = best && stalls > 0 ? best->samples / stalls : 0;
	return best;
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

	return cause_stalls_of(function, at) - s->all[STALL_SYNC] - s->all[STALL_NSEL];
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
	const struct cause *cause = cause_main(function, at, &share);

	candidate_take(best, function, at, cause && share >= CAUSE_SHARE_LEAST ? cause->samples : 0);
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

/* Lines back from an instruction to the barriers before it. */
static void late_before(struct late *late, uint32_t at, struct parse_budget *budget)
{
	const struct dependency_code *flow = &late->function->code.flow;
	uint32_t *stack = calloc((size_t)flow->count + 1, sizeof *stack), depth = 0;
	bool *is_met = calloc((size_t)flow->count + 1, sizeof *is_met);

	if (stack && is_met)
		stack[depth++] = at;
	while (depth && parse_budget_step(budget)) {
		uint32_t now = stack[--depth];

		for (uint32_t e = flow->first_from[now]; e < flow->first_from[now + 1]; e++) {
			uint32_t from = flow->from[e];

			if (is_met[from] || flow->instructions[from].kind == GPU_KIND_BARRIER)
				continue;
			is_met[from] = true;
			if (late_take(late, from))
				stack[depth++] = from;
		}
	}
	free(stack);
	free(is_met);
}

static void late_end(struct late *late, struct candidate *best)
{
	for (size_t i = 0; i < late->count; i++)
		candidate_take(best, late->function, late->lines[i].at, late->lines[i].stalls);
	free(late->lines);
}

/* By what others are late. */
static void through_barrier(const struct kernel_function *function, uint32_t at, struct parse_budget *budget,
	struct candidate *best)
{
	struct late late = {.function = function};

	if (function->code.instructions[at].kind == GPU_KIND_BARRIER)
		late_before(&late, at, budget);
	late_end(&late, best);
}

/* ---- copies ---- */

/* Marks the copies before it as a group that can be waited for: UTMACMDFLUSH, LDGDEPBAR. */
static bool is_commit(const struct gpu_instruction *in)
{
	return in->kind == GPU_KIND_COPY &&
	       (strcmp(in->name, "UTMACMDFLUSH") == 0 || strcmp(in->name, "LDGDEPBAR") == 0);
}

static bool is_copy(const void *own, uint32_t at)
{
	const struct kernel_code *code = own;

	return code->instructions[at].kind == GPU_KIND_COPY && !is_commit(&code->instructions[at]);
}

/* A copy does not stall: it is as long under way as it is waited for. */
static void nearest_copies(const struct kernel_function *function, uint32_t at,
	struct dependency_slice *slice, struct candidate *best)
{
	double waited = waited_for(function, at);
	const struct dependency *edges;
	struct error ignored;
	size_t count;

	if (dependency_slice_nearest(slice, at, is_copy, &function->code, &edges, &count, &ignored) != 0)
		return;
	for (size_t e = 0; e < count; e++)
		candidate_take(best, function, edges[e].define, waited);
}

/* Those that tell the barrier, or arrive at it, wherever they stand: one warp may copy what others wait for.
 * Threads that arrive are late by what stalls before. */
static bool tellers_take(const struct kernel_function *function, uint32_t at, struct dependency_slice *slice,
	enum shared_barrier_use use, struct parse_budget *budget, struct candidate *best)
{
	const struct kernel_code *code = &function->code;
	struct late late = {.function = function};
	double waited = waited_for(function, at);
	int64_t place, other;
	bool is_any = false;

	if (!shared_barrier_place(code, slice, at, &place))
		return false;
	for (uint32_t i = 0; i < code->count && !budget->spent; i++) {
		if (shared_barrier_use(code, i) != use || !shared_barrier_place(code, slice, i, &other) ||
			other != place)
			continue;
		is_any = true;
		if (use == SHARED_BARRIER_COPIES)
			candidate_take(best, function, i, waited);
		else
			late_before(&late, i, budget);
	}
	late_end(&late, best);
	return is_any;
}

/* Of a wait for a barrier in shared memory, or of the end of a group of copies. True: there is nothing else
 * by which it may be late. */
static bool through_copy(const struct kernel_function *function, uint32_t at, struct parse_budget *budget,
	struct candidate found[CAUSE_LINKS])
{
	bool is_wait = shared_barrier_use(&function->code, at) == SHARED_BARRIER_WAITS, is_told = false;
	struct dependency_slice *slice;

	if (!is_wait && !is_commit(&function->code.instructions[at]))
		return false;
	slice = dependency_slice_new(&function->code.flow, LINK_REACH, budget);
	if (!slice)
		return false;
	if (is_wait)
		is_told = tellers_take(function, at, slice, SHARED_BARRIER_COPIES, budget,
				  &found[CAUSE_LINK_COPY]) ||
			  tellers_take(function, at, slice, SHARED_BARRIER_ARRIVES, budget,
				  &found[CAUSE_LINK_BARRIER]);
	if (!is_told)
		nearest_copies(function, at, slice, &found[CAUSE_LINK_COPY]);
	dependency_slice_free(slice);
	return is_told;
}

/* ---- calls ---- */

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

static bool is_call_of(const struct kernel_code *code, uint32_t at, uint64_t start)
{
	return code->calls[at] == start ||
	       (code->calls[at] == KERNEL_CODE_POINTER && gpu_code_is_pointed(code->binary, start));
}

/* Where a function that calls `start` computes these registers. */
static void caller_take(const struct kernel_function *function, uint64_t start,
	const struct gpu_set *registers, struct parse_budget *budget, struct candidate *best)
{
	struct dependency_slice *slice = NULL;

	for (uint32_t i = 0; i < function->code.count && !budget->spent; i++) {
		const struct dependency *edges;
		struct error ignored;
		size_t count = 0;

		if (!is_call_of(&function->code, i, start) || !parse_budget_step(budget))
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

/* ---- the one that leads on ---- */

bool cause_link_find(const struct kernel *kernel, const struct kernel_function *function, uint32_t at,
	struct cause_step *step, double *weight)
{
	struct candidate found[CAUSE_LINKS] = {{.function = NULL}};
	double waited = waited_for(function, at);
	struct parse_budget budget;

	if (!function->code.isa || function->code.isa->vendor != GPU_VENDOR_NVIDIA)
		return false;
	parse_budget_allow(&budget, LINK_STEPS, 0);
	through_memory(function, at, &budget, &found[CAUSE_LINK_MEMORY]);
	if (!through_copy(function, at, &budget, found))
		through_barrier(function, at, &budget, &found[CAUSE_LINK_BARRIER]);
	through_call(kernel, function, at, &budget, &found[CAUSE_LINK_CALL]);
	for (enum cause_link link = CAUSE_LINK_MEMORY; link < CAUSE_LINKS && !budget.spent; link++) {
		const struct candidate *best = &found[link];

		/* Many wait at a barrier for few, who may be late by many instructions. */
		if (!best->function ||
			(link != CAUSE_LINK_BARRIER && (best->stalls < CAUSE_SHARE_LEAST * waited ||
							       best->stalls < CAUSE_SHARE_LEAST * best->all)))
			continue;
		*weight = best->stalls;
		*step = (struct cause_step){link, best->function, best->at, NULL, best->stalls / best->all};
		return true;
	}
	return false;
}
