/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_table.c - see report_table.h.
 *
 *   text   cell|cell|cell|...   of the kept rows, end to end; `ends` separates them
 *   line   one row as written, or its several lines on a narrow terminal
 */
#include "timeline/report/report_table.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/report/report_fit.h"

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

/* A further line of a row; one that holds nothing is left out. */
static void put_break(struct store_bytes *line)
{
	trim(line);
	if (line->size > 0 && line->data[line->size - 1] != '\n')
		store_bytes_put(line, "\n", 1);
	put_spaces(line, REPORT_FIT_HANG);
}

/* In so many characters at most. */
static void put_aligned(
	struct report_table *table, size_t column, const char *bytes, size_t size, size_t most)
{
	size_t width = report_fit_width(bytes, size), room = table->widths[column], spaces;
	bool is_left = table->are_texts[column];

	width = width < most ? width : most;
	spaces = width < room ? room - width : 0;
	if (table->begins[column])
		put_break(&table->line);
	else if (column > 0)
		put_spaces(&table->line, 2);
	if (!is_left)
		put_spaces(&table->line, spaces);
	report_fit_put(&table->line, bytes, size, most);
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

/* How wide each cell may be: a shorter one takes its column's width all the same. */
static const size_t *row_fit(struct report_table *table, size_t row)
{
	size_t *widths = table->widths + table->column_count;

	for (size_t column = 0; column < table->column_count; column++) {
		size_t cell = row * table->column_count + column, begin = cell_begin(table, cell);
		size_t width =
			report_fit_width((const char *)table->text.data + begin, table->ends[cell] - begin);
		bool is_last = column + 1 == table->column_count, is_text = table->are_texts[column];
		size_t own = table->widths[column];

		widths[column] = width > own || (is_last && is_text) ? width : own;
		if (table->is_folded && is_text && widths[column] > own)
			widths[column] = own;
		table->row_least[column] = own > table->least[column] ? own : table->least[column];
	}
	if (!table->is_folded)
		report_fit(widths, table->are_texts, table->row_least, table->column_count, table->terminal);
	return widths;
}

static void flush(struct report_table *table)
{
	const char *text = (const char *)table->text.data;

	for (size_t row = 0; row < table->rows_kept && !table->text.failed; row++) {
		const size_t *widths = row_fit(table, row);

		for (size_t column = 0; column < table->column_count; column++) {
			size_t cell = row * table->column_count + column, begin = cell_begin(table, cell);

			put_aligned(table, column, text + begin, table->ends[cell] - begin, widths[column]);
		}
		write_line(table);
	}
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

static void fix_widths(struct report_table *table)
{
	size_t most = table->terminal ? table->terminal : WIDTH_MAX;
	size_t *natural = table->widths + table->column_count;

	for (size_t column = 0; column < table->column_count; column++) {
		size_t width = heading_bytes(&table->columns[column]);

		for (size_t row = 0; row < table->rows_kept; row++) {
			size_t cell = row * table->column_count + column, begin = cell_begin(table, cell);
			size_t wanted = table->text.failed
						? 0
						: report_fit_width((const char *)table->text.data + begin,
							  table->ends[cell] - begin);

			if (wanted > width)
				width = wanted;
		}
		table->widths[column] = natural[column] = width < most ? width : most;
	}
	report_fit(table->widths, table->are_texts, table->least, table->column_count, table->terminal);
	table->is_folded = report_fit_fold(table->widths, natural, table->are_texts, table->least,
		table->begins, table->column_count, table->terminal);
	table->widths_known = true;
	for (size_t column = 0; column < table->column_count; column++)
		put_aligned(table, column, table->columns[column].name,
			heading_bytes(&table->columns[column]), SIZE_MAX);
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
	table->widths = calloc(2 * count, sizeof *table->widths);
	table->least = calloc(2 * count, sizeof *table->least);
	table->are_texts = calloc(count, sizeof *table->are_texts);
	table->begins = calloc(count, sizeof *table->begins);
	if (!table->ends || !table->widths || !table->least || !table->are_texts || !table->begins) {
		report_table_fini(table);
		return -1;
	}
	table->row_least = table->least + count;
	for (size_t column = 0; column < count; column++) {
		table->are_texts[column] = columns[column].kind <= REPORT_COMPOSED;
		table->least[column] = columns[column].least ? columns[column].least : REPORT_FIT_LEAST;
	}
	table->terminal = report_fit_terminal(out);
	return 0;
}

bool report_table_end(struct report_table *table)
{
	if (!table->widths_known)
		fix_widths(table);
	flush(table);
	return !table->failed;
}

void report_table_fini(struct report_table *table)
{
	store_bytes_fini(&table->text);
	store_bytes_fini(&table->line);
	free(table->ends);
	free(table->widths);
	free(table->least);
	free(table->are_texts);
	free(table->begins);
	*table = (struct report_table){0};
}
