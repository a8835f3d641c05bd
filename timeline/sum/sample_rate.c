/* SPDX-License-Identifier: Apache-2.0 */
/* sample_rate.c - see sample_rate.h. */
#include "timeline/sum/sample_rate.h"

#include <stdlib.h>

#include "store/base/attribute.h"
#include "timeline/scan/scan.h"
#include "timeline/sum/figure_users.h"

int sample_facts_read(struct sample_facts *facts, struct run *run, uint32_t stream, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count;
	int rc = scan_open(&scan, run, stream, STORE_SPANS, 0, STORE_OPEN_NS,
		STORE_BEGIN | STORE_WHAT | STORE_AMOUNT | STORE_ATTRIBUTES, 0, error);

	*facts = (struct sample_facts){0};
	if (rc < 0)
		return rc;
	while ((count = scan_next(scan, &batch, error)) > 0)
		for (size_t i = 0; i < batch->count; i++) {
			size_t size;
			const char *text = batch_attributes(run, batch, i, &size);

			if (batch->what[i] == STORE_OP_LOST)
				facts->lost += batch->amount[i];
			if (batch->what[i] != STORE_OP_MONITORED)
				continue;
			facts->period = attribute_number(text, size, "period", facts->period);
			facts->multiprocessors =
				attribute_number(text, size, "multiprocessors", facts->multiprocessors);
			facts->clock_khz = attribute_number(text, size, "clock_khz", facts->clock_khz);
		}
	scan_close(scan);
	return count < 0 ? (int)count : 0;
}

/* ---- stretches ---- */

static int stretch_compare(const void *left, const void *right)
{
	const struct sample_stretch *a = left, *b = right;

	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

size_t sample_stretches_unite(struct sample_stretch *stretches, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(stretches, count, sizeof *stretches, stretch_compare);
	for (size_t i = 0; i < count; i++) {
		struct sample_stretch *last = kept ? &stretches[kept - 1] : NULL;

		if (last && stretches[i].begin_ns <= last->end_ns)
			last->end_ns =
				stretches[i].end_ns > last->end_ns ? stretches[i].end_ns : last->end_ns;
		else
			stretches[kept++] = stretches[i];
	}
	return kept;
}

/* ---- the clock ---- */

/* A figure holds until its next value; the first one is taken for what was before it, too. */
struct holding {
	const struct sample_stretch *stretches;
	size_t count, at; /* stretches before `at` have passed */
	double value;
	bool has_value;
	uint64_t since_ns;
	double sum, weight_ns;
};

static void hold_until(struct holding *holding, uint64_t time_ns)
{
	for (; holding->at < holding->count && holding->stretches[holding->at].begin_ns < time_ns;
		holding->at++) {
		const struct sample_stretch *in = &holding->stretches[holding->at];
		uint64_t begin_ns = in->begin_ns > holding->since_ns ? in->begin_ns : holding->since_ns;
		uint64_t end_ns = in->end_ns < time_ns ? in->end_ns : time_ns;

		if (end_ns > begin_ns) {
			holding->sum += holding->value * (double)(end_ns - begin_ns);
			holding->weight_ns += (double)(end_ns - begin_ns);
		}
		if (in->end_ns > time_ns)
			break;
	}
	holding->since_ns = time_ns;
}

static void take_value(void *own, uint64_t time_ns, double value)
{
	struct holding *holding = own;

	if (holding->has_value)
		hold_until(holding, time_ns);
	holding->has_value = true;
	holding->value = value;
}

static void restart(void *own)
{
	struct holding *holding = own;

	*holding = (struct holding){.stretches = holding->stretches, .count = holding->count};
}

/* In Hz; 0: the run has no such figure of the GPU. */
static int clock_mean(double *hertz, struct run *run, uint32_t stream, const struct sample_stretch *stretches,
	size_t count, struct arena *arena, struct error *error)
{
	/* In Hz: hpct's own, and nvidia-smi's of an import. */
	static const char *const names[] = {"gpu_clock", "clocks.sm"};
	struct holding holding = {.stretches = stretches, .count = count};
	struct figure_users users;
	struct figure *figures;
	uint32_t figure_count;
	int rc = figures_list(&figures, &figure_count, run, names, 2, arena, error);

	*hertz = 0;
	if (rc || !figure_count || !count)
		return rc;
	rc = figure_users_find(&users, run, arena, error);
	for (uint32_t i = 0; i < figure_count && rc == 0; i++) {
		if (figure_nearness(&users, stream, &figures[i]) != FIGURE_OF_DEVICE)
			continue;
		rc = figure_values(run, &figures[i], 0, stretches[count - 1].end_ns, take_value, restart,
			&holding, error);
		if (rc == 0 && holding.has_value)
			hold_until(&holding, stretches[count - 1].end_ns);
		break;
	}
	if (holding.weight_ns > 0)
		*hertz = holding.sum / holding.weight_ns;
	return rc;
}

int sample_rate_find(double *cycles_per_ns, struct run *run, uint32_t stream,
	const struct sample_facts *facts, const struct sample_stretch *stretches, size_t count,
	struct error *error)
{
	struct arena arena = {0};
	double hertz = 0;
	int rc = 0;

	*cycles_per_ns = 0;
	if (!facts->multiprocessors)
		return 0;
	rc = clock_mean(&hertz, run, stream, stretches, count, &arena, error);
	arena_fini(&arena);
	if (!(hertz > 0))
		hertz = (double)facts->clock_khz * 1e3;
	*cycles_per_ns = (double)facts->multiprocessors * hertz * 1e-9;
	return rc;
}
