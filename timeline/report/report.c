/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - the three output formats of a row. Writes TSV and JSON row by row, so that a long report needs
 * no memory; report_table.h lays out tables.
 */
#include "timeline/report/report.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "store/base/escape.h"
#include "store/base/json.h"
#include "timeline/base/progress.h"
#include "timeline/report/report_formulas.h"
#include "timeline/report/report_table.h"
#include "timeline/report/terminal.h"

#define SCHEMA_VERSION 1
#define WRITE_BYTES (64u << 10) /* written at once */

struct report {
	FILE *out;
	enum report_format format;
	const struct report_column *columns;
	size_t column_count, column; /* of the cell that comes next */
	struct store_bytes text;     /* tsv, json: waiting to be written */
	struct store_bytes field;    /* scratch */
	struct report_table table;
	struct report_formulas *formulas; /* NULL: none */
	bool failed;
};

/* Whose formulas reports of the process have from now on. */
static struct {
	const struct select *select; /* NULL: none */
	bool has_whole;
} taken;

/* Of all reports of the process. */
static struct {
	uint64_t closed, rows;
} written;

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

/* ---- cells ---- */

/* Writes the field, escaped, as the format wants it. `column`: of those that are written. */
static void write_cell(struct report *report, size_t column, const char *bytes, size_t size, bool is_quoted)
{
	const struct report_column *columns = report->formulas ? report->formulas->columns : report->columns;

	switch (report->format) {
	case REPORT_TABLE:
		report_table_cell(&report->table, column, bytes, size);
		break;
	case REPORT_TSV:
		if (column > 0)
			store_bytes_put(&report->text, "\t", 1);
		store_bytes_put(&report->text, bytes, size);
		break;
	case REPORT_JSON:
		store_bytes_put(&report->text, column > 0 ? "," : "{", 1);
		json_put_string(&report->text, columns[column].name, strlen(columns[column].name));
		store_bytes_put(&report->text, ":", 1);
		if (is_quoted)
			json_put_string(&report->text, bytes, size);
		else
			store_bytes_put(&report->text, bytes, size);
		break;
	}
}

/* The next cell; `number`: what it is to formulas, NAN: none. */
static void put_number_cell(
	struct report *report, const char *bytes, size_t size, bool is_quoted, double number)
{
	assert(report->column < report->column_count);
	if (report->formulas)
		report_formulas_keep(report->formulas, report->column, bytes, size, is_quoted, number);
	else
		write_cell(report, report->column, bytes, size, is_quoted);
	report->column++;
}

static void put_cell(struct report *report, const char *bytes, size_t size, bool is_quoted)
{
	put_number_cell(report, bytes, size, is_quoted, NAN);
}

/* A number that is given as text. */
static double number_in(const struct report *report, const char *bytes, size_t size)
{
	char text[64], *end;
	double number;

	if (!report->formulas || !size || size >= sizeof text)
		return NAN;
	memcpy(text, bytes, size);
	text[size] = '\0';
	number = strtod(text, &end);
	return *end || end == text ? NAN : number;
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
	put_number_cell(report, (const char *)report->field.data, report->field.size,
		report->format == REPORT_JSON && is_quoted(report, bytes, size),
		number_in(report, bytes, size));
}

void report_cell(struct report *report, const char *bytes, size_t size, bool is_number)
{
	report->field.size = 0;
	escape_composed(&report->field, bytes, size);
	report->failed |= report->field.failed;
	put_number_cell(report, (const char *)report->field.data, report->field.size, !is_number,
		is_number ? number_in(report, bytes, size) : NAN);
}

void report_string(struct report *report, const char *text)
{
	if (text)
		report_text(report, text, strlen(text));
	else
		report_none(report);
}

void report_tree_name(struct report *report, size_t depth, const char *mark, const char *name, size_t size)
{
	size_t indent = depth < REPORT_INDENT_MAX ? depth : REPORT_INDENT_MAX;
	char ahead[REPORT_INDENT_MAX + 24];

	memset(ahead, ' ', indent);
	if (depth > indent)
		indent += (size_t)sprintf(ahead + indent, "+%zu ", depth - indent);
	report->field.size = 0;
	store_bytes_put(&report->field, ahead, indent);
	store_bytes_put(&report->field, mark, strlen(mark));
	escape_field(&report->field, name, size);
	report->failed |= report->field.failed;
	put_cell(report, (const char *)report->field.data, report->field.size, true);
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
	put_number_cell(report, text, size ? size : strlen(text), kind <= REPORT_COMPOSED, (double)value);
}

void report_real(struct report *report, double value)
{
	char text[REPORT_HUMAN_MAX];

	snprintf(text, sizeof text, "%.2f", value);
	put_number_cell(report, text, strlen(text), false, value);
}

#define FIGURE_MAX 320 /* a table writes 1e308 out */

static void figure_text(const struct report *report, char text[FIGURE_MAX], double value)
{
	if (report->format == REPORT_TABLE || (value == floor(value) && fabs(value) < 1e15))
		snprintf(text, FIGURE_MAX, "%.*f", value == floor(value) || fabs(value) >= 1e15 ? 0 : 2,
			value);
	else
		for (int digits = 15; digits <= 17; digits++) {
			snprintf(text, FIGURE_MAX, "%.*g", digits, value);
			if (strtod(text, NULL) == value)
				break;
		}
}

void report_figure(struct report *report, double value)
{
	char text[FIGURE_MAX];

	if (!isfinite(value)) {
		report_none(report);
		return;
	}
	figure_text(report, text, value);
	put_number_cell(report, text, strlen(text), false, value);
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
	written.rows += size != 0;
	if (report->text.size >= WRITE_BYTES)
		write_text(report);
}

/* What failed is the file, or else the memory for what was to be written there. */
static int write_end(struct report *report, struct error *error)
{
	bool failed = (!terminal_keeps(report->out) && fflush(report->out) != 0) || report->failed;

	if (!failed)
		return 0;
	return ferror(report->out) ? error_unwritten(error) : error_memory(error);
}

int report_flush(struct report *report, struct error *error)
{
	write_text(report);
	return write_end(report, error);
}

static void write_row(struct report *report)
{
	if (report->format == REPORT_TABLE) {
		report_table_row(&report->table);
		return;
	}
	store_bytes_put(&report->text, report->format == REPORT_JSON ? "}\n" : "\n",
		report->format == REPORT_JSON ? 2 : 1);
	if (report->text.size >= WRITE_BYTES)
		write_text(report);
}

/* ---- rows with formulas ---- */

static void formulas_put(
	void *own, size_t column, const char *bytes, size_t size, bool is_quoted, double figure)
{
	struct report *report = own;
	bool is_none = !bytes && !isfinite(figure);
	char text[FIGURE_MAX] = "";

	if (!bytes && !is_none)
		figure_text(report, text, figure);
	if (!bytes) {
		bytes = is_none && report->format == REPORT_JSON ? "null" : text;
		size = strlen(bytes);
	}
	write_cell(report, column, bytes, size, is_quoted);
}

static void formulas_end(void *own)
{
	write_row(own);
}

static void formulas_flush(struct report *report)
{
	const struct report_formulas_sink sink = {report, formulas_put, formulas_end};

	report->failed |= !report_formulas_flush(report->formulas, &sink);
}

static void formulas_free(struct report_formulas *formulas)
{
	if (formulas)
		report_formulas_fini(formulas);
	free(formulas);
}

static int formulas_new(struct report *report, struct error *error)
{
	size_t count = 0;

	if (taken.select)
		select_formulas(taken.select, &count);
	if (!count)
		return 0;
	report->formulas = calloc(1, sizeof *report->formulas);
	if (!report->formulas)
		return error_memory(error);
	return report_formulas_init(report->formulas, taken.select, report->format == REPORT_TABLE,
		taken.has_whole, report->columns, report->column_count, error);
}

void report_take_formulas(const struct select *select, bool has_whole)
{
	taken.select = select;
	taken.has_whole = has_whole;
}

void report_row(struct report *report)
{
	assert(report->column == report->column_count);
	report->column = 0;
	written.rows++;
	if (!report->formulas)
		write_row(report);
	else if (!report->formulas->has_root)
		formulas_flush(report);
}

/* ---- life ---- */

static void put_header(
	struct report *report, const char *schema, const struct report_column *columns, size_t count)
{
	char version[32];

	if (report->format == REPORT_JSON) {
		store_bytes_put(&report->text, "{\"schema\":", 10);
		json_put_string(&report->text, schema, strlen(schema));
		snprintf(version, sizeof version, ",\"version\":%d}\n", SCHEMA_VERSION);
		store_bytes_put(&report->text, version, strlen(version));
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			store_bytes_put(&report->text, "\t", 1);
		escape_field(&report->text, columns[i].name, strlen(columns[i].name));
	}
	store_bytes_put(&report->text, "\n", 1);
}

static void report_free(struct report *report)
{
	store_bytes_fini(&report->text);
	store_bytes_fini(&report->field);
	report_table_fini(&report->table);
	formulas_free(report->formulas);
	free(report);
}

int report_open(struct report **result, FILE *out, enum report_format format, const char *schema,
	const struct report_column *columns, size_t count, struct error *error)
{
	struct report *report = calloc(1, sizeof *report);
	int rc;

	progress_end();
	if (!report)
		return error_memory(error);
	report->out = out;
	report->format = format;
	report->columns = columns;
	report->column_count = count;
	rc = formulas_new(report, error);
	if (rc < 0) {
		report_free(report);
		return rc;
	}
	if (report->formulas) {
		columns = report->formulas->columns;
		count = report->formulas->count;
	}
	if (format != REPORT_TABLE) {
		put_header(report, schema, columns, count);
	} else if (report_table_init(&report->table, out, columns, count)) {
		report_free(report);
		return error_memory(error);
	}
	*result = report;
	return 0;
}

int report_close(struct report *report, struct error *error)
{
	int code;

	if (report->formulas)
		formulas_flush(report);
	if (report->format != REPORT_TABLE)
		write_text(report);
	else if (!report_table_end(&report->table))
		report->failed = true;
	code = write_end(report, error);
	report_free(report);
	written.closed++;
	return code;
}

bool report_was_empty(void)
{
	return written.closed && !written.rows;
}
