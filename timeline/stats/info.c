/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.c - a run's facts, as rows.
 */
#include "timeline/stats/info.h"
#include "timeline/stats/info_internal.h"

#include <stdlib.h>
#include <time.h>

#include "timeline/report/coverage.h"
#include "timeline/sum/state_check.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct report_column pair_columns[] = {{"key", REPORT_TEXT}, {"value", REPORT_TEXT}};

/* ---- the run ---- */

static void put_pair(struct report *report, const char *key, const char *value)
{
	report_string(report, key);
	report_string(report, value ? value : "");
	report_row(report);
}

static void put_number(struct report *report, const char *key, uint64_t value)
{
	report_string(report, key);
	report_number(report, value);
	report_row(report);
}

uint64_t info_from_origin(const struct run *run, uint64_t time_ns)
{
	uint64_t origin_ns = run_origin_ns(run);

	return time_ns > origin_ns ? time_ns - origin_ns : 0;
}

/* On both clocks of the first host: programs print times of either. */
static void put_wall(struct report *report, const struct run *run)
{
	uint64_t wall_ns = run_wall_ns(run);
	time_t seconds = (time_t)(wall_ns / 1000000000);
	char text[64], day[32];
	struct tm utc;

	if (wall_ns == 0 || !gmtime_r(&seconds, &utc))
		return;
	strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text, sizeof text, "%s.%09lluZ", day, (unsigned long long)(wall_ns % 1000000000));
	put_pair(report, "origin_time", text);
	put_number(report, "origin_monotonic_ns", run_origin_ns(run));
}

/* Where hosts have clocks of their own: what was added to each one's times, and how sure that is. */
static void put_clocks(struct report *report, const struct run *run)
{
	for (unsigned store = 0; store < run_store_count(run); store++) {
		struct run_clock clock = run_clock(run, store);
		char key[320], value[32];

		if (clock.is_same)
			continue;
		snprintf(key, sizeof key, "clock_shift_ns:%s", clock.host);
		snprintf(value, sizeof value, "%lld", (long long)clock.shift_ns);
		put_pair(report, key, value);
		snprintf(key, sizeof key, "clock_error_ns:%s", clock.host);
		if (clock.is_known)
			put_number(report, key, clock.error_ns);
		else
			put_pair(report, key, "not known");
	}
}

/* Each store has facts of its own collector, and a run has as many stores as hosts. */
enum pooling {
	POOL_FIRST, /* of the first store that has it */
	POOL_SUM,
	POOL_FAILED, /* the first that is not 0 */
	POOL_RATE    /* the mean, by sampled CPU time */
};

static const struct {
	const char *key;
	enum pooling how;
} told[] = {{"launch", POOL_FIRST}, {"events", POOL_FIRST}, {"recorder", POOL_FIRST}, {"exit", POOL_FAILED},
	{"signal", POOL_FIRST}, {"summary", POOL_FIRST}, {"collector_pid", POOL_FIRST},
	{"processes", POOL_SUM}, {"threads", POOL_SUM}, {"sampler", POOL_FIRST}, {"rate_asked", POOL_FIRST},
	{"rate_got", POOL_RATE}, {"signals", POOL_SUM}, {"signals_foreign", POOL_SUM}, {"overruns", POOL_SUM},
	{"samples_shared", POOL_SUM}, {"switches_read", POOL_SUM}, {"switches_lost", POOL_SUM},
	{"switches_refused", POOL_SUM}, {"stacks_refused", POOL_SUM}, {"gpu_operations", POOL_SUM},
	{"gpu_launches", POOL_SUM}, {"gpu_unmatched", POOL_SUM}, {"gpu_untimed", POOL_SUM},
	{"gpu_lost", POOL_SUM}, {"recursion", POOL_FIRST}, {"sources", POOL_FIRST},
	{"file_system", POOL_FIRST}, {"copied_from", POOL_FIRST}, {"sampled_cpu_ns", POOL_SUM},
	{"handler_ns", POOL_SUM}, {"collector_cpu_ns", POOL_SUM}, {"never_started", POOL_SUM},
	{"threads_unmonitored", POOL_SUM}, {"children_unmonitored", POOL_SUM},
	{"processes_refused", POOL_SUM}, {"faults_caught", POOL_SUM}, {"program_cpu_ns", POOL_SUM},
	{"values_enabled_ns", POOL_SUM}, {"values_running_ns", POOL_SUM}, {"gpu_graphs_by_node", POOL_SUM},
	{"gpu_samples", POOL_SUM}, {"gpu_samples_lost", POOL_SUM}, {"gpu_unsampled", POOL_FIRST},
	{"gpu_uncounted", POOL_FIRST}, {"gpu_unwatched", POOL_FIRST}, {"problem", POOL_FIRST}};

static const char *meta_at(const struct run *run, unsigned store, const char *key)
{
	return store_reader_meta(run_store(run, store), key);
}

static uint64_t number_at(const struct run *run, unsigned store, const char *key)
{
	const char *text = meta_at(run, store, key);

	return text ? strtoull(text, NULL, 10) : 0;
}

static uint64_t pooled(const struct run *run, const char *key, enum pooling how)
{
	uint64_t sum = 0;
	double weight = 0, of = 0;

	for (unsigned i = 0; i < run_store_count(run); i++) {
		uint64_t number = number_at(run, i, key);
		double cpu_ns = (double)number_at(run, i, "sampled_cpu_ns");

		sum += how == POOL_SUM || sum == 0 ? number : 0;
		weight += cpu_ns;
		of += cpu_ns * (double)number;
	}
	return how == POOL_RATE ? (uint64_t)(weight > 0 ? of / weight + 0.5 : 0) : sum;
}

static void put_told(struct report *report, const struct run *run)
{
	for (size_t i = 0; i < COUNT(told); i++) {
		const char *first = NULL;

		for (unsigned store = 0; store < run_store_count(run) && !first; store++)
			first = meta_at(run, store, told[i].key);
		if (first && (told[i].how == POOL_FIRST || run_store_count(run) == 1))
			put_pair(report, told[i].key, first);
		else if (first)
			put_number(report, told[i].key, pooled(run, told[i].key, told[i].how));
	}
}

static bool is_complete(const struct run *run)
{
	bool is_all = true;

	for (unsigned i = 0; i < run_store_count(run); i++) {
		const char *state = meta_at(run, i, "state");

		is_all &= state && strcmp(state, "complete") == 0;
	}
	return is_all;
}

static void put_provenance(struct report *report, const struct run *run)
{
	put_number(report, "schema", 1);
	put_pair(report, "format", run_meta(run, "format"));
	put_pair(report, "run", run_path(run));
	put_pair(report, "command", run_meta(run, "command"));
	put_pair(report, "host", run_meta(run, "host"));
	put_told(report, run);
	put_pair(report, "state",
		run_is_live(run)   ? "recording"
		: is_complete(run) ? "complete"
				   : "cut short");
	put_wall(report, run);
	put_number(report, "stores", run_store_count(run));
	put_clocks(report, run);
}

struct totals {
	uint64_t streams, records[STORE_TRACK_COUNT], lost, dropped, partial, open_streams, newest_ns;
};

static struct totals sum_streams(struct run *run)
{
	struct totals totals = {0};

	for (uint32_t i = 0; i < run_stream_count(run); i++) {
		const struct store_stream *s = &run_stream_peek_unnamed(run, i)->s;

		for (int track = 0; track < STORE_TRACK_COUNT; track++) {
			totals.records[track] += s->count[track];
			totals.dropped += s->dropped[track];
			if (s->complete_ns[track] != STORE_OPEN_NS &&
				s->complete_ns[track] > totals.newest_ns)
				totals.newest_ns = s->complete_ns[track];
		}
		totals.streams += s->kind != STORE_STREAM_PC && s->kind != STORE_STREAM_GAUGES;
		totals.lost += s->lost;
		totals.partial += s->partial;
		totals.open_streams += s->end_ns == STORE_OPEN_NS;
	}
	return totals;
}

static uint64_t count_modules(const struct run *run)
{
	uint64_t modules = 0;

	for (unsigned i = 0; i < run_store_count(run); i++) {
		uint32_t count;

		store_reader_modules(run_store(run, i), &count);
		modules += count > 0 ? count - 1 : 0; /* the reserved one */
	}
	return modules;
}

/* How far the complete time is behind the present or, if that is unknown, behind the newest complete record.
 */
static void put_live(struct report *report, const struct run *run, const struct totals *totals)
{
	uint64_t now_ns = run_now_ns(run), end_ns = run_end_ns(run);

	if (!run_is_live(run))
		return;
	if (now_ns < totals->newest_ns)
		now_ns = totals->newest_ns;
	put_number(report, "streams_open", totals->open_streams);
	put_number(report, "behind_ns", now_ns > end_ns ? now_ns - end_ns : 0);
}

static void put_archived(struct report *report, const struct run *run)
{
	unsigned archived = 0;

	for (unsigned i = 0; i < run_store_count(run); i++)
		archived += store_reader_is_archive(run_store(run, i));
	if (archived)
		put_number(report, "archived", archived);
}

static void put_counts(struct report *report, struct run *run, const struct coverage *coverage)
{
	struct totals totals = sum_streams(run);
	char percent[32];

	put_number(report, "begin_ns", info_from_origin(run, run_begin_ns(run)));
	put_number(report, "end_ns", info_from_origin(run, run_end_ns(run)));
	put_live(report, run, &totals);
	put_number(report, "streams", totals.streams);
	put_number(report, "contexts", run_context_count(run) - STORE_CONTEXT_FIRST);
	put_number(report, "modules", count_modules(run));
	put_number(report, "records",
		totals.records[STORE_SAMPLES] + totals.records[STORE_SPANS] + totals.records[STORE_VALUES]);
	put_number(report, "samples", totals.records[STORE_SAMPLES]);
	put_number(report, "spans", totals.records[STORE_SPANS]);
	put_number(report, "values", totals.records[STORE_VALUES]);
	put_number(report, "lost", totals.lost);
	put_number(report, "partial_stacks", totals.partial);
	if (coverage->thinned_ns) {
		put_number(report, "dropped", totals.dropped);
		put_number(report, "thinned_ns", coverage->thinned_ns);
	} else if (coverage->bare_ns) {
		put_number(report, "thinned_ns", coverage->bare_ns);
	}
	put_number(report, "bytes", run_bytes(run));
	put_archived(report, run);
	put_number(report, "monitored_ns", coverage->monitored_ns);
	snprintf(percent, sizeof percent, "%.2f", coverage_percent(coverage));
	put_pair(report, "coverage_percent", percent);
}

int info_print(struct run *run, const struct select *select, enum report_format format, FILE *out,
	struct error *error)
{
	struct coverage coverage;
	struct report *report = NULL;
	int rc = coverage_compute(&coverage, run, select, error);

	if (rc == 0)
		rc = report_open(&report, out, format, "hpct-info", pair_columns, COUNT(pair_columns), error);
	if (rc < 0)
		return rc;
	put_provenance(report, run);
	put_counts(report, run, &coverage);
	return report_close(report, error);
}

/* ---- streams ---- */

void info_put_optional(struct report *report, uint64_t value, bool is_there)
{
	if (is_there)
		report_number(report, value);
	else
		report_none(report);
}

const char *info_stream_kind(enum store_stream_kind kind)
{
	return store_stream_kind_name(kind);
}

static void put_stream(struct report *report, const struct run *run, const struct run_stream *stream)
{
	const struct store_stream *s = &stream->s;
	bool is_gpu = s->kind != STORE_STREAM_CPU;

	report_string(report, stream->text);
	report_string(report, info_stream_kind(s->kind));
	report_string(report, stream->host);
	info_put_optional(report, (uint32_t)s->rank, s->rank >= 0);
	info_put_optional(report, s->pid, s->pid != UINT32_MAX);
	info_put_optional(report, s->tid, !is_gpu && s->tid != 0);
	info_put_optional(report, s->device, is_gpu && s->device != UINT32_MAX);
	info_put_optional(
		report, s->queue, is_gpu && s->kind != STORE_STREAM_GAUGES && s->queue != UINT32_MAX);
	report_string(report, stream->name);
	report_number(report, info_from_origin(run, s->begin_ns));
	info_put_optional(report, info_from_origin(run, s->end_ns), s->end_ns != STORE_OPEN_NS);
	report_number(report, s->count[STORE_SAMPLES]);
	report_number(report, s->count[STORE_SPANS]);
	report_number(report, s->count[STORE_VALUES]);
	report_number(report, s->lost);
	report_row(report);
}

int info_print_streams(struct run *run, const struct select *select, enum report_format format, FILE *out,
	struct error *error)
{
	static const struct report_column columns[] = {{"stream", REPORT_TEXT},
		{"kind", REPORT_TEXT, 0, REPORT_WORTH_LITTLE}, {"host", REPORT_TEXT, 0, REPORT_WORTH_LITTLE},
		{"rank", REPORT_NUMBER, 0, REPORT_WORTH_LITTLE},
		{"pid", REPORT_NUMBER, 0, REPORT_WORTH_LITTLE},
		{"tid", REPORT_NUMBER, 0, REPORT_WORTH_LITTLE},
		{"device", REPORT_NUMBER, 0, REPORT_WORTH_LITTLE},
		{"queue", REPORT_NUMBER, 0, REPORT_WORTH_LITTLE}, {"name", REPORT_TEXT},
		{"begin_ns", REPORT_DURATION}, {"end_ns", REPORT_DURATION}, {"samples", REPORT_NUMBER},
		{"spans", REPORT_NUMBER}, {"values", REPORT_NUMBER}, {"lost", REPORT_NUMBER}};
	uint32_t count;
	const uint32_t *streams = select_all_streams(select, &count);
	struct report *report = NULL;
	int rc = report_open(&report, out, format, "hpct-info", columns, COUNT(columns), error);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < count && i < select_top(select); i++)
		put_stream(report, run, run_stream_peek(run, streams[i]));
	return report_close(report, error);
}

/* ---- check ---- */

int info_check(struct run *run, enum report_format format, FILE *out, struct error *error)
{
	struct report *report = NULL;
	uint64_t rollups = 0;
	int rc = 0;

	for (unsigned store = 0; store < run_store_count(run) && rc == 0; store++)
		rc = store_reader_check(run_store(run, store), error);
	if (rc == 0)
		rc = state_check(run, &rollups, error);
	if (rc == 0)
		rc = report_open(&report, out, format, "hpct-info", pair_columns, COUNT(pair_columns), error);
	if (rc < 0)
		return rc;
	put_pair(report, "check", "sound");
	put_number(report, "stores", run_store_count(run));
	put_number(report, "line_rollups", rollups);
	return report_close(report, error);
}
