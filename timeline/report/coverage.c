/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.c - monitored time and losses of the selected streams, from their timelines.
 */
#include "timeline/report/coverage.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "timeline/report/report.h"
#include "timeline/sum/all_streams_sum.h"
#include "timeline/sum/parallel_sum.h"

#define BATCH 256

static bool is_monitored(enum extent_state state)
{
	return state != EXTENT_ABSENT && state != EXTENT_UNMONITORED;
}

/* Adds up monitored time of one stream until there is some. */
static int find_monitored(struct run *run, uint32_t stream, const struct select *select,
	uint64_t *monitored_ns, struct error *error)
{
	struct extent extents[BATCH];
	struct extent_walk *walk;
	long count = extent_open(&walk, run, stream, select_begin_ns(select), select_end_ns(select), error);

	if (count < 0)
		return (int)count;
	while (*monitored_ns == 0 && (count = extent_next(walk, extents, BATCH, error)) > 0)
		for (long i = 0; i < count; i++)
			if (is_monitored(extents[i].state))
				*monitored_ns += extents[i].end_ns - extents[i].begin_ns;
	extent_close(walk);
	return count < 0 ? (int)count : 0;
}

/* As far as 64 bits say it. */
static void add_time(uint64_t *sum_ns, uint64_t time_ns)
{
	if (__builtin_add_overflow(*sum_ns, time_ns, sum_ns))
		*sum_ns = UINT64_MAX;
}

static int take_sum(
	void *own, const struct extent *key, uint64_t time_ns, uint64_t records, struct error *error)
{
	struct coverage *coverage = own;

	(void)records, (void)error;
	if (key->state != EXTENT_ABSENT)
		add_time(&coverage->lived_ns, time_ns);
	if (is_monitored(key->state))
		add_time(&coverage->monitored_ns, time_ns);
	if (key->op == STORE_OP_THINNED)
		add_time(&coverage->bare_ns, time_ns);
	return 0;
}

static int take_piece(void *own, const struct extent *extent, struct error *error)
{
	return take_sum(own, extent, extent->end_ns - extent->begin_ns, 0, error);
}

static uint64_t overlap_ns(uint64_t begin_ns, uint64_t end_ns, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t first_ns = begin_ns > from_ns ? begin_ns : from_ns,
		 last_ns = end_ns < to_ns ? end_ns : to_ns;

	return last_ns > first_ns ? last_ns - first_ns : 0;
}

/* Streams are sorted by host, so those of a store are mostly adjacent. Two hosts may both differ from the
 * first one. */
static void count_clocks(
	struct coverage *coverage, const struct run *run, const uint32_t *streams, uint32_t count)
{
	uint64_t error_ns[2] = {0, 0}; /* the largest two */
	bool has_first = false, is_known = true;
	unsigned last = UINT_MAX;

	for (uint32_t i = 0; i < count; i++) {
		unsigned store = run_stream(run, streams[i])->store;
		struct run_clock clock;

		if (store == last)
			continue;
		last = store;
		clock = run_clock(run, store);
		coverage->clocks += clock.is_same ? !has_first : 1;
		has_first |= clock.is_same;
		is_known &= clock.is_known;
		if (clock.error_ns > error_ns[1])
			error_ns[1] = clock.error_ns;
		if (error_ns[1] > error_ns[0]) {
			error_ns[1] = error_ns[0];
			error_ns[0] = clock.error_ns;
		}
	}
	coverage->clock_ns = is_known ? error_ns[0] + error_ns[1] : UINT64_MAX;
}

/* Some streams ended before the others were thinned last. */
static uint64_t thinned_in(
	const struct run_part *part, const struct store_stream *stream, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t until_ns = stream->thinned_ns < stream->end_ns ? stream->thinned_ns : stream->end_ns;

	return overlap_ns(
		run_part_time(part, stream->begin_ns), run_part_time(part, until_ns), begin_ns, end_ns);
}

void coverage_count(struct coverage *coverage, struct run *run, const struct select *select)
{
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);
	uint64_t begin_ns = select_begin_ns(select), end_ns = select_end_ns(select);

	*coverage = (struct coverage){.streams = count};
	for (uint32_t i = 0; i < count; i++) {
		const struct run_part *part;
		const struct store_stream *stream = run_stored_stream(run, streams[i], &part);

		if (stream->thinned_ns)
			coverage->thinned_ns += thinned_in(part, stream, begin_ns, end_ns);
		coverage->lost += stream->lost;
		coverage->partial += stream->partial;
		coverage->samples += stream->count[STORE_SAMPLES];
	}
	if (run_store_count(run) > 1)
		count_clocks(coverage, run, streams, count);
}

/* A stream's time as the three rows that are of interest. */
static int share_times(void *own, struct window *window, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	struct error *error)
{
	struct coverage sums = {0};
	const struct state_sum_sink sink = {.own = &sums, .piece = take_piece, .sum = take_sum};
	int code = state_sum(own, stream, begin_ns, end_ns, 63, &sink, error);
	const struct window_time rows[] = {
		{.state = EXTENT_WORK, .time_ns = sums.monitored_ns - sums.bare_ns},
		{.state = EXTENT_UNKNOWN, .op = STORE_OP_THINNED, .time_ns = sums.bare_ns},
		{.state = EXTENT_UNMONITORED, .time_ns = sums.lived_ns - sums.monitored_ns},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows && !code; i++)
		code = window_put_time(window, &rows[i], error);
	return code;
}

static int add_lines(struct coverage *coverage, struct run *run, const uint32_t *streams, uint32_t count,
	const struct select *select, struct error *error)
{
	struct window *window;
	const struct window_time *rows;
	size_t row_count;
	int code = window_new(&window, run, error);

	if (code)
		return code;
	code = parallel_sum_streams(window, run, streams, count, select_begin_ns(select),
		select_end_ns(select), share_times, run, error);
	rows = window_times(window, &row_count);
	for (size_t i = 0; i < row_count; i++)
		take_sum(coverage, &(struct extent){.state = rows[i].state, .op = rows[i].op},
			rows[i].time_ns, 0, error);
	window_free(window);
	return code;
}

int coverage_compute(
	struct coverage *coverage, struct run *run, const struct select *select, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);
	const struct state_sum_sink sink = {.own = coverage, .piece = take_piece, .sum = take_sum};
	int code;

	coverage_count(coverage, run, select);
	code = all_streams_sum(
		run, streams, count, select_begin_ns(select), select_end_ns(select), &sink, NULL, error);
	if (code)
		return code < 0 ? code : 0;
	return add_lines(coverage, run, streams, count, select, error);
}

/* In all of the run nothing was monitored, but there are figures over time. */
static bool has_figures_alone(const struct run *run, const struct select *select)
{
	return run_timed_count(run) < run_stream_count(run) && select_begin_ns(select) <= run_begin_ns(run) &&
	       select_end_ns(select) >= run_end_ns(run);
}

int coverage_empty(struct run *run, const struct select *select, struct error *error)
{
	const uint64_t origin_ns = run_origin_ns(run);

	if (has_figures_alone(run, select))
		return error_set(error, ERROR_EMPTY,
			"%s: nothing was monitored but figures over time; hpct-plot and hpct-view show them",
			run_path(run));

	return error_set(error, ERROR_EMPTY,
		"%s: nothing was monitored from %.9f s to %.9f s in the chosen streams; the run covers %.9f "
		"s to "
		"%.9f s",
		run_path(run), ((double)select_begin_ns(select) - (double)origin_ns) / 1e9,
		((double)select_end_ns(select) - (double)origin_ns) / 1e9,
		((double)run_begin_ns(run) - (double)origin_ns) / 1e9,
		((double)run_end_ns(run) - (double)origin_ns) / 1e9);
}

/* Streams without time, which nothing monitors: gauges, PC samples. */
static bool has_others(const struct run *run, const struct select *select)
{
	uint32_t count;
	const uint32_t *streams = select_all_streams(select, &count);
	bool any = false;

	for (uint32_t i = 0; i < count; i++) {
		const struct store_stream *s = &run_stream(run, streams[i])->s;

		any |= s->begin_ns < select_end_ns(select) && s->end_ns > select_begin_ns(select);
	}
	return any;
}

int coverage_require(struct run *run, const struct select *select, struct error *error)
{
	uint32_t count;
	const uint32_t *streams = select_streams(select, &count);
	uint64_t monitored_ns = 0;
	int rc = 0;

	for (uint32_t i = 0; i < count && rc == 0 && monitored_ns == 0; i++)
		rc = find_monitored(run, streams[i], select, &monitored_ns, error);
	if (rc < 0 || monitored_ns || (!count && has_others(run, select)))
		return rc < 0 ? rc : 0;
	return coverage_empty(run, select, error);
}

double coverage_percent(const struct coverage *coverage)
{
	return coverage->lived_ns ? 100.0 * (double)coverage->monitored_ns / (double)coverage->lived_ns : 0.0;
}

void coverage_print(const struct coverage *coverage, char text[COVERAGE_TEXT_MAX])
{
	char monitored[REPORT_HUMAN_MAX], lived[REPORT_HUMAN_MAX], other[REPORT_HUMAN_MAX];
	size_t length;

	report_human_duration(monitored, coverage->monitored_ns);
	report_human_duration(lived, coverage->lived_ns);
	snprintf(text, COVERAGE_TEXT_MAX,
		"%u stream%s, %s of %s monitored (%.2f %%), %llu record%s lost, %llu of %llu stacks partial",
		coverage->streams, coverage->streams == 1 ? "" : "s", monitored, lived,
		coverage_percent(coverage), (unsigned long long)coverage->lost,
		coverage->lost == 1 ? "" : "s", (unsigned long long)coverage->partial,
		(unsigned long long)coverage->samples);
	if (coverage->clocks > 1) {
		length = strlen(text);
		report_human_duration(other, coverage->clock_ns);
		snprintf(text + length, COVERAGE_TEXT_MAX - length, ", clocks of %u hosts %s%s",
			coverage->clocks,
			coverage->clock_ns == UINT64_MAX ? "put together with an error not known" : "within ",
			coverage->clock_ns == UINT64_MAX ? "" : other);
	}
	if (!coverage->thinned_ns && !coverage->bare_ns)
		return;
	report_human_duration(other, coverage->thinned_ns ? coverage->thinned_ns : coverage->bare_ns);
	length = strlen(text);
	snprintf(text + length, COVERAGE_TEXT_MAX - length, ", %s thinned (%s)", other,
		coverage->thinned_ns
			? "known by rollups, as far as they lie whole in the window"
			: "records were dropped, and their sums are not in this part of the run");
}
