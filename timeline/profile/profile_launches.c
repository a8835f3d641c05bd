/* SPDX-License-Identifier: Apache-2.0 */
/* profile_launches.c - see profile_launches.h. */
#include "timeline/profile/profile_launches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "timeline/sum/gpu_metric.h"
#include "timeline/sum/window.h"

static bool is_samples(const struct run *run, uint32_t stream)
{
	return run_stream(run, stream)->s.kind == STORE_STREAM_PC;
}

static bool wants(const void *select, uint32_t context)
{
	return select_wants_context(select, context);
}

/* The part's streams without those of samples. */
static int others_find(
	struct profile_launches *launches, const struct profile_part *part, struct error *error)
{
	uint32_t *others = arena_calloc(part->arena, (size_t)part->count + 1, sizeof *others), count = 0;

	if (!others)
		return error_memory(error);
	for (uint32_t i = 0; i < part->count; i++)
		if (!is_samples(part->run, part->streams[i]))
			others[count++] = part->streams[i];
	launches->others = others;
	launches->other_count = count;
	return 0;
}

int profile_launches_read(
	struct profile_launches *launches, const struct profile_part *part, struct error *error)
{
	struct launch_samples_question question = {.streams = part->streams,
		.stream_count = part->count,
		.begin_ns = select_records_begin_ns(part->select),
		.end_ns = select_records_end_ns(part->select),
		.wants = select_has_context(part->select) ? wants : NULL,
		.own = part->select,
		.by_launch = true,
		.expects = (select_gpu(part->select) & GPU_METRIC_SAMPLES) != 0};
	uint32_t first = 0;
	int rc;

	*launches = (struct profile_launches){.run = part->run,
		.others = part->streams,
		.other_count = part->count,
		.wanted = select_gpu(part->select) & GPU_METRIC_SAMPLES};
	while (first < part->count && !is_samples(part->run, part->streams[first]))
		first++;
	if (first == part->count)
		return 0;
	rc = others_find(launches, part, error);
	if (rc == 0)
		rc = launch_samples_read(&launches->samples, part->run, &question, error);
	if (rc == 0 && launches->wanted)
		launches->period = launch_samples_use(launches->samples).period;
	return rc;
}

void profile_launches_fini(struct profile_launches *launches)
{
	launch_samples_free(launches->samples);
}

static const struct launch_samples_row *rows_of(const struct profile_launches *launches, size_t *count)
{
	*count = 0;
	return launches->samples ? launch_samples_rows(launches->samples, count) : NULL;
}

static const struct launch_samples_expected *expected_of(
	const struct profile_launches *launches, size_t *count)
{
	*count = 0;
	return launches->samples ? launch_samples_expected(launches->samples, count) : NULL;
}

static int mark(struct window *window, uint32_t metric, struct error *error)
{
	return window_put_weight(window,
		&(struct window_weight){.context = STORE_CONTEXT_PROGRAM_ROOT, .metric = metric}, error);
}

/* Those that are computed of samples. */
static int mark_computed(const struct profile_launches *launches, struct window *window, struct error *error)
{
	size_t rows, expected;
	int rc = 0;

	rows_of(launches, &rows);
	expected_of(launches, &expected);
	if (!rows || !launches->wanted)
		return 0;
	rc = mark(window, gpu_metric_number(launches->run, GPU_METRIC_GINST), error);
	if (rc == 0 && launches->period)
		rc = mark(window, gpu_metric_number(launches->run, GPU_METRIC_TOT), error);
	if (rc == 0 && launches->period && expected)
		rc = mark(window, gpu_metric_number(launches->run, GPU_METRIC_EXP), error);
	return rc;
}

int profile_launches_mark(const struct profile_launches *launches, struct window *window, struct error *error)
{
	uint32_t metrics = run_metric_count(launches->run);
	bool *is_marked = calloc((size_t)metrics + 1, sizeof *is_marked);
	size_t count;
	const struct launch_samples_row *rows = rows_of(launches, &count);
	int rc = is_marked ? 0 : error_memory(error);

	for (size_t i = 0; i < count && rc == 0; i++) {
		if (rows[i].metric >= metrics || is_marked[rows[i].metric])
			continue;
		is_marked[rows[i].metric] = true;
		rc = mark(window, rows[i].metric, error);
	}
	free(is_marked);
	return rc ? rc : mark_computed(launches, window, error);
}

/* The sample's place below its launch, or where it was sampled. */
static struct run_context place_of(const struct run *run, const struct launch_samples_row *row)
{
	struct run_context place;

	if (row->launch && run_context_below(run, row->launch, row->context, &place))
		return place;
	return *run_context(run, row->context);
}

void profile_launches_expand(const struct profile_launches *launches)
{
	size_t count, expected_count;
	const struct launch_samples_row *rows = rows_of(launches, &count);
	const struct launch_samples_expected *expected = expected_of(launches, &expected_count);

	for (size_t i = 0; i < count; i++)
		place_of(launches->run, &rows[i]);
	for (size_t i = 0; i < expected_count; i++)
		run_context(launches->run, expected[i].launch);
}

static bool add(struct scope_sums *sums, const struct profile *profile, const struct run_context *place,
	size_t metric, uint64_t weight)
{
	uint32_t scope = place->scope == UINT32_MAX ? RUN_SCOPE_PROGRAM_ROOT : place->scope;
	union profile_value value = {.number = weight};

	if (!weight)
		return true;
	/* Without memory the scope was not created in time. */
	if (scope >= sums->scope_count)
		return false;
	if (profile->metrics[metric].is_real)
		value.real = (double)weight;
	value_add(&profile->metrics[metric], &sums->exclusive[scope * profile->metric_count + metric], value);
	sums->met[scope] |= SCOPE_MET_OWN;
	return scope_sums_add_line(sums, place, profile, metric, value);
}

/* What rounding has left of each metric is carried to its next sum. */
struct adding {
	const struct profile_launches *launches;
	struct scope_sums *sums;
	const struct profile *profile;
	double *carry;
};

/* metric: of the run, or one that is computed; nothing if the profile does not have it. False: no memory. */
static bool add_rounded(
	const struct adding *to, const struct run_context *place, uint32_t metric, double weight)
{
	size_t at = profile_metric_index(to->profile, metric);
	double whole;

	if (at == to->profile->metric_count)
		return true;
	whole = fmax(floor(weight + to->carry[at] + 0.5), 0);
	to->carry[at] += weight - whole;
	return add(to->sums, to->profile, place, at, (uint64_t)whole);
}

static bool is_stall(const struct run *run, uint32_t metric)
{
	return metric < run_metric_count(run) && !strncmp(run_metric_name(run, metric), "GINST:STL_", 10);
}

static bool add_row(const struct adding *to, const struct launch_samples_row *row)
{
	const struct profile_launches *launches = to->launches;
	struct run_context place = place_of(to->sums->run, row);
	bool ok = add_rounded(to, &place, row->metric, row->weight);

	if (!launches->wanted || !is_stall(launches->run, row->metric))
		return ok;
	ok = ok && add_rounded(to, &place, gpu_metric_number(launches->run, GPU_METRIC_GINST), row->weight);
	if (launches->period)
		ok = ok && add_rounded(to, &place, gpu_metric_number(launches->run, GPU_METRIC_TOT),
				   row->weight / (double)launches->period);
	return ok;
}

int profile_launches_add(const struct profile_launches *launches, struct scope_sums *sums,
	const struct profile *profile, struct error *error)
{
	size_t count, expected_count;
	const struct launch_samples_row *rows = rows_of(launches, &count);
	const struct launch_samples_expected *expected = expected_of(launches, &expected_count);
	const struct adding to = {launches, sums, profile, calloc(profile->metric_count + 1, sizeof(double))};
	bool ok = to.carry != NULL;

	for (size_t i = 0; i < count && ok; i++)
		ok = add_row(&to, &rows[i]);
	for (size_t i = 0; i < expected_count && ok && launches->period; i++)
		ok = add_rounded(&to, run_context(sums->run, expected[i].launch),
			gpu_metric_number(launches->run, GPU_METRIC_EXP),
			expected[i].weight / (double)launches->period);
	free(to.carry);
	return ok ? 0 : error_memory(error);
}
