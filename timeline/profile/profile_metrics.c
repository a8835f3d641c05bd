/* SPDX-License-Identifier: Apache-2.0 */
/* profile_metrics.c - the metrics of a profile, its columns, and those that are ratios of others. */
#include <string.h>

#include "store/base/arena.h"
#include "timeline/profile/profile_tree.h"
#include "timeline/sum/gpu_metric.h"
#include "timeline/sum/window.h"

/* Marks the metric of that name, where a stream says what its time source is. */
static void mark_named(const struct run *run, const char *name, uint8_t *marks, uint32_t count)
{
	for (uint32_t m = 0; m < count && name[0]; m++)
		if (strcmp(run_metric_name(run, m), name) == 0)
			marks[m] = 2;
}

/* Then no stream can tell more: the first one has, as a rule. */
static bool is_all_named(const uint8_t *marks, uint32_t count)
{
	while (count && marks[count - 1] == 2)
		count--;
	return count == 0;
}

/* By name: numbers are those of the store, and those of a slice of it are others. */
static void put_metric(struct profile *profile, const struct run *run, uint32_t metric, size_t first)
{
	size_t at = profile->metric_count++;

	for (; at > first && run_metric_compare(run, metric, profile->metrics[at - 1].metric) < 0; at--)
		profile->metrics[at] = profile->metrics[at - 1];
	profile->metrics[at] = (struct profile_metric){.metric = metric,
		.name = run_metric_name(run, metric),
		.unit = run_metric_unit(run, metric),
		.is_real = run_metric_is_real(run, metric)};
}

/* Sums of OpenMP's regions are hpct-blame's: columns of a profile only where they are asked for. */
static bool is_shown(const struct run *run, const struct select *select, uint32_t metric)
{
	return select_wants_metric(select, metric) &&
	       (select_has_metric(select) || strncmp(run_metric_name(run, metric), "OMP:", 4) != 0);
}

static void put_metrics(struct profile *profile, const struct run *run, const struct select *select,
	const uint8_t *marks, uint32_t count, uint8_t mark)
{
	const size_t first = profile->metric_count;

	for (uint32_t m = 0; m < count; m++)
		if (marks[m] == mark && is_shown(run, select, m))
			put_metric(profile, run, m, first);
}

static void put_state_metrics(struct profile *profile, const struct run *run, const struct select *select)
{
	for (unsigned d = 0; d < STATE_METRIC_COUNT; d++)
		if (select_state_metrics(select) >> d & 1)
			profile->metrics[profile->metric_count++] = (struct profile_metric){
				.metric = state_metrics_number(run, (enum state_metric)d),
				.name = state_metrics_name((enum state_metric)d),
				.unit = "ns"};
}

/* Of those that a pattern names, only what there is. */
static void put_gpu(struct profile *profile, const struct run *run, const struct select *select,
	const struct window *window)
{
	uint64_t wanted = select_gpu(select), seen = 0;
	size_t count;
	const struct window_weight *weights = window_weights(window, &count);

	for (size_t i = 0; i < count && wanted; i++)
		if (weights[i].metric >= gpu_metric_number(run, 0))
			seen |= UINT64_C(1) << (weights[i].metric - gpu_metric_number(run, 0));
	for (unsigned m = 0; m < GPU_METRIC_COUNT; m++) {
		bool is_ratio = gpu_metric_is_ratio(m);
		uint64_t parts = is_ratio ? gpu_metric_find(gpu_metric_name(m)) & ~(UINT64_C(1) << m)
					  : UINT64_C(1) << m;
		bool is_there = (seen & parts) == parts;

		if (wanted >> m & 1 && (is_there || select_names_metric(select, gpu_metric_name(m))))
			profile->metrics[profile->metric_count++] =
				(struct profile_metric){.metric = gpu_metric_number(run, m),
					.name = gpu_metric_name(m),
					.unit = gpu_metric_unit(m),
					.is_real = is_ratio};
	}
}

/* As the selector names them; those of one name stay as they are. */
static void order_metrics(struct profile *profile, const struct select *select)
{
	for (size_t i = 1; i < profile->metric_count; i++) {
		struct profile_metric metric = profile->metrics[i];
		size_t rank = select_metric_rank(select, metric.name), at = i;

		for (; at > 0 && select_metric_rank(select, profile->metrics[at - 1].name) > rank; at--)
			profile->metrics[at] = profile->metrics[at - 1];
		profile->metrics[at] = metric;
	}
}

int profile_metrics_find(struct profile *profile, struct run *run, const struct select *select,
	const struct window *window, struct arena *arena, struct error *error)
{
	uint32_t count = run_metric_count(run), stream_count;
	const uint32_t *streams = select_streams(select, &stream_count);
	uint8_t *marks = arena_calloc(arena, gpu_metric_number(run, GPU_METRIC_COUNT), 1);
	size_t weight_count;
	const struct window_weight *weights = window_weights(window, &weight_count);

	profile->metrics =
		arena_calloc(arena, gpu_metric_number(run, GPU_METRIC_COUNT) + 1, sizeof *profile->metrics);
	if (!marks || !profile->metrics)
		return error_memory(error);
	for (size_t i = 0; i < weight_count; i++)
		marks[weights[i].metric] = 1;
	for (uint32_t i = 0; i < stream_count && !is_all_named(marks, count); i++)
		mark_named(run, run_stream_read(run, streams[i])->metric, marks, count);
	put_metrics(profile, run, select, marks, count, 2);
	put_metrics(profile, run, select, marks, count, 1);
	put_state_metrics(profile, run, select);
	put_gpu(profile, run, select, window);
	order_metrics(profile, select);
	return 0;
}

/* 100 * part / whole, in each row of values. */
static void ratio_make(
	const struct profile *profile, const char *const names[3], union profile_value *values, size_t rows)
{
	size_t at[3], width = profile->metric_count;

	for (unsigned i = 0; i < 3; i++) {
		for (at[i] = 0; at[i] < width && strcmp(profile->metrics[at[i]].name, names[i]) != 0;)
			at[i]++;
		if (at[i] == width)
			return;
	}
	for (size_t i = 0; i < rows && profile->metrics[at[0]].is_real; i++, values += width)
		values[at[0]].real = values[at[2]].number ? 100.0 * (double)values[at[1]].number /
								    (double)values[at[2]].number
							  : 0;
}

void profile_ratios(const struct profile *profile, union profile_value *values, size_t rows)
{
	static const char *const ratios[][3] = {
		{"GKER:OCC_THR", "GKER:FGP_ACT", "GKER:FGP_MAX"}, {"GSAMP:UTIL", "GSAMP:TOT", "GSAMP:EXP"}};

	for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
		ratio_make(profile, ratios[i], values, rows);
}
