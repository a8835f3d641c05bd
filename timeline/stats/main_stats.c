/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_stats.c - hpct-stats: where the time of a window went.
 */
#include <string.h>

#include "timeline/report/coverage.h"
#include "timeline/report/formula_columns.h"
#include "timeline/report/program.h"
#include "timeline/report/report_fit.h"
#include "timeline/stats/operations.h"
#include "timeline/stats/stats_ask.h"

static const struct report_column columns[] = {{"key", REPORT_COMPOSED}, {"time_ns", REPORT_DURATION},
	{"percent", REPORT_PERCENT}, {"records", REPORT_NUMBER}};
/* Keys may be long: in a table they come last. */
static const struct report_column table_columns[] = {{"percent", REPORT_PERCENT}, {"time", REPORT_DURATION},
	{"records", REPORT_NUMBER}, {"key", REPORT_COMPOSED}};

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
#define NUMBERS 3

static double percent_of(const struct stats *stats, uint64_t time_ns)
{
	return 100.0 * (double)time_ns / (double)stats->total_ns;
}

static void print_row(struct report *report, const struct stats *stats, const struct stats_row *row,
	bool is_table, const struct formula_columns *formulas, double *numbers)
{
	const double own[NUMBERS] = {
		(double)row->time_ns, percent_of(stats, row->time_ns), (double)row->records};

	memcpy(numbers, own, sizeof own);
	if (!is_table)
		report_string(report, row->key);
	else
		report_real(report, own[1]);
	report_number(report, row->time_ns);
	if (!is_table)
		report_real(report, own[1]);
	report_number(report, row->records);
	formula_columns_fill(formulas, numbers, numbers + NUMBERS + formulas->count);
	formula_columns_report(formulas, report, numbers);
	if (is_table)
		report_string(report, report_shown_path(row->key));
	report_row(report);
}

/* The fixed columns, with those of formulas behind the numbers. */
static const struct report_column *columns_of(
	bool is_table, const struct formula_columns *formulas, struct arena *arena)
{
	size_t keys_last = is_table ? 1 : 0;
	struct report_column *all = arena_calloc(arena, 4 + formulas->count, sizeof *all);

	if (!all)
		return NULL;
	memcpy(all, is_table ? table_columns : columns, sizeof columns);
	for (size_t i = 0; i < formulas->count; i++)
		all[4 - keys_last + i] = (struct report_column){formulas->columns[i].name, REPORT_NUMBER};
	if (is_table)
		all[3 + formulas->count] = table_columns[3];
	return all;
}

/* @n: of all rows together. */
static double *numbers_new(
	const struct stats *stats, const struct formula_columns *formulas, struct arena *arena)
{
	double *numbers = arena_calloc(arena, 2 * (NUMBERS + formulas->count), sizeof *numbers);
	double *whole = numbers ? numbers + NUMBERS + formulas->count : NULL;

	if (!numbers)
		return NULL;
	whole[0] = (double)stats->total_ns;
	whole[1] = 100;
	for (size_t i = 0; i < stats->count; i++)
		whole[2] += (double)stats->rows[i].records;
	formula_columns_fill(formulas, whole, whole);
	return numbers;
}

static int print_rows(struct program_call *call, const struct stats *stats,
	const struct formula_columns *formulas, struct error *error)
{
	bool is_table = call->format == REPORT_TABLE;
	const struct report_column *all = columns_of(is_table, formulas, &call->arena);
	double *numbers = numbers_new(stats, formulas, &call->arena);
	struct report *report;
	int rc = all && numbers ? 0 : error_memory(error);

	if (rc == 0)
		rc = report_open(
			&report, stdout, call->format, "hpct-stats", all, 4 + formulas->count, error);
	if (rc < 0)
		return rc;
	if (is_table)
		print_coverage(call, stats);
	for (size_t i = 0; i < stats->count && i < select_top(call->select); i++)
		print_row(report, stats, &stats->rows[i], is_table, formulas, numbers);
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
	for (size_t i = 0; i < operations.count && i < select_top(call->select); i++)
		print_operation(report, call->run, &operations.rows[i]);
	/* of a filter that nothing matches, a header and a sentence: zeros would look like an answer */
	if (operations.count || !select_has_record_filter(call->select)) {
		for (uint32_t n = 0; n <= operations.queues; n++)
			print_figure(report, "queues at work", n, 0, operations.at_work_ns[n], true);
		print_figure(report, "queued at most", 0, operations.queued_max, 0, false);
	}
	return report_close(report, error);
}

static const struct program_option options[] = {
	{0, "operations", NULL, "GPU queues: kernels, copies, launch delays, busy queues"},
};

static int work(struct program_call *call, struct error *error)
{
	struct stats stats = {0};
	struct formula_columns formulas = {0};
	enum stats_by by = STATS_FUNCTION;
	int rc = stats_ask_by(call->select, &by, error);

	if (rc == 0)
		rc = formula_columns_init(&formulas, call->select, NUMBERS, &call->arena, error);
	if (rc == 0 && *(bool *)call->own) {
		rc = select_refuse(call->select, "by depth metric", "--operations", error);
		if (rc == 0 && formulas.count)
			rc = error_set(
				error, ERROR_USAGE, "--metric has no effect with --operations; leave it out");
		if (rc == 0)
			rc = print_operations(call, error);
	} else if (rc == 0) {
		rc = stats_ask(&stats, call->run, call->select, &call->arena, error);
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
	.refused = "min",
	.options = options,
	.option_count = sizeof options / sizeof options[0],
	.notes = "KEY is function (default), path, module, line, loop, inline, file, instruction, "
		 "script, stream or op.\n"
		 "Each sample or span gets its part of its stream's timeline; states are rows too, and "
		 "all rows sum to streams x window.\n"
		 "--metric REALTIME counts the wall time of threads, working or waiting; BLOCKED, "
		 "RUNNABLE and SYNC count only waits, by the waiting call path.\n"
		 "--metric 'each = $0 / $2' adds a column: $0 is the row's time_ns, $1 percent, $2 records; "
		 "@n of "
		 "all rows.\n",
	.work = work,
};

int main(int argc, char **argv)
{
	bool is_operations = false;

	return program_main(&program, &is_operations, argc, argv);
}
