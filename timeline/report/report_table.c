/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_table.c - see report_table.h.
 *
 *   text   cell|cell|cell|...   of the kept rows, end to end; `ends` separates them
 *   line   one row as written
 */
#include "timeline/report/report_table.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/report/terminal.h"

#define ROWS_KEPT 1000u /* rows that decide the widths */
#define WIDTH_MAX 44u	/* a longer cell pushes its row to the right; but see report_fit.h */

static size_t cell_begin(const struct report_table *table, size_t cell)
{
	return cell == 0 ? 0 : table->ends[cell - 1];
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

static void put_style(struct report_table *table, enum terminal_style style)
{
	const char *bytes = terminal_style(table->out, style);

	store_bytes_put(&table->line, bytes, strlen(bytes));
}

/* In so many characters at most. */
static void put_aligned(struct report_table *table, size_t column, const char *bytes, size_t size,
	size_t most, enum terminal_style style)
{
	size_t width = report_fit_width(bytes, size), room = table->fits[column].width, spaces;
	bool is_left = table->fits[column].is_text;

	if (table->fits[column].is_gone)
		return;
	width = width < most ? width : most;
	spaces = width < room ? room - width : 0;
	if (column > 0)
		put_spaces(&table->line, 2);
	if (!is_left)
		put_spaces(&table->line, spaces);
	if (style != TERMINAL_PLAIN)
		put_style(table, style);
	report_fit_put(&table->line, bytes, size, most);
	if (style != TERMINAL_PLAIN)
		put_style(table, TERMINAL_PLAIN);
	if (is_left)
		put_spaces(&table->line, spaces);
}

static void write_line(struct report_table *table)
{
	struct store_bytes *line = &table->line;

	trim(line);
	store_bytes_put(line, "\n", 1);
	if (line->failed || fwrite(line->data, 1, line->size, table->out) != line->size)
		table->failed = true;
	line->size = 0;
}

static size_t cell_width(const struct report_table *table, size_t cell)
{
	size_t begin = cell_begin(table, cell);

	return report_fit_width((const char *)table->text.data + begin, table->ends[cell] - begin);
}

/* How wide each cell may be: a shorter one takes its column's width all the same. */
static void row_fit(struct report_table *table, size_t row)
{
	size_t kept = 0, last = table->column_count - 1;

	while (table->fits[last].is_gone)
		last--;
	for (size_t column = 0; column < table->column_count; column++) {
		const struct report_fit_column *fit = &table->fits[column];
		size_t width = cell_width(table, row * table->column_count + column), own = fit->width;

		if (fit->is_gone)
			continue;
		table->cells.widths[kept] = width > own || (column == last && fit->is_text) ? width : own;
		table->cells.least[kept] = own < fit->least ? own : fit->least;
		table->cells.are_texts[kept++] = fit->is_text;
	}
	report_fit(table->cells.widths, table->cells.are_texts, table->cells.least, kept, table->terminal);
}

static enum terminal_style style_of(
	const struct report_table *table, size_t column, const char *bytes, size_t size)
{
	char number[32];

	if (table->columns[column].kind != REPORT_PERCENT || !size || size >= sizeof number)
		return TERMINAL_PLAIN;
	memcpy(number, bytes, size);
	number[size] = '\0';
	return terminal_style_share(strtod(number, NULL));
}

static void put_row(struct report_table *table, size_t row)
{
	size_t kept = 0;

	row_fit(table, row);
	for (size_t column = 0; column < table->column_count; column++) {
		size_t cell = row * table->column_count + column, begin = cell_begin(table, cell);
		const char *bytes = (const char *)table->text.data + begin;
		size_t size = table->ends[cell] - begin;

		if (!table->fits[column].is_gone)
			put_aligned(table, column, bytes, size, table->cells.widths[kept++],
				style_of(table, column, bytes, size));
	}
	write_line(table);
}

static void flush(struct report_table *table)
{
	for (size_t row = 0; row < table->rows_kept && !table->text.failed; row++)
		put_row(table, row);
	table->failed |= table->text.failed;
	table->rows_kept = 0;
	table->text.size = 0;
}

/* Characters of a column's name above a table, where "12.5 ms" says its unit itself. */
static size_t heading_bytes(const struct report_column *column)
{
	size_t size = strlen(column->name);

	return column->kind == REPORT_DURATION && size > 3 && !strcmp(column->name + size - 3, "_ns")
		       ? size - 3
		       : size;
}

static void measure(struct report_table *table, size_t column)
{
	struct report_fit_column *fit = &table->fits[column];
	size_t most = table->terminal ? table->terminal : WIDTH_MAX,
	       width = heading_bytes(&table->columns[column]);

	fit->is_empty = table->rows_kept > 0;
	for (size_t row = 0; row < table->rows_kept && !table->text.failed; row++) {
		size_t wanted = cell_width(table, row * table->column_count + column);

		fit->is_empty &= wanted == 0;
		width = wanted > width ? wanted : width;
	}
	fit->width = width < most ? width : most;
}

/* The columns that stay share the room. */
static void share_room(struct report_table *table)
{
	size_t kept = 0;

	for (size_t column = 0; column < table->column_count; column++) {
		const struct report_fit_column *fit = &table->fits[column];

		if (fit->is_gone)
			continue;
		table->cells.widths[kept] = fit->width;
		table->cells.least[kept] = fit->least;
		table->cells.are_texts[kept++] = fit->is_text;
	}
	report_fit(table->cells.widths, table->cells.are_texts, table->cells.least, kept, table->terminal);
	for (size_t column = table->column_count; column-- > 0;)
		if (!table->fits[column].is_gone)
			table->fits[column].width = table->cells.widths[--kept];
}

static void fix_widths(struct report_table *table)
{
	for (size_t column = 0; column < table->column_count; column++)
		measure(table, column);
	table->gone = report_fit_drop(table->fits, table->column_count, table->terminal);
	share_room(table);
	table->widths_known = true;
	for (size_t column = 0; column < table->column_count; column++)
		put_aligned(table, column, table->columns[column].name,
			heading_bytes(&table->columns[column]), SIZE_MAX, TERMINAL_HEAD);
	write_line(table);
}

/* What a wider terminal would have shown. */
static void say_gone(struct report_table *table)
{
	struct store_bytes *line = &table->line;
	bool is_first = true;

	put_style(table, TERMINAL_FAINT);
	store_bytes_put(line, "no room for ", 12);
	for (size_t column = 0; column < table->column_count; column++) {
		if (!table->fits[column].is_gone)
			continue;
		if (!is_first)
			store_bytes_put(line, ", ", 2);
		store_bytes_put(line, table->columns[column].name, heading_bytes(&table->columns[column]));
		is_first = false;
	}
	store_bytes_put(line, "; --format table has all", 24);
	put_style(table, TERMINAL_PLAIN);
	write_line(table);
}

void report_table_row(struct report_table *table)
{
	table->rows_kept++;
	if (!table->widths_known && table->rows_kept == ROWS_KEPT)
		fix_widths(table);
	if (table->widths_known)
		flush(table);
}

int report_table_init(
	struct report_table *table, FILE *out, const struct report_column *columns, size_t count)
{
	*table = (struct report_table){.out = out, .columns = columns, .column_count = count};
	table->ends = calloc(ROWS_KEPT, count * sizeof *table->ends);
	table->fits = calloc(count, sizeof *table->fits);
	table->cells.widths = calloc(2 * count, sizeof *table->cells.widths);
	table->cells.are_texts = calloc(count, sizeof *table->cells.are_texts);
	if (!table->ends || !table->fits || !table->cells.widths || !table->cells.are_texts) {
		report_table_fini(table);
		return -1;
	}
	table->cells.least = table->cells.widths + count;
	for (size_t column = 0; column < count; column++)
		table->fits[column] =
			(struct report_fit_column){.is_text = columns[column].kind <= REPORT_COMPOSED,
				.least = columns[column].least ? columns[column].least : REPORT_FIT_LEAST,
				.worth = columns[column].worth ? columns[column].worth : REPORT_WORTH_SOME};
	table->terminal = terminal_columns(out);
	return 0;
}

bool report_table_end(struct report_table *table)
{
	if (!table->widths_known)
		fix_widths(table);
	flush(table);
	if (table->gone)
		say_gone(table);
	return !table->failed;
}

void report_table_fini(struct report_table *table)
{
	store_bytes_fini(&table->text);
	store_bytes_fini(&table->line);
	free(table->ends);
	free(table->fits);
	free(table->cells.widths);
	free(table->cells.are_texts);
	*table = (struct report_table){0};
}
