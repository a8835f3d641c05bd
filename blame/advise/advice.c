/* SPDX-License-Identifier: Apache-2.0 */
/* advice.c - see advice.h. */
#include "blame/advise/advice.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "blame/advise/estimate.h"

/* ---- matching ---- */

void advice_hotspot_put(struct advice *advice, const struct advice_hotspot *hotspot)
{
	unsigned at = advice->hotspot_count;

	while (at > 0 && advice->hotspots[at - 1].cause.samples < hotspot->cause.samples)
		at--;
	if (at == ADVICE_HOTSPOTS)
		return;
	if (advice->hotspot_count < ADVICE_HOTSPOTS)
		advice->hotspot_count++;
	memmove(&advice->hotspots[at + 1], &advice->hotspots[at],
		(advice->hotspot_count - at - 1) * sizeof advice->hotspots[0]);
	advice->hotspots[at] = *hotspot;
}

/* Scopes of a function: its loops, and 0 the function itself. NULL: no memory. */
static struct estimate_scope *scopes_new(const struct kernel_function *function)
{
	const struct kernel_code *code = &function->code;
	struct estimate_scope *scopes = calloc((size_t)code->loops.count + 1, sizeof *scopes);

	if (!scopes)
		return NULL;
	scopes[0].parent = SIZE_MAX;
	for (uint32_t l = 0; l < code->loops.count; l++) {
		uint32_t parent = code->loops.loops[l].parent;

		scopes[l + 1].parent = parent == LOOP_NONE ? 0 : parent + 1;
	}
	for (uint32_t i = 0; i < code->count; i++) {
		struct estimate_scope *scope =
			&scopes[code->loop_of[i] == LOOP_NONE ? 0 : code->loop_of[i] + 1];

		for (unsigned s = 0; s < STALL_COUNT; s++)
			scope->active += function->samples[i].all[s] - function->samples[i].latency[s];
	}
	return scopes;
}

/* What the causes of a function that match come to. */
struct match {
	double hidden;	   /* latency samples that moving code within scopes can hide */
	double overlapped; /* those that other loads hide, */
	double alone;	   /* and what is left of these waits */
	double apart;	   /* latency samples of M in loops with barriers */
	double gone;   /* samples that go if the instructions that others wait for go, too: all of those, and
			* what is matched elsewhere */
	double queued; /* of what stays: waits in the queues that the former fill */
	double gone_issued; /* of gone: samples that issued */
};

/* What is matched is marked by cause. `scopes` may be NULL. */
static void match_function(const struct kernel *kernel, const struct kernel_function *function,
	struct advice *advice, struct match *found, struct estimate_scope *scopes, bool *is_matched)
{
	for (size_t c = 0; c < function->causes.count; c++) {
		const struct cause *cause = &function->causes.list[c];
		double share;
		uint32_t loop;

		is_matched[c] = advice->optimizer->matches(kernel, function, cause);
		if (!is_matched[c])
			continue;
		advice->matched += cause->samples;
		advice->matched_latency += cause->latency;
		if (advice->optimizer->stays)
			advice->stays += advice->optimizer->stays(function, cause);
		advice_hotspot_put(advice, &(struct advice_hotspot){function, *cause, 1});
		loop = kernel_code_common_loop(&function->code, cause->define, cause->use);
		if (loop != LOOP_NONE && function->code.has_barrier[loop])
			found->apart += cause->latency;
		if (!scopes)
			continue;
		/* What is left of it waits for all of them together: nothing of these rounds fills that. */
		share = advice->optimizer->overlaps ? advice->optimizer->overlaps(function, cause) : 0;
		found->overlapped += cause->latency * share;
		found->alone += share > 0 ? cause->latency * (1 - share) : 0;
		if (share <= 0)
			scopes[loop == LOOP_NONE ? 0 : loop + 1].matched_latency += cause->latency;
	}
}

/* What a wait has beyond its latency it has in queues: cycles of each time that its use issued. */
static double queued_of(
	const struct kernel *kernel, const struct kernel_function *function, const struct cause *cause)
{
	const struct gpu_instruction *define = &function->code.instructions[cause->define];
	double issued = function->samples[cause->use].all[STALL_NONE];
	double latency = architecture_latency(kernel->architecture, define);

	if (cause->define == cause->use || (cause->stall != STALL_GMEM && cause->stall != STALL_IDEP) ||
		define->write_barrier == GPU_NO_BARRIER || !(issued > 0))
		return 0;
	return fmax(0, cause->samples - latency * issued);
}

/* `goes`, by instruction, is all false before. */
static void gone_with(const struct kernel *kernel, const struct kernel_function *function,
	const struct optimizer *optimizer, const bool *is_matched, bool *goes, struct match *found)
{
	const struct cause *list = function->causes.list;

	for (size_t c = 0; c < function->causes.count; c++)
		if (is_matched[c] && list[c].define != list[c].use)
			goes[list[c].define] = true;
	for (uint32_t i = 0; optimizer->leaves && i < function->code.count; i++)
		goes[i] |= optimizer->leaves(function, i);
	for (size_t c = 0; c < function->causes.count; c++) {
		if (is_matched[c] && !goes[list[c].use])
			found->gone += list[c].samples;
		if (!is_matched[c] && !goes[list[c].use])
			found->queued += queued_of(kernel, function, &list[c]);
	}
	for (uint32_t i = 0; i < function->code.count; i++) {
		found->gone += goes[i] ? cause_samples_sum(&function->samples[i]) : 0;
		found->gone_issued += goes[i] ? function->samples[i].all[STALL_NONE] : 0;
	}
}

/* False: no memory. */
static bool match(const struct kernel *kernel, struct advice *advice, struct match *found)
{
	const bool is_scoped = advice->optimizer->is_scoped;
	bool ok = true;

	for (size_t f = 0; f < kernel->function_count && ok; f++) {
		const struct kernel_function *function = &kernel->functions[f];
		struct estimate_scope *scopes = is_scoped ? scopes_new(function) : NULL;
		bool *is_matched = calloc(function->causes.count + 1, sizeof *is_matched);
		bool *goes = calloc((size_t)function->code.count + 1, sizeof *goes);

		ok = is_matched && goes && (scopes || !is_scoped);
		if (ok)
			match_function(kernel, function, advice, found, scopes, is_matched);
		if (ok && scopes)
			found->hidden += estimate_scopes(scopes, (size_t)function->code.loops.count + 1);
		if (ok)
			gone_with(kernel, function, advice->optimizer, is_matched, goes, found);
		free(scopes);
		free(is_matched);
		free(goes);
	}
	return ok;
}

/* ---- estimates ---- */

/* Two standard deviations of a share that so many samples measured. */
static double error_of(const struct kernel *kernel, double matched)
{
	double samples = kernel->period ? matched / (double)kernel->period : matched;

	return samples > 0 ? 2 * sqrt(samples) / samples : 0;
}

static void estimate_eliminated(const struct kernel *kernel, struct advice *advice, const struct match *found)
{
	const bool leave = advice->optimizer->leaves && advice->matched > 0;
	double error_share = error_of(kernel, advice->matched);
	double floor = estimate_issue_floor(kernel->active, kernel->issued, found->gone_issued);
	double all = kernel->total - floor;

	advice->speedup = estimate_elimination(kernel->total,
		leave ? fmin(all, found->gone + found->queued) : advice->matched - advice->stays);
	/* Between nothing and all: their geometric mean. */
	if (advice->optimizer->is_moved)
		advice->speedup = sqrt(fmin(advice->speedup, ADVICE_MOST));
	/* A stall that other warps hid costs nothing: at least the latency samples go. A wait for other
	 * warps, or for code, may only move to where the next one is. */
	advice->low = advice->optimizer->is_moved
			      ? 1
			      : estimate_elimination(
					kernel->total, advice->matched_latency * fmax(0, 1 - error_share));
	/* Accesses that leave the code no longer fill queues and caches: whatever waits may go with them,
	 * until the schedulers issue all the time. */
	advice->high = estimate_elimination(kernel->total,
		leave ? all * (1 + error_share) : fmax(found->gone, advice->matched) * (1 + error_share));
	for (unsigned i = 0; i < advice->hotspot_count; i++)
		advice->hotspots[i].speedup =
			estimate_elimination(kernel->total, advice->hotspots[i].cause.samples);
}

/* True where a wait that is hidden may come back at a barrier, as one for the other warps of the block. */
static bool has_barriers(const struct kernel *kernel, const struct match *found)
{
	return found->apart > 0 &&
	       (!kernel->shape.block || kernel->shape.block > kernel->architecture->threads);
}

static void estimate_hidden(const struct kernel *kernel, struct advice *advice, const struct match *found)
{
	double left = advice->matched_latency - found->overlapped - found->alone;
	double hidden = fmin(kernel->active, left);

	if (advice->optimizer->is_scoped)
		hidden = fmin(hidden, found->hidden);
	advice->speedup = estimate_elimination(kernel->total, found->overlapped + hidden);
	/* Of latency in rounds that barriers keep apart: between nothing and all, their geometric mean. */
	if (has_barriers(kernel, found))
		advice->speedup =
			sqrt(advice->speedup *
				estimate_elimination(kernel->total,
					found->overlapped + fmin(hidden, fmax(0, left - found->apart))));
	/* Dependencies may leave nothing to move (S2 VI-B). */
	advice->low = 1;
	/* Loads that are under way together hide each other: Eq 3, which needs no other work to hide them. */
	advice->high = estimate_hiding_unbounded(kernel->total, advice->matched_latency);
	for (unsigned i = 0; i < advice->hotspot_count; i++)
		advice->hotspots[i].speedup =
			estimate_hiding(kernel->total, kernel->active, advice->hotspots[i].cause.latency);
}

static void bound(struct advice *advice)
{
	advice->speedup = fmin(advice->speedup, ADVICE_MOST);
	advice->low = fmin(advice->low, advice->speedup);
	advice->high = fmin(fmax(advice->high, advice->speedup), ADVICE_MOST);
	for (unsigned i = 0; i < advice->hotspot_count; i++)
		advice->hotspots[i].speedup = fmin(advice->hotspots[i].speedup, ADVICE_MOST);
}

static int advise(const struct kernel *kernel, struct advice *advice, struct error *error)
{
	struct match found = {0};

	if (advice->optimizer->matches && !match(kernel, advice, &found))
		return error_memory(error);
	switch (advice->optimizer->category) {
	case OPTIMIZER_ELIMINATES:
		estimate_eliminated(kernel, advice, &found);
		break;
	case OPTIMIZER_HIDES:
		estimate_hidden(kernel, advice, &found);
		break;
	default:
		break;
	}
	if (advice->optimizer->judge && !advice->optimizer->judge(kernel, advice))
		advice->speedup = 1;
	bound(advice);
	return 0;
}

static int advice_compare(const void *left, const void *right)
{
	const struct advice *a = left, *b = right;

	if (a->speedup != b->speedup)
		return a->speedup > b->speedup ? -1 : 1;
	return strcmp(b->optimizer->name, a->optimizer->name);
}

#define ALIKE 1.02

/* What moves code within loops is easier than what moves it anywhere: first, where it promises nearly as
 * much. */
static void ease_order(struct advice *advice, int count)
{
	for (int i = 1; i < count; i++) {
		struct advice other = advice[i - 1];

		if (other.optimizer != &optimizer_code_reordering ||
			advice[i].optimizer != &optimizer_loop_unrolling ||
			other.speedup > advice[i].speedup * ALIKE)
			continue;
		advice[i - 1] = advice[i];
		advice[i] = other;
	}
}

int advice_find(const struct kernel *kernel, struct advice *advice, struct error *error)
{
	int count = 0, rc = 0;

	for (unsigned o = 0; o < optimizer_count && !rc && kernel->total > 0; o++) {
		struct advice *at = &advice[count];

		*at = (struct advice){.optimizer = optimizers[o], .speedup = 1, .low = 1, .high = 1};
		rc = advise(kernel, at, error);
		count += at->speedup >= 1 + ADVICE_LEAST;
	}
	if (rc)
		return rc;
	qsort(advice, (size_t)count, sizeof *advice, advice_compare);
	ease_order(advice, count);
	return count;
}
