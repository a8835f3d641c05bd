/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - the three ways to say a row. A table keeps its first rows until it knows how wide the
 * columns are; the other two write a row as soon as it is complete, so a report of any length needs
 * no memory.
 */
#include "timeline/report.h"

#include <assert.h>
#include <stdlib.h>

#include "timeline/escape.h"
#include "timeline/json.h"
#include "timeline/progress.h"
#include "timeline/report_fit.h"

#define SCHEMA_VERSION 1
#define TABLE_ROWS_KEPT 1000u	/* rows that decide the widths of a table */
#define TABLE_WIDTH_MAX 44u	/* a longer cell pushes its row to the right; but see report_fit.h */
#define WRITE_BYTES (64u << 10) /* written at once */

struct report {
	FILE *out;
	enum report_format format;
	const struct report_column *columns;
	size_t column_count, column;	/* of the cell that comes next */
	struct store_bytes text;	/* tsv, json: waiting to be written; table: text of the kept cells */
	struct store_bytes field, line; /* scratch */
	size_t *ends;			/* table: where each kept cell ends in `text` */
	size_t *widths;			/* of the columns; behind them, of a row's cells */
	size_t *least, *row_least;	/* what is left of each text at least */
	bool *are_texts;		/* columns */
	bool *begins;			/* columns: a further line of the row */
	size_t terminal;		/* its width, 0: none */
	size_t rows_kept;
	bool widths_known, is_folded, failed;
};

static const char *const format_names[] = {
	[REPORT_TABLE] = "table", [REPORT_TSV] = "tsv", [REPORT_JSON] = "json"};

int report_format_find(const char *name)
{
	for (int i = 0; i < (int)(sizeof format_names / sizeof *format_names); i++)
		if (strcmp(name, format_names[i]) == 0)
			return i;
	return -1;
}

static void human(char text[REPORT_HUMAN_MAX], double value, double step, const char *const *units)
{
	int digits;

	while (value >= step * 0.99995 && units[1]) {
		value /= step;
		units++;
	}
	digits = value >= 999.95 ? 0 : value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
	if (value < 1e15 && value == (double)(uint64_t)value)
		digits = 0;
	snprintf(text, REPORT_HUMAN_MAX, "%.*f %s", digits, value, *units);
}

void report_human_duration(char text[REPORT_HUMAN_MAX], uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s", NULL};

	human(text, (double)ns, 1000, units);
}

void report_human_size(char text[REPORT_HUMAN_MAX], uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL};

	human(text, (double)bytes, 1024, units);
}

/* ---- table ---- */

static size_t cell_begin(const struct report *report, size_t cell)
{
	return cell == 0 ? 0 : report->ends[cell - 1];
}

static void put_spaces(struct store_bytes *out, size_t count)
{
	uint8_t *at = store_bytes_reserve(out, count);

	if (!at)
		return;
	memset(at, ' ', count);
	out->size += count;
}

static void trim(struct store_bytes *line)
{
	while (line->size > 0 && line->data[line->size - 1] == ' ')
		line->size--;
}

/* A further line of a row; one that holds nothing is left out. */
static void put_break(struct store_bytes *line)
{
	trim(line);
	if (line->size > 0 && line->data[line->size - 1] != '\n')
		store_bytes_put(line, "\n", 1);
	put_spaces(line, REPORT_FIT_HANG);
}

/* In so many characters at most. */
static void put_aligned(struct report *report, size_t column, const char *bytes, size_t size, size_t most)
{
	size_t width = report_fit_width(bytes, size), room = report->widths[column], spaces;
	bool is_left = report->are_texts[column];

	width = width < most ? width : most;
	spaces = width < room ? room - width : 0;
	if (report->begins[column])
		put_break(&report->line);
	else if (column > 0)
		put_spaces(&report->line, 2);
	if (!is_left)
		put_spaces(&report->line, spaces);
	report_fit_put(&report->line, bytes, size, most);
	if (is_left)
		put_spaces(&report->line, spaces);
}

static void write_line(struct report *report)
{
	struct store_bytes *line = &report->line;

	trim(line);
	store_bytes_put(line, "\n", 1);
	if (line->failed || fwrite(line->data, 1, line->size, report->out) != line->size)
		report->failed = true;
	line->size = 0;
}

/* How wide each cell may be: a shorter one takes its column's width all the same. */
static const size_t *row_fit(struct report *report, size_t row)
{
	size_t *widths = report->widths + report->column_count;

	for (size_t column = 0; column < report->column_count; column++) {
		size_t cell = row * report->column_count + column, begin = cell_begin(report, cell);
		size_t width =
			report_fit_width((const char *)report->text.data + begin, report->ends[cell] - begin);
		bool is_last = column + 1 == report->column_count, is_text = report->are_texts[column];
		size_t own = report->widths[column];

		widths[column] = width > own || (is_last && is_text) ? width : own;
		if (report->is_folded && is_text && widths[column] > own)
			widths[column] = own;
		report->row_least[column] = own > report->least[column] ? own : report->least[column];
	}
	if (!report->is_folded)
		report_fit(
			widths, report->are_texts, report->row_least, report->column_count, report->terminal);
	return widths;
}

static void table_flush(struct report *report)
{
	const char *text = (const char *)report->text.data;

	for (size_t row = 0; row < report->rows_kept && !report->text.failed; row++) {
		const size_t *widths = row_fit(report, row);

		for (size_t column = 0; column < report->column_count; column++) {
			size_t cell = row * report->column_count + column, begin = cell_begin(report, cell);

			put_aligned(report, column, text + begin, report->ends[cell] - begin, widths[column]);
		}
		write_line(report);
	}
	report->failed |= report->text.failed;
	report->rows_kept = 0;
	report->text.size = 0;
}

/* Characters of a column's name above a table, where "12.5 ms" says its unit itself. */
static size_t heading_bytes(const struct report_column *column)
{
	size_t size = strlen(column->name);

	return column->kind == REPORT_DURATION && size > 3 && !strcmp(column->name + size - 3, "_ns")
		       ? size - 3
		       : size;
}

static void table_fix_widths(struct report *report)
{
	size_t most = report->terminal ? report->terminal : TABLE_WIDTH_MAX;
	size_t *natural = report->widths + report->column_count;

	for (size_t column = 0; column < report->column_count; column++) {
		size_t width = heading_bytes(&report->columns[column]);

		for (size_t row = 0; row < report->rows_kept; row++) {
			size_t cell = row * report->column_count + column, begin = cell_begin(report, cell);
			size_t wanted = report->text.failed
						? 0
						: report_fit_width((const char *)report->text.data + begin,
							  report->ends[cell] - begin);

			if (wanted > width)
				width = wanted;
		}
		report->widths[column] = natural[column] = width < most ? width : most;
	}
	report_fit(report->widths, report->are_texts, report->least, report->column_count, report->terminal);
	report->is_folded = report_fit_fold(report->widths, natural, report->are_texts, report->least,
		report->begins, report->column_count, report->terminal);
	report->widths_known = true;
	for (size_t column = 0; column < report->column_count; column++)
		put_aligned(report, column, report->columns[column].name,
			heading_bytes(&report->columns[column]), SIZE_MAX);
	write_line(report);
}

static void table_row(struct report *report)
{
	report->rows_kept++;
	if (!report->widths_known && report->rows_kept == TABLE_ROWS_KEPT)
		table_fix_widths(report);
	if (report->widths_known)
		table_flush(report);
}

/* ---- cells ---- */

/* Puts the field, escaped, as the format wants it. */
static void put_cell(struct report *report, const char *bytes, size_t size, bool is_quoted)
{
	assert(report->column < report->column_count);
	switch (report->format) {
	case REPORT_TABLE:
		store_bytes_put(&report->text, bytes, size);
		report->ends[report->rows_kept * report->column_count + report->column] = report->text.size;
		break;
	case REPORT_TSV:
		if (report->column > 0)
			store_bytes_put(&report->text, "\t", 1);
		store_bytes_put(&report->text, bytes, size);
		break;
	case REPORT_JSON:
		store_bytes_put(&report->text, report->column > 0 ? "," : "{", 1);
		json_put_string(&report->text, report->columns[report->column].name,
			strlen(report->columns[report->column].name));
		store_bytes_put(&report->text, ":", 1);
		if (is_quoted)
			json_put_string(&report->text, bytes, size);
		else
			store_bytes_put(&report->text, bytes, size);
		break;
	}
	report->column++;
}

/* JSON has no word for what is not a finite number. */
static bool is_quoted(const struct report *report, const char *bytes, size_t size)
{
	if (report->columns[report->column].kind != REPORT_FIGURES)
		return true;
	for (size_t i = 0; i < size; i++)
		if (!strchr("+-.0123456789e", bytes[i]) || bytes[i] == 0)
			return true;
	return false;
}

void report_text(struct report *report, const char *bytes, size_t size)
{
	report->field.size = 0;
	if (report->column < report->column_count && report->columns[report->column].kind == REPORT_COMPOSED)
		escape_composed(&report->field, bytes, size);
	else
		escape_field(&report->field, bytes, size);
	report->failed |= report->field.failed;
	put_cell(report, (const char *)report->field.data, report->field.size,
		report->format == REPORT_JSON && is_quoted(report, bytes, size));
}

void report_string(struct report *report, const char *text)
{
	if (text)
		report_text(report, text, strlen(text));
	else
		report_none(report);
}

void report_number(struct report *report, uint64_t value)
{
	enum report_kind kind = report->columns[report->column].kind;
	char text[REPORT_HUMAN_MAX];
	size_t size = 0;

	if (report->format == REPORT_TABLE && kind == REPORT_DURATION)
		report_human_duration(text, value);
	else if (report->format == REPORT_TABLE && kind == REPORT_SIZE)
		report_human_size(text, value);
	else
		size = store_decimal_put(text, value);
	put_cell(report, text, size ? size : strlen(text), kind <= REPORT_COMPOSED);
}

void report_real(struct report *report, double value)
{
	char text[REPORT_HUMAN_MAX];

	snprintf(text, sizeof text, "%.2f", value);
	put_cell(report, text, strlen(text), false);
}

void report_none(struct report *report)
{
	if (report->format == REPORT_JSON)
		put_cell(report, "null", 4, false);
	else
		put_cell(report, "", 0, false);
}

static void write_text(struct report *report)
{
	if (report->text.failed ||
		fwrite(report->text.data, 1, report->text.size, report->out) != report->text.size)
		report->failed = true;
	report->text.size = 0;
}

void report_divert(struct report *report, FILE *out)
{
	report->text.size = 0;
	report->out = out;
}

void report_paste(struct report *report, const void *rows, size_t size)
{
	assert(report->format != REPORT_TABLE && report->column == 0);
	store_bytes_put(&report->text, rows, size);
	if (report->text.size >= WRITE_BYTES)
		write_text(report);
}

/* What failed is the file, or else the memory for what was to be written there. */
static int write_end(struct report *report, struct error *error)
{
	bool failed = fflush(report->out) != 0 || report->failed;

	if (!failed)
		return 0;
	return ferror(report->out) ? error_unwritten(error) : error_memory(error);
}

int report_flush(struct report *report, struct error *error)
{
	write_text(report);
	return write_end(report, error);
}

void report_row(struct report *report)
{
	assert(report->column == report->column_count);
	report->column = 0;
	if (report->format == REPORT_TABLE) {
		table_row(report);
		return;
	}
	store_bytes_put(&report->text, report->format == REPORT_JSON ? "}\n" : "\n",
		report->format == REPORT_JSON ? 2 : 1);
	if (report->text.size >= WRITE_BYTES)
		write_text(report);
}

/* ---- life ---- */

static void put_header(struct report *report, const char *schema)
{
	char version[32];

	if (report->format == REPORT_JSON) {
		store_bytes_put(&report->text, "{\"schema\":", 10);
		json_put_string(&report->text, schema, strlen(schema));
		snprintf(version, sizeof version, ",\"version\":%d}\n", SCHEMA_VERSION);
		store_bytes_put(&report->text, version, strlen(version));
		return;
	}
	for (size_t i = 0; i < report->column_count; i++) {
		if (i > 0)
			store_bytes_put(&report->text, "\t", 1);
		escape_field(&report->text, report->columns[i].name, strlen(report->columns[i].name));
	}
	store_bytes_put(&report->text, "\n", 1);
}

static void report_free(struct report *report)
{
	store_bytes_fini(&report->text);
	store_bytes_fini(&report->field);
	store_bytes_fini(&report->line);
	free(report->ends);
	free(report->widths);
	free(report->least);
	free(report->are_texts);
	free(report->begins);
	free(report);
}

int report_open(struct report **result, FILE *out, enum report_format format, const char *schema,
	const struct report_column *columns, size_t count, struct error *error)
{
	struct report *report = calloc(1, sizeof *report);

	progress_end();
	if (!report)
		return error_memory(error);
	report->out = out;
	report->format = format;
	report->columns = columns;
	report->column_count = count;
	if (format == REPORT_TABLE) {
		report->ends = calloc(TABLE_ROWS_KEPT, count * sizeof *report->ends);
		report->widths = calloc(2 * count, sizeof *report->widths);
		report->least = calloc(2 * count, sizeof *report->least);
		report->are_texts = calloc(count, sizeof *report->are_texts);
		report->begins = calloc(count, sizeof *report->begins);
		if (!report->ends || !report->widths || !report->least || !report->are_texts ||
			!report->begins) {
			report_free(report);
			return error_memory(error);
		}
		report->row_least = report->least + count;
		for (size_t column = 0; column < count; column++) {
			report->are_texts[column] = columns[column].kind <= REPORT_COMPOSED;
			report->least[column] =
				columns[column].least ? columns[column].least : REPORT_FIT_LEAST;
		}
		report->terminal = report_fit_terminal(out);
	} else {
		put_header(report, schema);
	}
	*result = report;
	return 0;
}

int report_close(struct report *report, struct error *error)
{
	int code;

	if (report->format == REPORT_TABLE) {
		if (!report->widths_known)
			table_fix_widths(report);
		table_flush(report);
	} else {
		write_text(report);
	}
	code = write_end(report, error);
	report_free(report);
	return code;
}
