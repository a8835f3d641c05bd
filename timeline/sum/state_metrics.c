/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_metrics.c - times of a timeline by state and context, as metrics. Sums of a timeline (state_sum.h)
 * have no path for runnable time: where there is any, the timeline is walked.
 */
#include "timeline/sum/state_metrics.h"

#include "timeline/sum/parallel_sum.h"

#include <string.h>

#include "timeline/sum/state_sum.h"

#define EXTENTS 512

static const char *const names[STATE_METRIC_COUNT] = {[STATE_METRIC_REALTIME] = "REALTIME",
	[STATE_METRIC_BLOCKED] = "BLOCKED",
	[STATE_METRIC_RUNNABLE] = "RUNNABLE",
	[STATE_METRIC_SYNC] = "SYNC"};

const char *state_metrics_name(enum state_metric metric)
{
	return names[metric];
}

int state_metrics_find(const char *name)
{
	for (int i = 0; i < STATE_METRIC_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

bool state_metrics_counts(enum state_metric metric, enum extent_state state)
{
	switch (metric) {
	case STATE_METRIC_BLOCKED:
		return state == EXTENT_BLOCKED;
	case STATE_METRIC_RUNNABLE:
		return state == EXTENT_RUNNABLE;
	case STATE_METRIC_SYNC:
		return state == EXTENT_SYNC;
	default:
		return extent_state_is_busy(state) || state == EXTENT_SYNC || state == EXTENT_BLOCKED ||
		       state == EXTENT_RUNNABLE;
	}
}

/* ---- walking the timeline, with contexts of runnable time ---- */

struct placing {
	struct window *window;
	bool has_runnable; /* without a context */
};

static bool is_placeless(const struct extent *piece)
{
	return piece->state == EXTENT_RUNNABLE && piece->context == 0;
}

static int put(struct window *window, const struct extent *key, uint32_t context, uint64_t time_ns,
	uint64_t records, struct error *error)
{
	const struct window_time time = {.context = context,
		.op = key->op,
		.state = key->state,
		.records = records,
		.time_ns = time_ns};

	return window_put_time(window, &time, error);
}

static int take_sum(
	void *own, const struct extent *key, uint64_t time_ns, uint64_t records, struct error *error)
{
	struct placing *placing = own;

	if (is_placeless(key)) {
		placing->has_runnable = true;
		return 0;
	}
	return put(placing->window, key, key->context, time_ns, records, error);
}

static int take_piece(void *own, const struct extent *piece, struct error *error)
{
	return take_sum(own, piece, piece->end_ns - piece->begin_ns, piece->is_record_begin, error);
}

static int place_runnable(struct window *window, struct run *run, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	struct extent extents[EXTENTS];
	struct extent_walk *walk;
	long count = 0;
	int code = extent_open(&walk, run, stream, begin_ns, end_ns, error);

	if (code)
		return code;
	extent_tell_resumed(walk);
	while (!code && (count = extent_next(walk, extents, EXTENTS, error)) > 0)
		for (long i = 0; i < count && !code; i++)
			if (is_placeless(&extents[i]))
				code = put(window, &extents[i], extents[i].resumed,
					extents[i].end_ns - extents[i].begin_ns, extents[i].is_record_begin,
					error);
	extent_close(walk);
	return count < 0 ? (int)count : code;
}

static int add_time(struct window *window, struct run *run, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	struct placing placing = {.window = window};
	const struct state_sum_sink sink = {.own = &placing, .piece = take_piece, .sum = take_sum};
	int code = state_sum(run, stream, begin_ns, end_ns, 63, &sink, error);

	if (!code && placing.has_runnable)
		code = place_runnable(window, run, stream, begin_ns, end_ns, error);
	return code;
}

static int share_time(void *own, struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	struct run *run = own;

	return run_stream(run, stream)->s.kind == STORE_STREAM_CPU
		       ? add_time(window, run, stream, begin_ns, end_ns, error)
		       : 0;
}

int state_metrics_add_times(struct window *window, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	return parallel_sum_streams(window, run, streams, count, begin_ns, end_ns, share_time, run, error);
}

/* ---- metrics ---- */

static int add_cell(struct window *window, const struct run *run, const struct window_time *cell,
	unsigned wanted, struct error *error)
{
	int code = 0;

	for (unsigned d = 0; d < STATE_METRIC_COUNT && !code; d++) {
		const struct window_weight weight = {.context = cell->context,
			.metric = state_metrics_number(run, (enum state_metric)d),
			.samples = cell->records,
			.weight = cell->time_ns};

		if (wanted >> d & 1 && state_metrics_counts((enum state_metric)d, cell->state))
			code = window_put_weight(window, &weight, error);
	}
	return code;
}

int state_metrics_add_weights(struct window *window, struct run *run, const uint32_t *streams, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, unsigned wanted, struct error *error)
{
	struct window *times = NULL;
	const struct window_time *cells;
	size_t cell_count;
	int code = wanted ? window_new(&times, run, error) : 0;

	if (wanted && !code)
		code = state_metrics_add_times(times, run, streams, count, begin_ns, end_ns, error);
	if (!wanted || code) {
		window_free(times);
		return code;
	}
	cells = window_times(times, &cell_count);
	for (size_t i = 0; i < cell_count && !code; i++)
		code = add_cell(window, run, &cells[i], wanted, error);
	window_free(times);
	return code;
}
