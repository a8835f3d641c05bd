/* SPDX-License-Identifier: Apache-2.0 */
/* dependency.c - see dependency.h. The search is breadth-first over (instruction, predicates met). */
#include "blame/stalls/dependency.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"

/* Predicates met on a path: bit 2p for P, 2p + 1 for !P, of P0..P6 and of UP0..UP6. */
typedef uint32_t covered;
#define COVERS_ALL UINT32_MAX

struct step {
	uint32_t at, distance;
	covered met;
};

struct dependency_slice {
	const struct dependency_code *code;
	uint32_t reach;
	struct parse_budget *budget; /* NULL: none */
	struct step *steps;	     /* a queue; also the list of what was visited */
	size_t step_count, step_capacity;
	uint32_t *visited; /* [instruction] 1 + the last step there, 0: none; steps of one are chained by
			      `before` */
	uint32_t *before;  /* [step] */
	size_t before_capacity;
	struct dependency *edges;
	size_t edge_count, edge_capacity;
	uint32_t *order;    /* [instruction] its number in a reverse postorder */
	uint32_t *by_order; /* and back */
	uint32_t *longest;  /* scratch */
	bool *mark;	    /* scratch */
};

/* ---- order ---- */

/* A reverse postorder from the first instruction; what it does not reach stands before it. */
static bool order_make(struct dependency_slice *slice)
{
	const struct dependency_code *code = slice->code;
	uint32_t *stack = malloc(((size_t)code->count + 1) * sizeof *stack), depth = 0, number = code->count;
	uint32_t *next = malloc(((size_t)code->count + 1) * sizeof *next);

	for (uint32_t i = 0; stack && next && i < code->count; i++) {
		next[i] = code->first_to[i];
		slice->order[i] = UINT32_MAX;
	}
	for (uint32_t entry = 0; stack && next && entry < code->count; entry++) {
		if (slice->mark[entry])
			continue;
		slice->mark[entry] = true;
		stack[depth++] = entry;
		while (depth) {
			uint32_t at = stack[depth - 1];

			if (next[at] < code->first_to[at + 1]) {
				uint32_t to = code->to[next[at]++];

				if (!slice->mark[to]) {
					slice->mark[to] = true;
					stack[depth++] = to;
				}
			} else {
				slice->order[at] = --number;
				slice->by_order[number] = at;
				depth--;
			}
		}
	}
	memset(slice->mark, 0, code->count * sizeof *slice->mark);
	free(next);
	free(stack);
	return stack && next;
}

struct dependency_slice *dependency_slice_new(
	const struct dependency_code *code, uint32_t reach, struct parse_budget *budget)
{
	struct dependency_slice *slice = calloc(1, sizeof *slice);
	size_t room = (size_t)code->count + 1;

	if (!slice)
		return NULL;
	slice->code = code;
	slice->reach = reach;
	slice->budget = budget;
	slice->visited = calloc(room, sizeof *slice->visited);
	slice->order = calloc(room, sizeof *slice->order);
	slice->by_order = calloc(room, sizeof *slice->by_order);
	slice->longest = calloc(room, sizeof *slice->longest);
	slice->mark = calloc(room, sizeof *slice->mark);
	if (!slice->visited || !slice->order || !slice->by_order || !slice->longest || !slice->mark ||
		!order_make(slice)) {
		dependency_slice_free(slice);
		return NULL;
	}
	return slice;
}

void dependency_slice_free(struct dependency_slice *slice)
{
	if (!slice)
		return;
	free(slice->steps);
	free(slice->visited);
	free(slice->before);
	free(slice->edges);
	free(slice->order);
	free(slice->by_order);
	free(slice->longest);
	free(slice->mark);
	free(slice);
}

/* ---- predicates ---- */

static covered guard_of(const struct gpu_instruction *in)
{
	unsigned predicate = in->guard + (in->is_guard_uniform ? 7u : 0u);

	return in->guard == GPU_ALWAYS ? COVERS_ALL : UINT32_C(1) << (2 * predicate + in->is_guard_negated);
}

static covered cover(covered met, covered more)
{
	met |= more;
	for (unsigned p = 0; p < 14; p++)
		if ((met >> 2 * p & 3) == 3)
			return COVERS_ALL;
	return met;
}

/* ---- the budget ---- */

#define CLEARED_A_STEP 16 /* marks of instructions */

/* False: it is spent, and every walk ends. */
static bool take_steps(struct dependency_slice *slice, uint64_t steps)
{
	struct parse_budget *budget = slice->budget;

	if (!budget)
		return true;
	if (budget->spent || budget->steps_left < steps) {
		budget->spent = true;
		return false;
	}
	budget->steps_left -= steps;
	return true;
}

bool dependency_slice_is_cut(const struct dependency_slice *slice)
{
	return slice->budget && slice->budget->spent;
}

/* ---- the search ---- */

static bool visit(struct dependency_slice *slice, uint32_t at, uint32_t distance, covered met)
{
	uint32_t step = slice->visited[at];

	if (distance > slice->reach)
		return true;
	for (; step && take_steps(slice, 1); step = slice->before[step - 1])
		if (slice->steps[step - 1].met == met)
			return true;
	if (!take_steps(slice, 1))
		return true;
	if (!array_widen(&slice->steps, &slice->step_capacity, slice->step_count, sizeof *slice->steps) ||
		!array_widen(
			&slice->before, &slice->before_capacity, slice->step_count, sizeof *slice->before))
		return false;
	slice->before[slice->step_count] = slice->visited[at];
	slice->steps[slice->step_count++] = (struct step){at, distance, met};
	slice->visited[at] = (uint32_t)slice->step_count;
	return true;
}

static bool visit_before(struct dependency_slice *slice, uint32_t at, uint32_t distance, covered met)
{
	const struct dependency_code *code = slice->code;

	for (uint32_t e = code->first_from[at]; e < code->first_from[at + 1]; e++)
		if (!visit(slice, code->from[e], distance + 1, met))
			return false;
	return true;
}

static void forget(struct dependency_slice *slice)
{
	for (size_t i = 0; i < slice->step_count; i++)
		slice->visited[slice->steps[i].at] = 0;
	slice->step_count = 0;
}

/* One edge for each pair of instructions. */
static bool edge_add(
	struct dependency_slice *slice, uint32_t define, uint32_t use, uint32_t distance, int resource)
{
	struct dependency *edge = NULL;

	if (!take_steps(slice, slice->edge_count + 1))
		return true;
	for (size_t i = 0; i < slice->edge_count && !edge; i++)
		if (slice->edges[i].define == define)
			edge = &slice->edges[i];
	if (!edge) {
		if (!array_widen(
			    &slice->edges, &slice->edge_capacity, slice->edge_count, sizeof *slice->edges))
			return false;
		edge = &slice->edges[slice->edge_count++];
		*edge = (struct dependency){.define = define, .use = use, .shortest = distance};
	}
	if (distance < edge->shortest)
		edge->shortest = distance;
	if (resource >= 0)
		gpu_set_add(&edge->by, (unsigned)resource);
	return true;
}

static bool search_resource(struct dependency_slice *slice, uint32_t use, unsigned resource)
{
	const struct gpu_instruction *instructions = slice->code->instructions;
	covered wanted = guard_of(&instructions[use]);
	bool ok = visit_before(slice, use, 0, 0);

	for (size_t i = 0; i < slice->step_count && ok; i++) {
		struct step step = slice->steps[i];
		const struct gpu_instruction *in = &instructions[step.at];

		if (gpu_set_has(&in->defines, resource)) {
			ok = edge_add(slice, step.at, use, step.distance, (int)resource);
			step.met = cover(step.met, guard_of(in));
			if (step.met == COVERS_ALL || (wanted != COVERS_ALL && (step.met & wanted)))
				continue;
		}
		ok = ok && visit_before(slice, step.at, step.distance, step.met);
	}
	forget(slice);
	return ok;
}

/* ---- counters ---- */

#define UNLIMITED 0xffu

/* On the way back: how many instructions that count were met, as far as the wait leaves them alone, and how
 * many more may still be under way, as a wait on the way tells. */
struct counted {
	uint32_t passed, limit;
};

static covered counted_pack(struct counted counted)
{
	return counted.passed | counted.limit << 8;
}

static bool search_counter(struct dependency_slice *slice, uint32_t use, enum gpu_counter counter)
{
	const struct gpu_instruction *instructions = slice->code->instructions;
	uint32_t left = instructions[use].left[counter];
	bool ok = visit_before(slice, use, 0, counted_pack((struct counted){0, UNLIMITED}));

	for (size_t i = 0; i < slice->step_count && ok; i++) {
		struct step step = slice->steps[i];
		const struct gpu_instruction *in = &instructions[step.at];
		struct counted counted = {step.met & 0xff, step.met >> 8};

		if (in->waits >> counter & 1 && in->left[counter] < counted.limit)
			counted.limit = in->left[counter];
		if (!counted.limit)
			continue;
		if (in->counts >> counter & 1) {
			counted.limit -= counted.limit != UNLIMITED;
			if (counted.passed < left) {
				counted.passed++;
			} else {
				ok = edge_add(
					slice, step.at, use, step.distance, (int)(GPU_COUNTER + counter));
				/* Arithmetic takes about as long each: the newest ends last. */
				if (counter >= GPU_COUNTER_IN_ORDER)
					continue;
			}
		}
		ok = ok && visit_before(slice, step.at, step.distance, counted_pack(counted));
	}
	forget(slice);
	return ok;
}

/* ---- barriers ---- */

static uint32_t barrier_left(const struct gpu_instruction *in, unsigned resource)
{
	return in->wait_mask >> (resource - GPU_BARRIER) & 1 ? 0 : in->barrier_left;
}

/* The hardware counts those that set a barrier: a wait is for all of them, back to the wait before. One
 * instruction may do both; it waits first. */
static bool search_barrier(struct dependency_slice *slice, uint32_t use, unsigned resource)
{
	const struct gpu_instruction *instructions = slice->code->instructions;
	uint32_t left = barrier_left(&instructions[use], resource);
	bool ok = visit_before(slice, use, 0, counted_pack((struct counted){0, UNLIMITED}));

	for (size_t i = 0; i < slice->step_count && ok; i++) {
		struct step step = slice->steps[i];
		const struct gpu_instruction *in = &instructions[step.at];
		struct counted counted = {step.met & 0xff, step.met >> 8};

		if (gpu_set_has(&in->defines, resource)) {
			counted.limit -= counted.limit != UNLIMITED;
			if (counted.passed < left)
				counted.passed++;
			else
				ok = edge_add(slice, step.at, use, step.distance, (int)resource);
		}
		if (gpu_set_has(&in->uses, resource) && barrier_left(in, resource) < counted.limit)
			counted.limit = barrier_left(in, resource);
		if (counted.limit)
			ok = ok && visit_before(slice, step.at, step.distance, counted_pack(counted));
	}
	forget(slice);
	return ok;
}

static bool search(struct dependency_slice *slice, uint32_t use, unsigned resource)
{
	if (resource >= GPU_BARRIER && resource < GPU_BARRIER + GPU_BARRIERS)
		return search_barrier(slice, use, resource);
	if (resource >= GPU_COUNTER && resource < GPU_TOKEN)
		return search_counter(slice, use, (enum gpu_counter)(resource - GPU_COUNTER));
	return search_resource(slice, use, resource);
}

static int edge_compare(const void *left, const void *right)
{
	const struct dependency *a = left, *b = right;

	return a->define < b->define ? -1 : a->define > b->define;
}

static int finish(struct dependency_slice *slice, bool ok, const struct dependency **edges, size_t *count,
	struct error *error)
{
	if (!ok)
		return error_memory(error);
	if (slice->edge_count)
		qsort(slice->edges, slice->edge_count, sizeof *slice->edges, edge_compare);
	*edges = slice->edges;
	*count = slice->edge_count;
	return 0;
}

int dependency_slice_resources(struct dependency_slice *slice, uint32_t use, const struct gpu_set *resources,
	const struct dependency **edges, size_t *count, struct error *error)
{
	bool ok = true;

	slice->edge_count = 0;
	for (unsigned word = 0; word < sizeof resources->words / sizeof *resources->words; word++)
		for (uint64_t left = resources->words[word]; left && ok; left &= left - 1)
			ok = search(slice, use, word * 64 + (unsigned)__builtin_ctzll(left));
	return finish(slice, ok, edges, count, error);
}

int dependency_slice_back(struct dependency_slice *slice, uint32_t use, const struct gpu_set *wanted,
	const struct dependency **edges, size_t *count, struct error *error)
{
	struct gpu_set resources = slice->code->instructions[use].uses;

	for (unsigned word = 0; wanted && word < sizeof resources.words / sizeof *resources.words; word++)
		resources.words[word] &= wanted->words[word];
	return dependency_slice_resources(slice, use, &resources, edges, count, error);
}

int dependency_slice_nearest(struct dependency_slice *slice, uint32_t use,
	bool (*is)(const void *own, uint32_t at), const void *own, const struct dependency **edges,
	size_t *count, struct error *error)
{
	bool ok;

	slice->edge_count = 0;
	ok = visit_before(slice, use, 0, 0);
	for (size_t i = 0; i < slice->step_count && ok; i++) {
		struct step step = slice->steps[i];

		if (is(own, step.at))
			ok = edge_add(slice, step.at, use, step.distance, -1);
		else
			ok = visit_before(slice, step.at, step.distance, 0);
	}
	forget(slice);
	return finish(slice, ok, edges, count, error);
}

struct kinds {
	const struct gpu_instruction *instructions;
	unsigned kinds;
};

static bool is_of_kinds(const void *own, uint32_t at)
{
	const struct kinds *kinds = own;

	return kinds->kinds >> kinds->instructions[at].kind & 1;
}

int dependency_slice_kinds(struct dependency_slice *slice, uint32_t use, unsigned kinds,
	const struct dependency **edges, size_t *count, struct error *error)
{
	const struct kinds own = {slice->code->instructions, kinds};

	return dependency_slice_nearest(slice, use, is_of_kinds, &own, edges, count, error);
}

/* ---- paths ---- */

/* Another wait for the same counter, or a DEPBAR, may leave the definition under way. */
static bool uses_all(const struct gpu_instruction *in, const struct gpu_set *by)
{
	bool is_any = false;

	if (in->barrier_left)
		return false;
	for (unsigned c = 0; c < GPU_COUNTERS; c++)
		if (gpu_set_has(by, GPU_COUNTER + c))
			return false;

	for (unsigned i = 0; i < sizeof by->words / sizeof *by->words; i++) {
		if (by->words[i] & ~in->uses.words[i])
			return false;
		is_any |= by->words[i] != 0;
	}
	return is_any;
}

/* Walks back from the use to the definition around `without`; true: there is a path. The walk marks what it
 * meets. */
static bool leads_around(struct dependency_slice *slice, const struct dependency *edge, uint32_t without)
{
	const struct dependency_code *code = slice->code;
	uint32_t *stack = slice->longest, depth = 0; /* as long as the code */
	bool is_found = false;

	if (!take_steps(slice, code->count / CLEARED_A_STEP + 1))
		return false;
	memset(slice->mark, 0, code->count * sizeof *slice->mark);
	stack[depth++] = edge->use;
	while (depth && !is_found && take_steps(slice, 1)) {
		uint32_t at = stack[--depth];

		for (uint32_t e = code->first_from[at]; e < code->first_from[at + 1]; e++) {
			uint32_t from = code->from[e];

			is_found |= from == edge->define;
			if (from == without || from == edge->define || slice->mark[from])
				continue;
			slice->mark[from] = true;
			if (from != edge->use)
				stack[depth++] = from;
		}
	}
	return is_found;
}

bool dependency_is_dominated(struct dependency_slice *slice, const struct dependency *edge)
{
	const struct dependency_code *code = slice->code;
	uint32_t *candidates = NULL;
	size_t count = 0, capacity = 0;
	bool is_dominated = false;

	leads_around(slice, edge, UINT32_MAX);
	for (uint32_t i = 0; i < code->count; i++)
		if (slice->mark[i] && i != edge->define && i != edge->use &&
			code->instructions[i].guard == GPU_ALWAYS &&
			uses_all(&code->instructions[i], &edge->by) &&
			array_widen(&candidates, &capacity, count, sizeof *candidates))
			candidates[count++] = i;
	for (size_t i = 0; i < count && !is_dominated; i++)
		is_dominated = !leads_around(slice, edge, candidates[i]);
	free(candidates);
	return is_dominated;
}

/* longest[i]: on paths from `from` that only go on in the order; 0: none. */
static void longest_forward(struct dependency_slice *slice, uint32_t from)
{
	const struct dependency_code *code = slice->code;

	if (!take_steps(slice, code->count / CLEARED_A_STEP + (code->count - slice->order[from])))
		return;
	memset(slice->longest, 0, code->count * sizeof *slice->longest);
	for (uint32_t o = slice->order[from]; o < code->count; o++) {
		uint32_t at = slice->by_order[o];

		if (at != from && !slice->longest[at])
			continue;
		for (uint32_t e = code->first_to[at]; e < code->first_to[at + 1]; e++) {
			uint32_t to = code->to[e];

			if (slice->order[to] > o && slice->longest[to] < slice->longest[at] + 1)
				slice->longest[to] = slice->longest[at] + 1;
		}
	}
}

uint32_t dependency_longest(struct dependency_slice *slice, uint32_t from, uint32_t to)
{
	const struct dependency_code *code = slice->code;
	uint32_t best = 0, *first = malloc(((size_t)code->count + 1) * sizeof *first);

	if (!first)
		return 0;
	longest_forward(slice, from);
	best = slice->longest[to];
	memcpy(first, slice->longest, code->count * sizeof *first);
	for (uint32_t i = 0; i < code->count && !best && !dependency_slice_is_cut(slice); i++) {
		if (i != from && !first[i])
			continue;
		for (uint32_t e = code->first_to[i]; e < code->first_to[i + 1]; e++) {
			uint32_t back = code->to[e], length = first[i] + 1;

			if (slice->order[back] > slice->order[i])
				continue;
			longest_forward(slice, back);
			length += slice->longest[to];
			if ((back == to || slice->longest[to]) && length > best)
				best = length;
		}
	}
	free(first);
	return best;
}
