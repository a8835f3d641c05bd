/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_stats.c - hpct-stats: where the time of a window went.
 */
#include <inttypes.h>
#include <string.h>

#include "timeline/report/coverage.h"
#include "timeline/report/formula_columns.h"
#include "timeline/report/program.h"
#include "timeline/report/report_fit.h"
#include "timeline/report/stream_groups.h"
#include "timeline/stats/clusters_report.h"
#include "timeline/stats/instructions.h"
#include "timeline/stats/live.h"
#include "timeline/stats/operations.h"
#include "timeline/stats/stats_ask.h"

static const struct report_column columns[] = {{"key", REPORT_COMPOSED}, {"time_ns", REPORT_DURATION},
	{"percent", REPORT_PERCENT}, {"records", REPORT_NUMBER}};
/* Keys may be long: in a table they come last. */
static const struct report_column table_columns[] = {{"of life", REPORT_PERCENT}, {"of wall", REPORT_PERCENT},
	{"time", REPORT_DURATION}, {"records", REPORT_NUMBER},
	{"key", REPORT_COMPOSED, 0, REPORT_WORTH_MOST}};

struct options {
	bool is_operations, has_absent;
	const char *at;	  /* a moment for MEMLEAK:live, or "peak"; NULL: the last */
	const char *when; /* a condition on a figure over time; NULL: none */
};

static void print_coverage(const struct program_call *call, const struct stats *stats)
{
	struct coverage coverage;
	char text[COVERAGE_TEXT_MAX];

	coverage_count(&coverage, call->run, call->select);
	coverage.monitored_ns = stats->monitored_ns;
	coverage.lived_ns = stats->lived_ns;
	coverage.bare_ns = stats->bare_ns;
	coverage.streams = stats->streams;
	coverage_print(&coverage, text);
	report_fit_say("%s", text);
}

/* The numbers of a row, for formulas. */
static const char *const number_names[STATS_NUMBERS] = {"time_ns", "percent", "records"};

static double percent_of(const struct stats *stats, uint64_t time_ns)
{
	return 100.0 * (double)time_ns / (double)stats->total_ns;
}

static void print_row(struct report *report, const struct stats *stats, const struct stats_row *row,
	const struct formula_columns *formulas, double *numbers)
{
	report_string(report, row->key);
	report_number(report, row->time_ns);
	report_real(report, percent_of(stats, row->time_ns));
	report_number(report, row->records);
	formula_columns_report(formulas, report, numbers);
	report_row(report);
}

static void numbers_fill(const struct stats *stats, const struct stats_row *row,
	const struct formula_columns *formulas, double *numbers)
{
	const double own[STATS_NUMBERS] = {
		(double)row->time_ns, percent_of(stats, row->time_ns), (double)row->records};

	memcpy(numbers, own, sizeof own);
	formula_columns_fill(formulas, numbers, numbers + STATS_NUMBERS + formulas->count);
}

/* The fixed columns, with those of formulas behind the numbers; keys may be long, so in a table they come
 * last. */
static const struct report_column *columns_of(
	bool is_table, const struct formula_columns *formulas, struct arena *arena)
{
	size_t fixed = is_table ? 5 : 4, before = 4;
	struct report_column *all = arena_calloc(arena, fixed + formulas->count, sizeof *all);

	if (!all)
		return NULL;
	memcpy(all, is_table ? table_columns : columns, fixed * sizeof *all);
	for (size_t i = 0; i < formulas->count; i++)
		all[before + i] = (struct report_column){formulas->columns[i].name, REPORT_NUMBER};
	if (is_table)
		all[before + formulas->count] = table_columns[before];
	return all;
}

/* @n: of all rows together. */
static double *numbers_new(
	const struct stats *stats, const struct formula_columns *formulas, struct arena *arena)
{
	double *numbers = arena_calloc(arena, 2 * (STATS_NUMBERS + formulas->count), sizeof *numbers);
	double *whole = numbers ? numbers + STATS_NUMBERS + formulas->count : NULL;

	if (!numbers)
		return NULL;
	stats_whole(stats, whole);
	formula_columns_fill(formulas, whole, whole);
	return numbers;
}

/* ---- the table: work, then states; time in which a stream was not there is no share of anything ---- */

static bool is_state(const struct stats_row *row)
{
	return row->function == UINT32_MAX && !extent_state_is_busy(row->state);
}

static void print_table_row(struct report *report, const struct stats *stats, const struct stats_row *row,
	const struct formula_columns *formulas, double *numbers)
{
	bool is_absent = is_state(row) && row->state == EXTENT_ABSENT;

	numbers_fill(stats, row, formulas, numbers);
	if (is_absent || !stats->lived_ns)
		report_none(report);
	else
		report_real(report, 100.0 * (double)row->time_ns / (double)stats->lived_ns);
	report_real(report, percent_of(stats, row->time_ns));
	report_number(report, row->time_ns);
	report_number(report, row->records);
	formula_columns_report(formulas, report, numbers);
	report_string(report, is_state(row) ? extent_state_word(row->state) : report_shown_path(row->key));
	report_row(report);
}

/* `foot`: rows of states, behind those of work. */
static void print_table(struct report *report, const struct stats *stats, uint64_t top, uint64_t foot,
	bool has_absent, const struct formula_columns *formulas, double *numbers)
{
	for (int states = 0; states < 2; states++) {
		top = states && foot > top ? foot : top;
		for (size_t i = 0; i < stats->count && top; i++) {
			const struct stats_row *row = &stats->rows[i];

			if (is_state(row) != states || (is_state(row) && row->state == EXTENT_ABSENT))
				continue;
			print_table_row(report, stats, row, formulas, numbers);
			top--;
		}
	}
	for (size_t i = 0; i < stats->count && top && has_absent; i++)
		if (is_state(&stats->rows[i]) && stats->rows[i].state == EXTENT_ABSENT)
			print_table_row(report, stats, &stats->rows[i], formulas, numbers);
}

static uint64_t work_rows(const struct stats *stats)
{
	uint64_t count = 0;

	for (size_t i = 0; i < stats->count; i++)
		count += !is_state(&stats->rows[i]);
	return count;
}

static int print_rows(struct program_call *call, const struct stats *stats,
	const struct formula_columns *formulas, struct error *error)
{
	const struct options *own = call->own;
	bool is_table = call->format == REPORT_TABLE;
	const struct report_column *all = columns_of(is_table, formulas, &call->arena);
	double *numbers = numbers_new(stats, formulas, &call->arena);
	struct report *report;
	int rc = all && numbers ? 0 : error_memory(error);

	if (rc == 0)
		rc = report_open(&report, stdout, call->format, "hpct-stats", all,
			(is_table ? 5 : 4) + formulas->count, error);
	if (rc < 0)
		return rc;
	if (is_table) {
		print_coverage(call, stats);
		print_table(report, stats, program_top(call),
			select_top(call->select) == UINT64_MAX ? UINT64_MAX : 0, own->has_absent, formulas,
			numbers);
		rc = report_close(report, error);
		program_say_left_out(call, work_rows(stats));
		return rc;
	}
	for (size_t i = 0; i < stats->count && i < select_top(call->select); i++) {
		numbers_fill(stats, &stats->rows[i], formulas, numbers);
		print_row(report, stats, &stats->rows[i], formulas, numbers);
	}
	return report_close(report, error);
}

/* ---- --operations ---- */

static const struct report_column operation_columns[] = {{"op", REPORT_TEXT}, {"key", REPORT_TEXT},
	{"count", REPORT_NUMBER}, {"total_ns", REPORT_DURATION}, {"p50_ns", REPORT_DURATION},
	{"p99_ns", REPORT_DURATION}, {"max_ns", REPORT_DURATION}, {"bytes", REPORT_SIZE},
	{"bytes_per_second", REPORT_SIZE}, {"delay_p50_ns", REPORT_DURATION},
	{"delay_p99_ns", REPORT_DURATION}};

static const struct report_column operation_table_columns[] = {{"op", REPORT_TEXT}, {"key", REPORT_TEXT},
	{"count", REPORT_NUMBER}, {"total", REPORT_DURATION}, {"p50", REPORT_DURATION},
	{"p99", REPORT_DURATION}, {"max", REPORT_DURATION}, {"bytes", REPORT_SIZE},
	{"per second", REPORT_SIZE}, {"delay p50", REPORT_DURATION}, {"delay p99", REPORT_DURATION}};

static void number_or_none(struct report *report, uint64_t value, bool is_there)
{
	if (is_there)
		report_number(report, value);
	else
		report_none(report);
}

static void print_operation(struct report *report, const struct run *run, const struct operations_row *row)
{
	double rate = row->total_ns ? (double)row->bytes / ((double)row->total_ns / 1e9) : 0;

	report_string(report, run_op_name(run, row->op));
	report_string(report, row->key);
	report_number(report, row->count);
	report_number(report, row->total_ns);
	report_number(report, row->p50_ns);
	report_number(report, row->p99_ns);
	report_number(report, row->max_ns);
	number_or_none(report, row->bytes, row->bytes > 0);
	number_or_none(report, (uint64_t)rate, row->bytes && row->total_ns);
	number_or_none(report, row->delay_p50_ns, row->launched > 0);
	number_or_none(report, row->delay_p99_ns, row->launched > 0);
	report_row(report);
}

static void print_figure(
	struct report *report, const char *op, uint64_t key, uint64_t count, uint64_t time_ns, bool is_time)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)key);
	report_string(report, op);
	report_string(report, is_time ? text : "");
	number_or_none(report, count, !is_time);
	number_or_none(report, time_ns, is_time);
	for (size_t i = 4; i < sizeof operation_columns / sizeof operation_columns[0]; i++)
		report_none(report);
	report_row(report);
}

static int print_operations(struct program_call *call, struct error *error)
{
	struct operations operations;
	struct report *report = NULL;
	int rc = operations_count(&operations, call->run, call->select, &call->arena, error);

	if (rc == 0)
		rc = report_open(&report, stdout, call->format, "hpct-stats-operations",
			call->format == REPORT_TABLE ? operation_table_columns : operation_columns,
			sizeof operation_columns / sizeof operation_columns[0], error);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < operations.count && i < program_top(call); i++)
		print_operation(report, call->run, &operations.rows[i]);
	/* of a filter that nothing matches, a header and a sentence: zeros would look like an answer */
	if (operations.count || !select_has_record_filter(call->select)) {
		for (uint32_t n = 0; n <= operations.queues; n++)
			print_figure(report, "queues at work", n, 0, operations.at_work_ns[n], true);
		print_figure(report, "queued at most", 0, operations.queued_max, 0, false);
	}
	rc = report_close(report, error);
	program_say_left_out(call, operations.count);
	return rc;
}

static int work_operations(struct program_call *call, struct error *error)
{
	int rc = select_refuse(call->select, "by depth", "--operations", error);

	if (rc == 0 && select_has_metric(call->select))
		rc = error_set(error, ERROR_USAGE, "--metric has no effect with --operations; leave it out");
	report_take_formulas(call->select, true);
	return rc ? rc : print_operations(call, error);
}

static int take_operations(void *own, const char *value, struct error *error)
{
	(void)value, (void)error;
	((struct options *)own)->is_operations = true;
	return 0;
}

static int take_absent(void *own, const char *value, struct error *error)
{
	(void)value, (void)error;
	((struct options *)own)->has_absent = true;
	return 0;
}

static const struct program_option options[] = {
	{0, "operations", NULL, "GPU queues: kernels, copies, launch delays, busy queues", take_operations},
	{0, "absent", NULL, "in the table also the time in which streams had not begun, or had ended",
		take_absent},
	{0, "at", "T", "of --metric " LIVE_METRIC ": memory in use at T, or at its peak",
		.to = offsetof(struct options, at)},
	{0, "when", "CONDITION", "only while a figure over time is so: resident>2GB, threads<8",
		.to = offsetof(struct options, when)},
};

/* ---- memory in use at a moment ---- */

static bool is_of_gpu(const struct program_call *call)
{
	return select_names_metric(call->select, LIVE_GPU_METRIC);
}

static int moment_of_peak(struct program_call *call, uint64_t *at_ns, int64_t *bytes, struct error *error)
{
	struct live_peak peak;
	struct live live;
	int rc;

	if (!is_of_gpu(call))
		return live_peak(at_ns, bytes, call->run, call->select, error);
	rc = live_gpu_compute(&live, &peak, call->run, call->select, 0, STATS_PATH, &call->arena, error);
	*at_ns = peak.at_ns;
	*bytes = peak.bytes;
	return rc;
}

static int find_moment(struct program_call *call, uint64_t *at_ns, struct error *error)
{
	const struct options *own = call->own;
	int64_t bytes;
	char *window;
	int rc;

	if (!own->at) {
		*at_ns = run_end_ns(call->run);
		return 0;
	}
	if (!strcmp(own->at, "peak"))
		return moment_of_peak(call, at_ns, &bytes, error);
	if (!*own->at || strstr(own->at, ".."))
		return error_set(error, ERROR_USAGE,
			"--at '%s': write one moment: 1.5s, -10s (from the end), @MARK, 14:32:05, or peak",
			own->at);
	window = arena_printf(&call->arena, "%s..+1ns", own->at);
	rc = window ? select_option(call->select, "time", window, error) : error_memory(error);
	rc = rc ? rc : select_bind(call->select, call->run, error);
	*at_ns = rc ? 0 : select_begin_ns(call->select);
	return rc;
}

static void say_live(const struct program_call *call, const struct live *live, uint64_t at_ns,
	uint64_t peak_ns, int64_t peak_bytes)
{
	char bytes[REPORT_HUMAN_MAX], at[REPORT_HUMAN_MAX], most[REPORT_HUMAN_MAX], when[REPORT_HUMAN_MAX];
	const uint64_t origin_ns = run_origin_ns(call->run);

	report_human_size(bytes, live->live_bytes > 0 ? (uint64_t)live->live_bytes : 0);
	report_human_size(most, (uint64_t)peak_bytes);
	report_human_duration(at, at_ns > origin_ns ? at_ns - origin_ns : 0);
	report_human_duration(when, peak_ns > origin_ns ? peak_ns - origin_ns : 0);
	report_fit_say("%s in use at %s; at most %s, at %s (--at peak)", bytes, at, most, when);
}

static int print_live(struct program_call *call, const struct live *live, struct error *error)
{
	static const struct report_column live_columns[] = {{"key", REPORT_COMPOSED},
		{"live_bytes", REPORT_FIGURES}, {"percent", REPORT_PERCENT},
		{"allocated_bytes", REPORT_NUMBER}, {"freed_bytes", REPORT_NUMBER}};
	static const struct report_column live_table[] = {{"in use", REPORT_SIZE}, {"share", REPORT_PERCENT},
		{"allocated", REPORT_SIZE}, {"freed", REPORT_SIZE},
		{"key", REPORT_COMPOSED, 0, REPORT_WORTH_MOST}};
	bool is_table = call->format == REPORT_TABLE;
	struct report *report;
	int rc = report_open(&report, stdout, call->format, "hpct-stats-live",
		is_table ? live_table : live_columns, 5, error);

	if (rc)
		return rc;
	for (size_t i = 0; i < live->count && i < program_top(call); i++) {
		const struct live_row *row = &live->rows[i];
		double share =
			live->live_bytes > 0 ? 100.0 * (double)row->live_bytes / (double)live->live_bytes : 0;
		char text[32];

		snprintf(text, sizeof text, "%lld", (long long)row->live_bytes);
		if (is_table) {
			report_number(report, row->live_bytes > 0 ? (uint64_t)row->live_bytes : 0);
		} else {
			report_string(report, row->key);
			report_string(report, text);
		}
		report_real(report, share);
		report_number(report, row->allocated_bytes);
		report_number(report, row->freed_bytes);
		if (is_table)
			report_string(report, report_shown_path(row->key));
		report_row(report);
	}
	rc = report_close(report, error);
	program_say_left_out(call, live->count);
	return rc;
}

static int work_live(struct program_call *call, enum stats_by by, struct error *error)
{
	const struct options *own = call->own;
	struct live_peak peak;
	uint64_t at_ns = 0;
	struct live live;
	int rc = 0;

	if (own->is_operations || own->when || select_has_time(call->select))
		return error_set(error, ERROR_USAGE,
			"--metric " LIVE_METRIC " or " LIVE_GPU_METRIC
			" is of one moment: give --at T, without --time, --when or --operations");
	report_take_formulas(call->select, true);
	rc = find_moment(call, &at_ns, error);
	if (rc == 0 && is_of_gpu(call)) {
		rc = live_gpu_compute(
			&live, &peak, call->run, call->select, at_ns + 1, by, &call->arena, error);
	} else if (rc == 0) {
		rc = live_peak(&peak.at_ns, &peak.bytes, call->run, call->select, error);
		if (rc == 0)
			rc = live_compute(&live, call->run, call->select, at_ns + 1, by, &call->arena, error);
	}
	if (rc)
		return rc;
	if (call->format == REPORT_TABLE)
		say_live(call, &live, at_ns, peak.at_ns, peak.bytes);
	return print_live(call, &live, error);
}

static int ask_when(struct program_call *call, struct stats *stats, struct error *error)
{
	const struct options *own = call->own;
	char text[REPORT_HUMAN_MAX];
	uint64_t met_ns;
	int rc = stats_ask_when(stats, call->run, call->select, own->when, call->format == REPORT_TABLE,
		&met_ns, &call->arena, error);

	if (rc)
		return rc;
	report_human_duration(text, met_ns);
	if (call->format == REPORT_TABLE) /* lines for programs are rows alone */
		report_fit_say(met_ns ? "%s for %s" : "%s never in this window", own->when, text);
	return 0;
}

/* ---- streams that do alike ---- */

static int work_clusters(struct program_call *call, struct error *error)
{
	const struct options *own = call->own;
	struct clusters clusters;
	size_t formulas;
	int rc = select_has_metric(call->select)
			 ? error_set(error, ERROR_USAGE,
				   "--metric has no effect with --by cluster; leave it out")
			 : 0;

	select_formulas(call->select, &formulas);
	if (rc == 0 && (own->is_operations || own->when || own->at || own->has_absent))
		rc = error_set(error, ERROR_USAGE,
			"--by cluster compares streams by time: leave out --operations, --when, --at and "
			"--absent");
	if (rc == 0 && formulas && call->format == REPORT_TABLE)
		rc = error_set(error, ERROR_USAGE,
			"--by cluster: the table has a row for each group; formulas are of streams, --format "
			"tsv");
	report_take_formulas(call->select, true);
	if (rc == 0)
		rc = coverage_require(call->run, call->select, error);
	if (rc == 0)
		rc = clusters_make(&clusters, call->run, call->select, NULL, 0, &call->arena, error);
	return rc ? rc
		  : clusters_report(&clusters, call->run, call->format, select_top(call->select),
			    &call->arena, error);
}

/* ---- samples of GPU instructions ---- */

static bool is_of_instructions(const struct select *select)
{
	return select_names_metric(select, INSTRUCTIONS_METRIC) ||
	       (select_by(select) && strcmp(select_by(select), "stall") == 0);
}

static void say_instructions(const struct instructions *instructions)
{
	const struct launch_samples_use *use = &instructions->use;
	double whole = instructions->weight / 100;

	if (instructions->exact + instructions->shared > 0)
		report_fit_say("samples of launches: %.1f %% of one call path, exact; %.1f %% of several, "
			       "shared by time",
			instructions->exact / whole, instructions->shared / whole);
	if (use->expected > 0 && use->period)
		report_fit_say("utilization %.1f %%: %.0f samples, each of %" PRIu64
			       " cycles, of %.0f that all multiprocessors give while kernels run; %" PRIu64
			       " lost",
			100 * use->taken / use->expected, use->taken / (double)use->period, use->period,
			use->expected / (double)use->period, use->lost);
	if (instructions->cut > 0)
		report_fit_say(
			"%.1f %% are of read-outs that the window cuts: the launches' time in it counts",
			instructions->cut / whole);
}

static int print_instructions(
	struct program_call *call, const struct instructions *instructions, struct error *error)
{
	static const struct report_column instruction_columns[] = {{"key", REPORT_COMPOSED},
		{"weight", REPORT_NUMBER}, {"percent", REPORT_PERCENT}, {"issued_percent", REPORT_PERCENT},
		{"latency_percent", REPORT_PERCENT}, {"stall", REPORT_TEXT},
		{"stall_percent", REPORT_PERCENT}, {"utilization_percent", REPORT_PERCENT}};
	static const struct report_column instruction_table[] = {{"share", REPORT_PERCENT},
		{"cycles", REPORT_NUMBER}, {"issued", REPORT_PERCENT}, {"latency", REPORT_PERCENT},
		{"stall", REPORT_TEXT}, {"of it", REPORT_PERCENT}, {"util", REPORT_PERCENT},
		{"key", REPORT_COMPOSED, 0, REPORT_WORTH_MOST}};
	bool is_table = call->format == REPORT_TABLE;
	struct report *report;
	int rc = report_open(&report, stdout, call->format, "hpct-stats-instructions",
		is_table ? instruction_table : instruction_columns, 8, error);

	for (size_t i = 0; rc == 0 && i < instructions->count && i < program_top(call); i++) {
		const struct instructions_row *row = &instructions->rows[i];
		double whole = instructions->weight / 100;

		if (is_table)
			report_real(report, row->weight / whole);
		else
			report_string(report, row->key);
		report_number(report, (uint64_t)(row->weight + 0.5));
		if (!is_table)
			report_real(report, row->weight / whole);
		report_real(report, 100 * row->issued / row->weight);
		report_real(report, 100 * row->latency / row->weight);
		report_string(report, row->stall);
		report_real(report, 100 * row->stalled / row->weight);
		if (row->expected > 0)
			report_real(report, 100 * row->weight / row->expected);
		else
			report_none(report);
		if (is_table)
			report_string(report, report_shown_path(row->key));
		report_row(report);
	}
	rc = rc ? rc : report_close(report, error);
	program_say_left_out(call, instructions->count);
	return rc;
}

static int work_instructions(struct program_call *call, struct error *error)
{
	const struct options *own = call->own;
	struct instructions instructions;
	int rc = select_refuse(call->select, "op", "--metric " INSTRUCTIONS_METRIC, error);

	if (rc == 0 && (own->is_operations || own->when || own->at || own->has_absent))
		rc = error_set(error, ERROR_USAGE,
			"samples of GPU instructions have no time of their own: leave out --operations, "
			"--when, --at and --absent");
	if (rc == 0 && select_has_metric(call->select) &&
		!select_names_metric(call->select, INSTRUCTIONS_METRIC))
		rc = error_set(error, ERROR_USAGE,
			"--by stall is of --metric " INSTRUCTIONS_METRIC "; leave the other metric out");
	report_take_formulas(call->select, true);
	if (rc == 0)
		rc = instructions_sum(&instructions, call->run, call->select, &call->arena, error);
	if (rc == 0 && call->format == REPORT_TABLE)
		say_instructions(&instructions);
	return rc ? rc : print_instructions(call, &instructions, error);
}

static bool is_by_group(const struct select *select)
{
	int by = select_by(select) ? stream_groups_find(select_by(select)) : -1;

	return by >= 0 && stream_groups_is_row((enum stream_groups_by)by);
}

/* Whether rows are keys of code, not groups of streams or marks. */
static bool has_code(const struct select *select)
{
	return !is_by_group(select) && !stats_marks_name(select_by(select));
}

static int work(struct program_call *call, struct error *error)
{
	const struct options *own = call->own;
	struct stats stats = {0};
	struct formula_columns formulas = {0};
	enum stats_by by = STATS_FUNCTION;
	int rc;

	if (select_by(call->select) && strcmp(select_by(call->select), "cluster") == 0)
		return work_clusters(call, error);
	if (is_of_instructions(call->select))
		return work_instructions(call, error);
	rc = has_code(call->select)
		     ? stats_ask_by(call->select, &by,
			       STREAM_GROUPS_ROW_NAMES ", stream, op, step, @MARK or cluster", error)
		     : 0;
	if (rc == 0 && (select_names_metric(call->select, LIVE_METRIC) || is_of_gpu(call)))
		return !has_code(call->select) ? error_set(error, ERROR_USAGE,
							 "--by %s: memory in use is by code, or by stream",
							 select_by(call->select))
					       : work_live(call, by, error);
	if (rc == 0 && own->at)
		rc = error_set(error, ERROR_USAGE,
			"--at is for --metric " LIVE_METRIC " and " LIVE_GPU_METRIC
			"; hpct-stacks has it for paths");
	if (rc == 0 && stats_marks_name(select_by(call->select)) && (own->is_operations || own->when))
		rc = error_set(error, ERROR_USAGE, "--by %s sums up marks: leave out --operations and --when",
			select_by(call->select));
	if (rc == 0 && own->is_operations)
		return work_operations(call, error);
	if (rc == 0)
		rc = formula_columns_init(
			&formulas, call->select, number_names, STATS_NUMBERS, &call->arena, error);
	if (rc == 0) {
		rc = own->when ? ask_when(call, &stats, error)
			       : stats_ask(&stats, call->run, call->select, call->format == REPORT_TABLE,
					 &call->arena, error);
		if (rc == 0)
			rc = print_rows(call, &stats, &formulas, error);
	}
	formula_columns_fini(&formulas);
	return rc;
}

static const struct program program = {
	.name = "hpct-stats",
	.about = "where the time of a window went",
	.operands = "[RUN]",
	.uses = PROGRAM_FORMAT | PROGRAM_SELECT | PROGRAM_RUN | PROGRAM_STATE_METRICS | PROGRAM_FORMULAS,
	.metric = LIVE_METRIC "," LIVE_GPU_METRIC "," INSTRUCTIONS_METRIC,
	.refused = "min",
	.options = options,
	.option_count = sizeof options / sizeof options[0],
	.notes =
		"KEY is function (default), path, module, line, loop, inline, file, instruction, "
		"script, stream, process, program, host, rank, op; step or @MARK: what the streams of its "
		"process did in each instance of a mark; or cluster: streams that do alike, and those "
		"that do not.\n"
		"Each sample or span gets its part of its stream's timeline; states are rows too. In tsv and "
		"json all rows sum to streams x window; the table has work first, then the states, as "
		"shares of the streams' life and of streams x window.\n"
		"--metric REALTIME counts the wall time of threads, working or waiting; BLOCKED, "
		"RUNNABLE and SYNC count only waits, by the waiting call path.\n"
		"--metric " LIVE_METRIC
		" says who has allocated the memory in use at a moment (-e MEMLEAK), " LIVE_GPU_METRIC
		" that of GPUs.\n"
		"--metric " INSTRUCTIONS_METRIC
		" has the samples of GPU instructions (-e gpu=nvidia,pc), by " INSTRUCTIONS_BY_NAMES ".\n"
		"--metric 'each = $0 / $2' adds a column: $0 is the row's time_ns, $1 percent, $2 records; "
		"@n of all rows.\n",
	.work = work,
};

int main(int argc, char **argv)
{
	struct options own = {0};

	return program_main(&program, &own, argc, argv);
}
