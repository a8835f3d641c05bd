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
	double hidden; /* latency samples that moving code within scopes can hide */
	double gone;   /* samples that go if the instructions that others wait for go, too: all of those, and
			* what is matched elsewhere */
};

/* What is matched is marked by cause. `scopes` may be NULL. */
static void match_function(const struct kernel *kernel, const struct kernel_function *function,
	struct advice *advice, struct estimate_scope *scopes, bool *is_matched)
{
	for (size_t c = 0; c < function->causes.count; c++) {
		const struct cause *cause = &function->causes.list[c];
		uint32_t loop;

		is_matched[c] = advice->optimizer->matches(kernel, function, cause);
		if (!is_matched[c])
			continue;
		advice->matched += cause->samples;
		advice->matched_latency += cause->latency;
		if (advice->optimizer->stays)
			advice->stays += advice->optimizer->stays(function, cause);
		advice_hotspot_put(advice, &(struct advice_hotspot){function, *cause, 1});
		if (!scopes)
			continue;
		loop = kernel_code_common_loop(&function->code, cause->define, cause->use);
		scopes[loop == LOOP_NONE ? 0 : loop + 1].matched_latency += cause->latency;
	}
}

/* `goes`, by instruction, is all false before. */
static double gone_with(const struct kernel_function *function, const struct optimizer *optimizer,
	const bool *is_matched, bool *goes)
{
	const struct cause *list = function->causes.list;
	double sum = 0;

	for (size_t c = 0; c < function->causes.count; c++)
		if (is_matched[c] && list[c].define != list[c].use)
			goes[list[c].define] = true;
	for (uint32_t i = 0; optimizer->leaves && i < function->code.count; i++)
		goes[i] |= optimizer->leaves(function, i);
	for (size_t c = 0; c < function->causes.count; c++)
		sum += is_matched[c] && !goes[list[c].use] ? list[c].samples : 0;
	for (uint32_t i = 0; i < function->code.count; i++)
		sum += goes[i] ? cause_samples_sum(&function->samples[i]) : 0;
	return sum;
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
			match_function(kernel, function, advice, scopes, is_matched);
		if (ok && scopes)
			found->hidden += estimate_scopes(scopes, (size_t)function->code.loops.count + 1);
		if (ok)
			found->gone += gone_with(function, advice->optimizer, is_matched, goes);
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

	advice->speedup =
		estimate_elimination(kernel->total, leave ? found->gone : advice->matched - advice->stays);
	/* Between nothing and all: their geometric mean. */
	if (advice->optimizer->is_moved)
		advice->speedup = sqrt(fmin(advice->speedup, ADVICE_MOST));
	/* A stall that other warps hid costs nothing: at least the latency samples go. A wait for other
	 * warps, or for code, may only move to where the next one is. */
	advice->low = advice->optimizer->is_moved
			      ? 1
			      : estimate_elimination(
					kernel->total, advice->matched_latency * fmax(0, 1 - error_share));
	advice->high =
		estimate_elimination(kernel->total, fmax(found->gone, advice->matched) * (1 + error_share));
	for (unsigned i = 0; i < advice->hotspot_count; i++)
		advice->hotspots[i].speedup =
			estimate_elimination(kernel->total, advice->hotspots[i].cause.samples);
}

/* hidden: of a scoped optimizer. */
static void estimate_hidden(const struct kernel *kernel, struct advice *advice, double hidden)
{
	double most = estimate_hiding(kernel->total, kernel->active, advice->matched_latency);

	advice->speedup =
		advice->optimizer->is_scoped ? fmin(most, estimate_elimination(kernel->total, hidden)) : most;
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
		estimate_hidden(kernel, advice, found.hidden);
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
