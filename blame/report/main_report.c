/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_report.c - hpct-report: one page about a run or a group of runs, as table, TSV, JSON or HTML, and
 * gates for nightly tests. Runs are read one after the other; nothing is printed until all of them are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blame/report/run_page_html.h"
#include "timeline/names/names_fill.h"
#include "timeline/report/program.h"
#include "timeline/report/report_fit.h"
#include "timeline/report/terminal.h"
#include "timeline/sum/mpi_ranks.h"

#define RUNS_MAX 1000u

struct choice {
	const char *gate; /* file; NULL: none */
	enum report_format format;
	bool is_html;
};

/* Runs that have a page together: all of them, or those of one list RUN,RUN,... */
struct group {
	const char *name; /* "*": all */
	uint32_t first, count;
	struct run_page page;
};

/* What is made of the runs so far. */
struct pages {
	const char **names; /* of the runs; NULL: the newest */
	uint32_t name_count;
	struct group *groups;
	size_t group_count;
	struct run_page *list;
	uint32_t count;
	struct gates gates;
	struct error gate_error; /* of the first run with a line that does not hold */
	bool is_gate_hit;
	FILE *html; /* the runs' sections; NULL: another format */
	char *html_text;
	size_t html_size;
};

static int take_format(void *own, const char *value, struct error *error)
{
	struct choice *choice = own;
	int format = report_format_find(strcmp(value, "text") == 0 ? "table" : value);

	choice->is_html = strcmp(value, "html") == 0;
	if (format < 0 && !choice->is_html)
		return error_set(error, ERROR_USAGE, "--format %s: write table, tsv, json or html", value);
	choice->format = choice->is_html ? REPORT_TABLE : (enum report_format)format;
	return 0;
}

/* ---- rows ---- */

static const struct report_column columns[] = {{"section", REPORT_TEXT}, {"key", REPORT_TEXT},
	{"time_ns", REPORT_DURATION}, {"percent", REPORT_PERCENT}, {"count", REPORT_NUMBER},
	{"path", REPORT_COMPOSED}, {"text", REPORT_COMPOSED, 0, REPORT_WORTH_MOST}, {"run", REPORT_TEXT},
	{"runs", REPORT_NUMBER}, {"least", REPORT_FIGURES}, {"most", REPORT_FIGURES},
	{"most_run", REPORT_TEXT}};
#define SCRIPT_COLUMNS (sizeof columns / sizeof *columns)
#define TABLE_COLUMNS 7u
static const struct report_column group_columns[] = {{"section", REPORT_TEXT}, {"key", REPORT_TEXT},
	{"mean", REPORT_FIGURES}, {"least", REPORT_FIGURES}, {"most", REPORT_FIGURES},
	{"most in", REPORT_TEXT}, {"path", REPORT_COMPOSED}, {"text", REPORT_COMPOSED, 0, REPORT_WORTH_MOST}};

static void put_figures(struct report *report, const struct run_page_row *row)
{
	report_string(report, row->section);
	report_string(report, row->key);
	if (row->has_time)
		report_number(report, row->time_ns);
	else
		report_none(report);
	if (row->has_percent)
		report_real(report, row->percent);
	else
		report_none(report);
	if (row->has_count)
		report_number(report, row->count);
	else
		report_none(report);
	report_string(report, row->path);
	report_string(report, row->text);
}

/* The columns that tables have not. */
static void put_spread(
	struct report *report, const struct run_page_row *row, const char *name, const struct run_page *pages)
{
	report_string(report, name);
	if (row->runs) {
		report_number(report, row->runs);
		report_figure(report, row->least);
		report_figure(report, row->most);
		report_string(report, pages[row->most_run].name);
	} else {
		for (int i = 0; i < 4; i++)
			report_none(report);
	}
}

static void put_group_row(struct report *report, const struct run_page_row *row, const struct run_page *pages)
{
	double values[] = {run_page_figure(row), row->least, row->most};

	report_string(report, row->section);
	report_string(report, row->key);
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char text[RUN_PAGE_TEXT];

		run_page_figure_text(text, row, values[i]);
		report_string(report, text);
	}
	report_string(report, row->most > row->least ? pages[row->most_run].name : NULL);
	report_string(report, row->path);
	report_string(report, row->text);
	report_row(report);
}

static int print_table(const struct run_page *page, struct error *error)
{
	struct report *report;
	int result;

	report_fit_say("%s: %s", page->name, page->headline);
	result = report_open(&report, stdout, REPORT_TABLE, "hpct-report", columns, TABLE_COLUMNS, error);
	if (result)
		return result;
	for (size_t i = 0; i < page->count; i++) {
		if (page->rows[i].is_minor)
			continue;
		put_figures(report, &page->rows[i]);
		report_row(report);
	}
	return report_close(report, error);
}

static int print_group_table(const struct run_page *group, const struct run_page *pages, struct error *error)
{
	struct report *report;
	int result;

	if (strcmp(group->name, "*") == 0)
		report_fit_say("\n%s", group->headline);
	else
		report_fit_say("\n%s: %s", group->name, group->headline);
	result = report_open(&report, stdout, REPORT_TABLE, "hpct-report", group_columns,
		sizeof group_columns / sizeof *group_columns, error);
	if (result)
		return result;
	for (size_t i = 0; i < group->count; i++)
		put_group_row(report, &group->rows[i], pages);
	return report_close(report, error);
}

static int print_tables(const struct pages *pages, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < pages->count && !result; i++) {
		if (i)
			putchar('\n');
		result = print_table(&pages->list[i], error);
	}
	for (size_t i = 0; i < pages->group_count && !result; i++)
		result = print_group_table(
			&pages->groups[i].page, pages->list + pages->groups[i].first, error);
	return result;
}

static void put_page(struct report *report, const struct run_page *page, const struct run_page *pages)
{
	for (size_t i = 0; i < page->count; i++) {
		if (page->rows[i].is_minor)
			continue;
		put_figures(report, &page->rows[i]);
		put_spread(report, &page->rows[i], page->name, pages);
		report_row(report);
	}
}

static int print_rows(const struct choice *choice, const struct pages *pages, struct error *error)
{
	struct report *report;
	int result =
		report_open(&report, stdout, choice->format, "hpct-report", columns, SCRIPT_COLUMNS, error);

	if (result)
		return result;
	for (uint32_t i = 0; i < pages->count; i++)
		put_page(report, &pages->list[i], pages->list);
	for (size_t i = 0; i < pages->group_count; i++)
		put_page(report, &pages->groups[i].page, pages->list + pages->groups[i].first);
	return report_close(report, error);
}

static int print_html(struct pages *pages, struct error *error)
{
	int failed = fclose(pages->html);

	pages->html = NULL;
	if (failed)
		return error_memory(error);
	run_page_html_begin(stdout, pages->count == 1 ? pages->list[0].name : "hpct-report");
	for (size_t i = 0; i < pages->group_count; i++)
		run_page_html_group(stdout, &pages->groups[i].page, pages->list + pages->groups[i].first,
			pages->groups[i].count);
	fwrite(pages->html_text, 1, pages->html_size, stdout);
	run_page_html_end(stdout);
	return 0;
}

static int print(struct program_call *call, struct pages *pages, struct error *error)
{
	const struct choice *choice = call->own;
	int result = 0;

	for (size_t i = 0; i < pages->group_count && !result; i++) {
		struct group *group = &pages->groups[i];

		result = run_page_group(
			&group->page, pages->list + group->first, group->count, &call->arena, error);
		group->page.name = group->name;
	}
	if (result)
		return result;
	if (choice->is_html)
		return print_html(pages, error);
	return choice->format == REPORT_TABLE ? print_tables(pages, error) : print_rows(choice, pages, error);
}

/* ---- runs ---- */

/* Which line of the gates does not hold, and of several runs in which. */
static void judge(struct pages *pages, const struct run_page *page, bool is_one)
{
	struct error why;

	if (pages->is_gate_hit || !gates_verdict(&pages->gates, &why))
		return;
	pages->is_gate_hit = true;
	if (is_one)
		pages->gate_error = why;
	else
		error_set(&pages->gate_error, ERROR_GATE, "%s: %s", page->name, why.text);
}

/* `arena`: of what the run's page and pictures do not keep. */
static int add_run(struct program_call *call, struct pages *pages, struct run *run, struct arena *arena,
	struct error *error)
{
	struct run_page *page = &pages->list[pages->count];
	struct run_report report;
	int result = run_report_make(&report, run, call->select, arena, error);

	if (!result)
		result = gates_judge(&pages->gates, run, call->select, &report, arena, error);
	if (!result)
		result = run_page_make(page, run, &report, select_depth(call->select), pages->name_count > 1,
			&pages->gates, &call->arena, error);
	if (result)
		return result;
	pages->count++;
	judge(pages, page, pages->name_count == 1);
	if (!pages->html)
		return run_names_check(run, error);
	run_page_html_run(pages->html, page);
	result = run_page_html_pictures(pages->html, run, call->select, &report, arena, error);
	return result ? result : run_names_check(run, error);
}

static int add_named(struct program_call *call, struct pages *pages, const char *name, struct error *error)
{
	struct arena arena = {0};
	struct run *run;
	int result = names_run_open(&run, name, &call->run_options, error);

	if (result)
		return result;
	if (!name)
		fprintf(stderr, "hpct-report: reading %s\n", run_path(run));
	result = select_bind(call->select, run, error);
	if (!result)
		result = add_run(call, pages, run, &arena, error);
	arena_fini(&arena);
	run_close(run);
	return result;
}

/* Twice the same run would count twice. */
static int add_name(struct pages *pages, const char *name, struct error *error)
{
	for (uint32_t i = 0; i < pages->name_count; i++)
		if (strcmp(pages->names[i], name) == 0)
			return error_set(error, ERROR_USAGE, "%s is named twice: once is enough", name);
	pages->names[pages->name_count++] = name;
	return 0;
}

/* "RUN,RUN,..." is a group of its own; a run whose own name has a comma is one. */
static int add_operand(struct pages *pages, const char *operand, struct arena *arena, struct error *error)
{
	uint32_t first = pages->name_count;
	int result = 0;

	if (!strchr(operand, ',') || access(operand, F_OK) == 0)
		return add_name(pages, operand, error);
	for (const char *at = operand; !result; at++) {
		size_t size = strcspn(at, ",");
		const char *name = arena_copy(arena, at, size);

		if (!size)
			return error_set(error, ERROR_USAGE,
				"a name is missing in '%s': write RUN or RUN,RUN", operand);
		result = name ? add_name(pages, name, error) : error_memory(error);
		at += size;
		if (!*at)
			break;
	}
	pages->groups[pages->group_count++] =
		(struct group){.name = operand, .first = first, .count = pages->name_count - first};
	return result;
}

/* Without lists all runs are a group, if they are several. */
static int find_names(
	const struct program_call *call, struct pages *pages, struct arena *arena, struct error *error)
{
	size_t most = 1;
	int result = 0;

	for (size_t i = 0; i < call->operand_count; i++)
		for (const char *c = call->operands[i]; (c = strchr(c, ',')) != NULL; c++)
			most++;
	pages->names = arena_calloc(arena, most + call->operand_count, sizeof *pages->names);
	pages->list = arena_calloc(arena, most + call->operand_count, sizeof *pages->list);
	pages->groups = arena_calloc(arena, call->operand_count + 1, sizeof *pages->groups);
	if (!pages->names || !pages->list || !pages->groups)
		return error_memory(error);
	for (size_t i = 0; i < call->operand_count && !result; i++)
		result = add_operand(pages, call->operands[i], arena, error);
	if (!call->operand_count)
		pages->name_count = 1; /* the newest */
	if (!pages->group_count && pages->name_count > 1)
		pages->groups[pages->group_count++] = (struct group){.name = "*", .count = pages->name_count};
	return result;
}

static int begin(struct program_call *call, struct pages *pages, struct error *error)
{
	const struct choice *choice = call->own;
	size_t formulas;

	select_formulas(call->select, &formulas);
	if (formulas && choice->is_html)
		return error_set(error, ERROR_USAGE,
			"--metric 'NAME = FORMULA' adds a column to rows, and a page has none; leave out "
			"--format html");
	if (choice->gate) /* its verdict is the exit code */
		terminal_stay();
	if (choice->is_html) {
		pages->html = open_memstream(&pages->html_text, &pages->html_size);
		if (!pages->html)
			return error_memory(error);
	}
	return choice->gate ? gates_read(&pages->gates, choice->gate, &call->arena, error) : 0;
}

static int work(struct program_call *call, struct error *error)
{
	struct pages pages = {0};
	int result;

	if (mpi_ranks_count() > 1)
		return error_set(error, ERROR_USAGE,
			"a page is made by one process: start hpct-report without mpirun");
	result = find_names(call, &pages, &call->arena, error);
	if (!result)
		result = begin(call, &pages, error);
	for (uint32_t i = 0; i < pages.name_count && !result; i++)
		result = add_named(call, &pages, pages.names[i], error);
	if (!result)
		result = print(call, &pages, error);
	if (pages.html)
		fclose(pages.html);
	free(pages.html_text);
	if (result || !pages.is_gate_hit)
		return result;
	*error = pages.gate_error;
	return -ERROR_GATE;
}

static const struct program_option options[] = {
	{0, "gate", "FILE", "lines such as gpu_busy > 60%; exit code 1 and the line if one does not hold",
		.to = offsetof(struct choice, gate)},
	{0, "format", "FORMAT", "table (default), tsv, json, or html: a page that needs nothing beside it",
		take_format}};

static const struct program program = {
	.name = "hpct-report",
	.about = "one page about a run or several: where time went, efficiencies, a verdict, gates",
	.operands = "[RUN...]",
	.operands_max = RUNS_MAX,
	.uses = PROGRAM_FORMAT | PROGRAM_SELECT | PROGRAM_RUNS | PROGRAM_STATE_METRICS | PROGRAM_GPU |
		PROGRAM_ROW_FORMULAS,
	.refused = "by op metric min context top",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.notes = "Several runs: a page of each, and one of all, or of each list RUN,RUN: each figure's mean, "
		 "least and most.\n"
		 "Gates: share(mpi) < 20%, share('main;io;*') < 10%, p99(step*) < 200 ms, parallel > 70%, "
		 "lost == 0; hpct-report(1) lists the figures.\n",
	.work = work,
};

int main(int argc, char **argv)
{
	struct choice choice = {.format = REPORT_TABLE};

	return program_main(&program, &choice, argc, argv);
}
