/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_stats.c - hpct-stats: where the time of a window went.
 */
#include "timeline/coverage.h"
#include "timeline/program.h"
#include "timeline/stats.h"

static const struct report_column columns[] = {{"key", REPORT_COMPOSED}, {"time_ns", REPORT_DURATION},
	{"percent", REPORT_PERCENT}, {"records", REPORT_NUMBER}};
/* Keys may be long: in a table they come last. */
static const struct report_column table_columns[] = {{"percent", REPORT_PERCENT}, {"time", REPORT_DURATION},
	{"records", REPORT_NUMBER}, {"key", REPORT_COMPOSED}};

static int find_by(const struct select *select, enum stats_by *by, struct error *error)
{
	const char *name = select_by(select);
	int found = name ? stats_by_find(name) : STATS_FUNCTION;

	if (found < 0)
		return error_set(error, ERROR_USAGE, "--by %s: say " STATS_BY_NAMES ", stream or op", name);
	*by = (enum stats_by)found;
	return 0;
}

static void print_coverage(const struct program_call *call, const struct stats *stats)
{
	struct coverage coverage;
	char text[COVERAGE_TEXT_MAX];

	coverage_count(&coverage, call->run, call->select);
	coverage.monitored_ns = stats->monitored_ns;
	coverage_print(&coverage, text);
	printf("%s\n", text);
}

static void print_row(
	struct report *report, const struct stats *stats, const struct stats_row *row, bool is_table)
{
	if (!is_table)
		report_string(report, row->key);
	else
		report_real(report, 100.0 * (double)row->time_ns / (double)stats->total_ns);
	report_number(report, row->time_ns);
	if (!is_table)
		report_real(report, 100.0 * (double)row->time_ns / (double)stats->total_ns);
	report_number(report, row->records);
	if (is_table)
		report_string(report, row->key);
	report_row(report);
}

static int work(struct program_call *call, struct error *error)
{
	bool is_table = call->format == REPORT_TABLE;
	struct report *report = NULL;
	struct stats stats = {0};
	enum stats_by by = STATS_FUNCTION;
	int rc = find_by(call->select, &by, error);

	if (rc == 0)
		rc = stats_of_selection(&stats, call->run, call->select, by, &call->arena, error);
	if (rc == 0 && stats.monitored_ns == 0)
		rc = coverage_empty(call->run, call->select, error);
	if (rc == 0)
		rc = report_open(&report, stdout, call->format, "hpct-stats",
			is_table ? table_columns : columns, 4, error);
	if (rc < 0)
		return rc;
	if (is_table)
		print_coverage(call, &stats);
	for (size_t i = 0; i < stats.count && i < select_top(call->select); i++)
		print_row(report, &stats, &stats.rows[i], is_table);
	return report_close(report, error);
}

static const struct program program = {
	.name = "hpct-stats",
	.about = "where the time of a window went",
	.operands = "[RUN]",
	.uses = PROGRAM_FORMAT | PROGRAM_SELECT | PROGRAM_RUN,
	.refused = "metric min",
	.notes = "KEY is function (default), path, module, line, loop, inline, file, instruction, stream or "
		 "op.\nTime is what each sample or "
		 "span\n"
		 "owns of its stream's line; states are rows too, and all rows sum to streams x window.\n",
	.work = work,
};

int main(int argc, char **argv)
{
	return program_main(&program, NULL, argc, argv);
}
