/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_plot.c - hpct-plot: figures over time as text, SVG, or columns of numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/base/escape.h"
#include "timeline/report/program.h"
#include "timeline/report/report_fit.h"
#include "timeline/sum/figure.h"
#include "tui/models/lane_svg.h"
#include "tui/screen/lane.h"

#define NAMES_MOST 64u
#define WIDTH_LEAST 8
#define WIDTH_MOST 1000
#define LINES_MOST 8
#define SVG_COLUMNS 800u

struct choice {
	const char *width, *lines, *format;
	bool is_shared, is_svg, is_dots;
	int columns, rows;
};

/* What is drawn of one figure. */
struct lane {
	const struct figure *figure;
	struct figure_column *columns;
	struct lane_scale scale;
	const char *unit;
};

/* ---- as text ---- */

/* Names and units are of traced programs and drivers: a terminal must not obey them. */
static void print_escaped(const char *text)
{
	struct store_bytes escaped = {0};

	escape_field(&escaped, text, strlen(text));
	fwrite(escaped.data, 1, escaped.size, stdout);
	store_bytes_fini(&escaped);
}

static void print_title(struct run *run, const struct lane *lane, uint32_t count)
{
	char owner[FIGURE_OWNER_MAX], least[FIGURE_TEXT_MAX], most[FIGURE_TEXT_MAX],
		last[FIGURE_TEXT_MAX] = "-", title[128 + FIGURE_OWNER_MAX + 3 * FIGURE_TEXT_MAX];

	figure_owner(owner, run, lane->figure->stream);
	figure_text(least, lane->scale.least, lane->unit);
	figure_text(most, lane->scale.most, lane->unit);
	for (uint32_t i = count; i-- > 0 && last[0] == '-';)
		if (lane->columns[i].is_there)
			figure_text(last, lane->columns[i].last, lane->unit);
	snprintf(title, sizeof title, "%.100s  %s  (%s .. %s, last %s)", lane->figure->name, owner, least,
		most, last);
	print_escaped(title);
	putchar('\n');
}

static int print_lane(struct run *run, const struct lane *lane, uint32_t count, const struct choice *choice,
	struct error *error)
{
	const int cells = (int)(choice->is_dots ? (count + 1) / 2 : count);
	struct grid grid;

	if (grid_init(&grid, choice->rows, cells, false))
		return error_memory(error);
	print_title(run, lane, count);
	if (choice->is_dots)
		lane_draw_dots(&grid, 0, 0, choice->rows, 1, lane->columns, count, &lane->scale, NULL);
	else
		lane_draw(&grid, 0, 0, choice->rows, 1, lane->columns, count, &lane->scale, NULL);
	grid_print(&grid, stdout);
	grid_fini(&grid);
	return 0;
}

static void print_times(const struct program_call *call, int columns)
{
	char begin[REPORT_HUMAN_MAX], end[REPORT_HUMAN_MAX];
	uint64_t origin_ns = run_origin_ns(call->run), begin_ns = select_begin_ns(call->select);

	report_human_duration(begin, begin_ns > origin_ns ? begin_ns - origin_ns : 0);
	report_human_duration(end, select_end_ns(call->select) - origin_ns);
	printf("%s%*s\n", begin, columns - (int)strlen(begin), end);
}

/* ---- as numbers ---- */

static int report_lanes(const struct program_call *call, const struct lane *lanes, uint32_t lane_count,
	const uint64_t *edges, uint32_t count, struct error *error)
{
	static const struct report_column columns[] = {{"stream", REPORT_TEXT}, {"metric", REPORT_TEXT},
		{"unit", REPORT_TEXT}, {"begin_ns", REPORT_DURATION}, {"end_ns", REPORT_DURATION},
		{"least", REPORT_NUMBER}, {"mean", REPORT_NUMBER}, {"most", REPORT_NUMBER},
		{"last", REPORT_NUMBER}};
	const uint64_t origin_ns = run_origin_ns(call->run);
	struct report *report;
	int rc = report_open(&report, stdout, call->format, "hpct-plot", columns,
		sizeof columns / sizeof columns[0], error);

	for (uint32_t l = 0; l < lane_count && !rc; l++)
		for (uint32_t i = 0; i < count; i++) {
			const struct figure_column *column = &lanes[l].columns[i];

			if (!column->is_there)
				continue;
			report_string(report, run_stream(call->run, lanes[l].figure->stream)->text);
			report_string(report, lanes[l].figure->name);
			report_string(report, lanes[l].unit);
			report_number(report, edges[i] - origin_ns);
			report_number(report, edges[i + 1] - origin_ns);
			report_figure(report, column->least);
			report_figure(report, column->mean);
			report_figure(report, column->most);
			report_figure(report, column->last);
			report_row(report);
		}
	return rc ? rc : report_close(report, error);
}

/* ---- the whole ---- */

static void scales_share(struct lane *lanes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < count; j++)
			if (i != j && !strcmp(lanes[i].unit, lanes[j].unit))
				lane_scale_join(&lanes[i].scale, &lanes[j].scale);
}

static int lanes_read(struct program_call *call, struct lane *lanes, const struct figure *figures,
	uint32_t *count, const uint64_t *edges, uint32_t columns, struct error *error)
{
	uint32_t kept = 0;
	int rc = 0;

	for (uint32_t i = 0; i < *count && !rc; i++) {
		struct lane *lane = &lanes[kept];
		bool any = false;

		lane->figure = &figures[i];
		lane->unit = figure_unit(call->run, figures[i].metric).text;
		lane->columns = arena_calloc(&call->arena, (size_t)columns + 1, sizeof *lane->columns);
		rc = lane->columns
			     ? figure_columns(call->run, &figures[i], edges, columns, lane->columns, error)
			     : error_memory(error);
		for (uint32_t c = 0; c < columns && !rc; c++)
			any |= lane->columns[c].is_there;
		if (any)
			lane->scale = lane_scale(lane->columns, columns, lane->unit);
		kept += any;
	}
	*count = kept;
	return rc;
}

static int print_text(struct program_call *call, const struct lane *lanes, uint32_t count, uint32_t columns,
	struct error *error)
{
	const struct choice *choice = call->own;
	int rc = 0;

	for (uint32_t i = 0; i < count && !rc; i++)
		rc = print_lane(call->run, &lanes[i], columns, choice, error);
	if (!rc)
		print_times(call, (int)(choice->is_dots ? columns / 2 : columns));
	return rc;
}

static int print_svg(struct program_call *call, const struct lane *lanes, uint32_t count, uint32_t columns,
	struct error *error)
{
	struct lane_svg *drawn = arena_calloc(&call->arena, (size_t)count + 1, sizeof *drawn);

	if (!drawn)
		return error_memory(error);
	for (uint32_t i = 0; i < count; i++) {
		drawn[i] = (struct lane_svg){.name = lanes[i].figure->name,
			.unit = lanes[i].unit,
			.columns = lanes[i].columns,
			.scale = lanes[i].scale};
		figure_owner(drawn[i].owner, call->run, lanes[i].figure->stream);
	}
	lane_svg_print(drawn, count, columns, select_begin_ns(call->select) - run_origin_ns(call->run),
		select_end_ns(call->select) - run_origin_ns(call->run), stdout);
	return 0;
}

static int none_there(const struct program_call *call, size_t names, struct error *error)
{
	return names ? error_set(error, ERROR_USAGE,
			       "%s has no such figure over time in this window; hpct-info --metrics lists "
			       "what it has",
			       run_path(call->run))
		     : error_set(error, ERROR_EMPTY,
			       "%s has no figures over time (hpct-record --gauges off, or less than a tenth "
			       "of a second)",
			       run_path(call->run));
}

/* What was asked for and is not drawn is said, beside what is. */
static void say_missing(const struct run *run, const struct lane *lanes, uint32_t count,
	const char *const *names, size_t name_count)
{
	for (size_t n = 0; n < name_count; n++) {
		bool is_there = false;

		for (uint32_t i = 0; i < count && !is_there; i++)
			is_there = figure_is_named(lanes[i].figure->name, names[n]);
		if (!is_there)
			fprintf(stderr, "hpct-plot: %s has no figure '%s' over time in this window\n",
				run_path(run), names[n]);
	}
}

static int plot(struct program_call *call, const char *const *names, size_t name_count, struct error *error)
{
	const struct choice *choice = call->own;
	const bool are_halves = choice->is_dots && call->format == REPORT_TABLE;
	uint32_t columns = choice->is_svg ? SVG_COLUMNS : (uint32_t)choice->columns << are_halves, count;
	uint64_t begin_ns = select_begin_ns(call->select), end_ns = select_end_ns(call->select);
	uint64_t *edges = arena_calloc(&call->arena, (size_t)columns + 2, sizeof *edges);
	struct figure *figures;
	struct lane *lanes;
	int rc = figures_list(&figures, &count, call->run, names, name_count, &call->arena, error);

	if (rc)
		return rc;
	if (end_ns - begin_ns < columns)
		columns = end_ns > begin_ns ? (uint32_t)(end_ns - begin_ns) : 1;
	lanes = arena_calloc(&call->arena, (size_t)count + 1, sizeof *lanes);
	if (!edges || !lanes)
		return error_memory(error);
	for (uint32_t i = 0; i <= columns; i++)
		edges[i] = begin_ns + (uint64_t)((double)(end_ns - begin_ns) * i / columns);
	rc = lanes_read(call, lanes, figures, &count, edges, columns, error);
	if (rc || !count)
		return rc ? rc : none_there(call, name_count, error);
	say_missing(call->run, lanes, count, names, name_count);
	if (choice->is_shared)
		scales_share(lanes, count);
	if (call->format != REPORT_TABLE)
		return report_lanes(call, lanes, count, edges, columns, error);
	return choice->is_svg ? print_svg(call, lanes, count, columns, error)
			      : print_text(call, lanes, count, columns, error);
}

/* What is there, or is called like a run, is one. */
static bool is_run(const char *word)
{
	size_t size = strlen(word), suffix = strlen(STORE_RUN_SUFFIX);
	struct stat status;

	while (size > 1 && word[size - 1] == '/')
		size--;
	return (size > suffix && !memcmp(word + size - suffix, STORE_RUN_SUFFIX, suffix)) ||
	       !stat(word, &status);
}

static int number_read(
	int *to, const char *text, const char *option, int least, int most, struct error *error)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (*end || end == text || number < least || number > most)
		return error_set(
			error, ERROR_USAGE, "%s %s: give a number from %d to %d", option, text, least, most);
	*to = (int)number;
	return 0;
}

/* Without rows there is no place for a column. */
static int check_formulas(const struct program_call *call, struct error *error)
{
	const struct choice *choice = call->own;
	size_t formulas;

	select_formulas(call->select, &formulas);
	if (!formulas || (call->format != REPORT_TABLE && !choice->is_svg))
		return 0;
	return error_set(error, ERROR_USAGE,
		"--metric 'NAME = FORMULA' adds a column to rows: give --format tsv or json, without --svg");
}

static int work(struct program_call *call, struct error *error)
{
	struct choice *choice = call->own;
	bool has_run = call->operand_count && is_run(call->operands[0]);
	int rc = 0;

	choice->columns = 80;
	choice->rows = 3;
	if (choice->width)
		rc = number_read(&choice->columns, choice->width, "--width", WIDTH_LEAST, WIDTH_MOST, error);
	if (choice->lines && !rc)
		rc = number_read(&choice->rows, choice->lines, "--lines", 1, LINES_MOST, error);
	rc = rc ? rc : run_open(&call->run, has_run ? call->operands[0] : NULL, &call->run_options, error);
	if (rc)
		return rc;
	if (!has_run)
		fprintf(stderr, "hpct-plot: reading %s\n", run_path(call->run));
	rc = select_bind(call->select, call->run, error);
	rc = rc ? rc : check_formulas(call, error);
	rc = rc ? rc : plot(call, call->operands + has_run, call->operand_count - has_run, error);
	run_close(call->run);
	call->run = NULL;
	return rc;
}

static const struct program_option options[] = {
	{0, "width", "COLUMNS", "of text (80)", .to = offsetof(struct choice, width)},
	{0, "lines", "N", "of each figure: 1 to 8 (3)", .to = offsetof(struct choice, lines)},
	{0, "braille", NULL, "as text: dots, two columns to a cell, the band from least to most",
		.to = offsetof(struct choice, is_dots)},
	{0, "shared", NULL, "one scale for all figures of one unit",
		.to = offsetof(struct choice, is_shared)},
	{0, "svg", NULL, "a drawing, with the band from least to most",
		.to = offsetof(struct choice, is_svg)},
};

static const struct program program = {
	.name = "hpct-plot",
	.about = "figures over time: CPU, memory, I/O, GPUs, counters",
	.operands = "[RUN] [NAME...]",
	.operands_max = NAMES_MOST,
	.uses = PROGRAM_FORMAT | PROGRAM_SELECT | PROGRAM_RUNS | PROGRAM_ROW_FORMULAS,
	.refused = "context op metric min depth by top streams",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.notes = "NAME is a figure or a pattern (cpu_*); without one all are shown.\n"
		 "Counters are shown as rates: cpu_user in percent of a core, read in B/s, energy in W.\n"
		 "As tsv and json the columns are numbers.\n",
	.work = work,
};

int main(int argc, char **argv)
{
	struct choice choice = {0};

	return program_main(&program, &choice, argc, argv);
}
