/* SPDX-License-Identifier: Apache-2.0 */
/* info_metrics.c - the metrics of a run, with their units and what they are read off. */
#include <stdlib.h>

#include "timeline/stats/info.h"
#include "timeline/sum/gpu_metric.h"
#include "timeline/sum/state_metrics.h"
#include "timeline/sum/window.h"

static const struct report_column columns[] = {
	{"metric", REPORT_TEXT}, {"unit", REPORT_TEXT}, {"source", REPORT_TEXT}};

struct collecting {
	bool (*each)(void *own, const struct info_metric *metric);
	void *own;
	bool failed;
};

static void put(struct collecting *to, const char *name, const char *unit, const char *source)
{
	to->failed |= !to->each(to->own, &(struct info_metric){name, unit, source});
}

/* The run's own: those that samples weigh, and the others. */
static int put_recorded(
	struct collecting *to, struct run *run, const struct select *select, struct error *error)
{
	uint32_t metrics = run_metric_count(run), count;
	const uint32_t *streams = select_streams(select, &count);
	static const char *const kinds[STORE_METRIC_KINDS] = {"values", "gauge", "counter"};
	bool *is_sampled = calloc((size_t)metrics + 1, sizeof *is_sampled);
	struct window *window = NULL;
	int code = is_sampled ? window_new(&window, run, error) : error_memory(error);

	if (!code)
		code = window_add_weights(window, streams, count, 0, STORE_OPEN_NS, error);
	if (!code) {
		size_t weight_count;
		const struct window_weight *weights = window_weights(window, &weight_count);

		for (size_t i = 0; i < weight_count; i++)
			is_sampled[weights[i].metric] = true;
		for (uint32_t m = 0; m < metrics; m++)
			put(to, run_metric_name(run, m), run_metric_unit(run, m),
				is_sampled[m] ? "samples" : kinds[run_metric_kind(run, m)]);
	}
	window_free(window);
	free(is_sampled);
	return code;
}

static bool has_kind(const struct run *run, enum store_stream_kind kind)
{
	for (uint32_t i = 0; i < run_stream_count(run); i++)
		if (run_stream(run, i)->s.kind == kind)
			return true;
	return false;
}

int info_metrics_each(struct run *run, const struct select *select,
	bool (*each)(void *own, const struct info_metric *metric), void *own, struct error *error)
{
	struct collecting to = {each, own, false};
	int code = put_recorded(&to, run, select, error);

	for (unsigned d = 0; d < STATE_METRIC_COUNT && !code && has_kind(run, STORE_STREAM_CPU); d++)
		put(&to, state_metrics_name((enum state_metric)d), "ns", "timeline");
	for (unsigned m = 0; m < GPU_METRIC_COUNT && !code && has_kind(run, STORE_STREAM_GPU); m++)
		put(&to, gpu_metric_name(m), gpu_metric_unit(m), "operations");
	return !code && to.failed ? error_memory(error) : code;
}

static bool print(void *own, const struct info_metric *metric)
{
	struct report *report = own;

	report_string(report, metric->name);
	report_string(report, metric->unit);
	report_string(report, metric->source);
	report_row(report);
	return true;
}

int info_print_metrics(struct run *run, const struct select *select, enum report_format format, FILE *out,
	struct error *error)
{
	struct report *report;
	int code = report_open(
		&report, out, format, "hpct-info-metrics", columns, sizeof columns / sizeof *columns, error);

	if (code)
		return code;
	code = info_metrics_each(run, select, print, report, error);
	if (code) {
		struct error other;

		(void)report_close(report, &other);
		return code;
	}
	return report_close(report, error);
}
