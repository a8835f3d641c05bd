/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_sums.c - see path_sums.h. Which metrics there are is known before the first value is put, since each
 * path has a value of each.
 */
#include "formats/base/path_sums.h"

#include <stdlib.h>

#include "formats/base/selected_weights.h"
#include "store/base/array.h"
#include "timeline/sum/state_metrics.h"

static size_t metric_at(struct path_sums *sums, uint32_t metric)
{
	size_t at = 0;

	while (at < sums->metric_count && sums->metrics[at] != metric)
		at++;
	if (at == sums->metric_count && at < PATH_SUMS_METRICS)
		sums->metrics[sums->metric_count++] = metric;
	return at;
}

static bool is_counted(const struct path_sums *sums, const struct window_weight *weight)
{
	bool is_state = weight->metric >= run_metric_count(sums->run);

	return (is_state || select_wants_metric(sums->select, weight->metric)) &&
	       select_wants_context(sums->select, weight->context);
}

static void find_metrics(struct path_sums *sums, const struct window *weights, const struct window *gpu)
{
	size_t count;
	const struct window_weight *weight = window_weights(weights, &count);

	for (size_t i = 0; i < count; i++)
		if (is_counted(sums, &weight[i]))
			metric_at(sums, weight[i].metric);
	if (!gpu)
		return;
	window_times(gpu, &count);
	if (count > 0)
		metric_at(sums, UINT32_MAX);
}

static bool put_value(struct path_sums *sums, uint32_t context, uint32_t metric, uint64_t value)
{
	uint32_t path = key_ids_put(&sums->contexts, &context, NULL);
	size_t at = metric_at(sums, metric);

	if (path == KEY_IDS_NONE || !array_reserve_zero(&sums->values, &sums->value_room,
					    ((size_t)path + 1) * sums->metric_count, sizeof *sums->values))
		return false;
	if (at < sums->metric_count)
		sums->values[(size_t)path * sums->metric_count + at] += value;
	return true;
}

static bool put_weights(struct path_sums *sums, const struct window *window)
{
	size_t count;
	const struct window_weight *weights = window_weights(window, &count);
	bool ok = true;

	for (size_t i = 0; i < count && ok; i++) {
		bool is_real = weights[i].metric < run_metric_count(sums->run) &&
			       run_metric_is_real(sums->run, weights[i].metric);
		uint64_t value = weights[i].weight;

		if (is_real)
			value = weights[i].real > 0 ? (uint64_t)weights[i].real : 0;
		if (is_counted(sums, &weights[i]))
			ok = put_value(sums, weights[i].context, weights[i].metric, value);
	}
	return ok;
}

static bool put_gpu_times(struct path_sums *sums, const struct window *window)
{
	size_t count;
	const struct window_time *times = window_times(window, &count);
	bool ok = true;

	for (size_t i = 0; i < count && ok; i++)
		if (extent_state_is_busy(times[i].state) &&
			select_wants_context(sums->select, times[i].context) &&
			select_wants_op(sums->select, times[i].op))
			ok = put_value(sums, times[i].context, UINT32_MAX, times[i].time_ns);
	return ok;
}

static int gpu_times(
	struct window **window, struct run *run, const struct select *select, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);
	int rc = window_new(window, run, error);

	for (uint32_t i = 0; i < count && rc == 0; i++)
		if (run_stream(run, streams[i])->s.kind == STORE_STREAM_GPU)
			rc = window_add_time(
				*window, streams[i], select_begin_ns(select), select_end_ns(select), error);
	return rc;
}

/* Samples of GPU instructions, whose streams have no time. */
static int add_instructions(
	struct window *weights, struct run *run, const struct select *select, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_all_streams(select, &count);
	int rc = 0;

	for (uint32_t i = 0; i < count && rc == 0; i++)
		if (run_stream(run, streams[i])->s.kind == STORE_STREAM_PC)
			rc = window_add_weights(weights, &streams[i], 1, select_records_begin_ns(select),
				select_records_end_ns(select), error);
	return rc;
}

static bool has_weights(const struct window *window)
{
	size_t count;

	window_weights(window, &count);
	return count > 0;
}

static int sum(struct window **weights, struct window **gpu, struct run *run, const struct select *select,
	struct error *error)
{
	bool has_metric = select_has_metric(select);
	int rc = selected_weights(weights, run, select, select_state_metrics(select), error);

	if (rc == 0 && !has_metric && !has_weights(*weights)) {
		window_free(*weights);
		rc = selected_weights(weights, run, select, 1u << STATE_METRIC_REALTIME, error);
	}
	if (rc == 0)
		rc = add_instructions(*weights, run, select, error);
	if (rc == 0 && !has_metric)
		rc = gpu_times(gpu, run, select, error);
	return rc;
}

int path_sums_make(struct path_sums *sums, struct run *run, const struct select *select, struct error *error)
{
	struct window *weights = NULL, *gpu = NULL;
	int rc;

	*sums = (struct path_sums){.run = run, .select = select};
	key_ids_init(&sums->contexts, sizeof(uint32_t));
	rc = sum(&weights, &gpu, run, select, error);
	if (rc == 0) {
		find_metrics(sums, weights, gpu);
		if (!put_weights(sums, weights) || (gpu && !put_gpu_times(sums, gpu)))
			rc = error_memory(error);
	}
	window_free(weights);
	window_free(gpu);
	return rc;
}

void path_sums_fini(struct path_sums *sums)
{
	key_ids_fini(&sums->contexts);
	free(sums->values);
}

const char *path_sums_name(const struct path_sums *sums, size_t metric)
{
	uint32_t number = sums->metrics[metric], known = run_metric_count(sums->run);

	if (number == UINT32_MAX)
		return "GPUTIME";
	return number >= known ? state_metrics_name((enum state_metric)(number - known))
			       : run_metric_name(sums->run, number);
}

const char *path_sums_unit(const struct path_sums *sums, size_t metric)
{
	uint32_t number = sums->metrics[metric];

	return number < run_metric_count(sums->run) ? run_metric_unit(sums->run, number) : "ns";
}

bool path_sums_is_zero(const struct path_sums *sums, uint32_t path)
{
	for (size_t i = 0; i < sums->metric_count; i++)
		if (sums->values[(size_t)path * sums->metric_count + i])
			return false;
	return true;
}

uint32_t path_sums_leaf(const struct path_sums *sums, uint32_t path, uint32_t *line)
{
	const uint32_t *context = key_ids_key(&sums->contexts, path);
	const struct run_context *at = run_context(sums->run, *context);
	uint32_t scope = at->scope, cut;

	*line = at->line;
	if (scope == UINT32_MAX)
		return scope;
	cut = run_scope_at(sums->run, scope, select_depth(sums->select));
	for (; scope != cut; scope = run_scope(sums->run, scope)->parent)
		*line = run_scope(sums->run, scope)->call_line;
	return scope;
}
