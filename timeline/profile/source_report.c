/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_report.c - see source_report.h. A script gets the lines with a cost (all with --all); a table adds
 * some lines around them, and "..." for gaps.
 */
#include "timeline/profile/source_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/arena.h"
#include "timeline/base/progress.h"
#include "timeline/profile/source_extents.h"
#include "timeline/profile/source_lines.h"

#define AROUND 2      /* lines of a table beside each that has something */
#define AROUND_LINE 5 /* around the requested line */
#define COLUMNS 3     /* besides the metrics */
#define TAB 8
#define TEXT_BYTES 1024 /* of a line in a table */

struct printing {
	const struct source_ask *ask;
	const struct source_lines *lines;
	struct report *report;
	bool is_table;
	struct source_extent *extents; /* of functions, where there is no text */
	size_t extent_count;
};

int source_ask_parse(struct source_ask *ask, const char *text, struct arena *arena, struct error *error)
{
	const char *colon = strrchr(text, ':');
	unsigned long line = 0;
	char *end = NULL;

	errno = 0;
	if (colon && colon[1] >= '0' && colon[1] <= '9')
		line = strtoul(colon + 1, &end, 10);
	if (!end || *end) {
		ask->path = text;
		return 0;
	}
	if (errno || !line || line > UINT32_MAX || colon == text)
		return error_set(
			error, ERROR_USAGE, "--source %s: say FILE or FILE:LINE; lines count from 1", text);
	ask->line = (uint32_t)line;
	ask->path = arena_copy(arena, text, (size_t)(colon - text));
	return ask->path ? 0 : error_memory(error);
}

/* ---- rows ---- */

static void put_value(struct report *report, const struct profile_metric *metric, union profile_value value)
{
	if (metric->is_real)
		report_real(report, value.real);
	else
		report_number(report, value.number);
}

static void put_percent(struct report *report, const struct profile_metric *metric, union profile_value value,
	union profile_value all)
{
	double whole = profile_value_real(metric, all);

	report_real(report, whole != 0 ? 100 * profile_value_real(metric, value) / whole : 0);
}

/* In a table a line without anything has no numbers; a script gets zeros. */
static void put_values(const struct printing *at, const struct source_line *line)
{
	static const union profile_value zero;

	for (size_t m = 0; m < at->lines->profile.metric_count; m++) {
		const struct profile_metric *metric = &at->lines->profile.metrics[m];

		for (int is_exclusive = 0; is_exclusive < 2; is_exclusive++) {
			union profile_value value = !line	   ? zero
						    : is_exclusive ? line->exclusive[m]
								   : line->inclusive[m];

			if (at->is_table && !line)
				report_none(at->report);
			else
				put_value(at->report, metric, value);
			if (at->is_table && !line)
				report_none(at->report);
			else if (at->is_table)
				put_percent(at->report, metric, value, at->lines->total[m]);
		}
	}
}

/* Blanks for tabs. */
static void put_table_text(const struct printing *at, const char *text, size_t size)
{
	char wide[TEXT_BYTES];
	size_t used = 0;

	for (size_t i = 0; i < size && used + TAB < sizeof(wide); i++) {
		if (text[i] != '\t') {
			wide[used++] = text[i];
			continue;
		}
		do
			wide[used++] = ' ';
		while (used % TAB);
	}
	report_text(at->report, wide, used);
}

/* Where the text would stand: which function it is in. */
static void put_extent(const struct printing *at, uint32_t line)
{
	const struct source_extent *extent = source_extent_at(at->extents, at->extent_count, line);
	char text[TEXT_BYTES];

	if (!extent)
		return report_none(at->report);
	snprintf(text, sizeof text, "(%.*s, lines %u to %u)", TEXT_BYTES / 2, extent->name, extent->first,
		extent->last);
	report_string(at->report, text);
}

static void put_text(const struct printing *at, uint32_t line)
{
	size_t size;
	const char *text = source_file_line(at->ask->file, line, &size);

	if (line > at->ask->file->line_count)
		put_extent(at, line);
	else if (at->is_table)
		put_table_text(at, text, size - (size && text[size - 1] == '\r'));
	else
		report_text(at->report, text, size - (size && text[size - 1] == '\r'));
}

static void put_line(const struct printing *at, uint32_t line)
{
	if (at->is_table)
		put_values(at, source_lines_at(at->lines, line));
	else
		report_string(at->report, at->lines->path);
	report_number(at->report, line);
	put_text(at, line);
	if (!at->is_table)
		put_values(at, source_lines_at(at->lines, line));
	report_row(at->report);
}

static void put_gap(const struct printing *at)
{
	if (!at->is_table)
		return;
	put_values(at, NULL);
	report_none(at->report);
	report_string(at->report, "...");
	report_row(at->report);
}

/* Lines from..to shown around entry i (or around the requested line). */
static void around(const struct printing *at, uint32_t line, uint32_t beside, uint32_t *from, uint32_t *to)
{
	uint32_t last = at->ask->file->line_count;

	*from = line > beside ? line - beside : 1;
	*to = line + beside > last ? (line > last ? line : last) : line + beside;
	if (!at->is_table || *from > last)
		*from = *to = line;
}

static void put_lines(const struct printing *at)
{
	const struct source_lines *lines = at->lines;
	uint32_t done = 0, from, to;

	if (at->ask->line) {
		around(at, at->ask->line, AROUND_LINE, &from, &to);
		for (uint32_t line = from; line <= to; line++)
			put_line(at, line);
		return;
	}
	for (uint32_t line = 1; at->ask->is_whole && line <= at->ask->file->line_count; line++)
		put_line(at, done = line);
	for (size_t i = 0; i < lines->count; i++) {
		if (lines->lines[i].line <= done && at->ask->is_whole)
			continue;
		around(at, lines->lines[i].line, AROUND, &from, &to);
		if (done && from > done + 1)
			put_gap(at);
		for (uint32_t line = from > done ? from : done + 1; line <= to; line++)
			put_line(at, done = line);
	}
}

/* ---- columns ---- */

static bool metric_columns(
	const struct profile_metric *metric, struct report_column **at, bool is_table, struct arena *arena)
{
	static const char *const what[] = {"incl", "excl"};
	enum report_kind kind = is_table && !strcmp(metric->unit, "ns") ? REPORT_DURATION : REPORT_NUMBER;

	for (int i = 0; i < 2; i++) {
		const char *name =
			is_table && i ? "excl" : arena_printf(arena, "%s:%s", metric->name, what[i]);

		if (!name)
			return false;
		*(*at)++ = (struct report_column){name, kind};
		if (is_table)
			*(*at)++ = (struct report_column){"%", REPORT_PERCENT};
	}
	return true;
}

static const struct report_column *columns_make(
	const struct source_lines *lines, bool is_table, size_t *count, struct arena *arena)
{
	size_t metrics = lines->profile.metric_count;
	struct report_column *columns = arena_calloc(arena, 4 * metrics + COLUMNS, sizeof *columns),
			     *at = columns;

	if (!columns)
		return NULL;
	if (!is_table) {
		*at++ = (struct report_column){"file", REPORT_TEXT};
		*at++ = (struct report_column){"line", REPORT_NUMBER};
		*at++ = (struct report_column){"text", REPORT_TEXT};
	}
	for (size_t m = 0; m < metrics; m++)
		if (!metric_columns(&lines->profile.metrics[m], &at, is_table, arena))
			return NULL;
	if (is_table) {
		*at++ = (struct report_column){"line", REPORT_NUMBER, 0, REPORT_WORTH_MOST};
		*at++ = (struct report_column){"text", REPORT_TEXT, 0, REPORT_WORTH_MOST};
	}
	*count = (size_t)(at - columns);
	return columns;
}

/* ---- the whole ---- */

static void say_missing(const struct source_ask *ask, const struct source_lines *lines)
{
	if (!lines->path)
		fprintf(stderr,
			"hpct-profile: no sample of the window has a line in %s: hpct-stats --by file lists "
			"the "
			"files\n",
			ask->path);
	else if (!ask->file->found[0])
		fprintf(stderr,
			"hpct-profile: the text of %s was not found: looked in %s; -R OLD=NEW or -I DIR says "
			"where it is\n",
			lines->path, ask->file->looked);
	else if (lines->count && lines->lines[lines->count - 1].line > ask->file->line_count)
		fprintf(stderr, "hpct-profile: %s is shorter than what was compiled: another version of it\n",
			ask->file->found);
}

int source_report(struct run *run, const struct select *select, const struct source_ask *ask,
	enum report_format format, struct arena *arena, struct error *error)
{
	struct source_lines lines;
	struct printing at = {.ask = ask, .lines = &lines, .is_table = format == REPORT_TABLE};
	const struct report_column *columns;
	size_t count;
	int rc = source_lines_compute(&lines, run, select, ask->path, arena, error);

	if (rc < 0)
		return rc;
	if (lines.path)
		source_file_open(ask->file, lines.path);
	progress_end();
	say_missing(ask, &lines);
	if (at.is_table && ask->file->found[0])
		printf("%s%s\n", ask->file->found, ask->file->is_kept ? ", as the run kept it" : "");
	columns = columns_make(&lines, at.is_table, &count, arena);
	if (at.is_table && lines.path && !ask->file->found[0] &&
		source_extents(run, lines.path, &at.extents, &at.extent_count))
		return error_memory(error);
	rc = columns ? report_open(&at.report, stdout, format, "hpct-profile-source", columns, count, error)
		     : error_memory(error);
	if (rc == 0 && lines.path)
		put_lines(&at);
	free(at.extents);
	return rc < 0 ? rc : report_close(at.report, error);
}
