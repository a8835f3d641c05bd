/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_table.h - for report.c: rows as a table for people. It keeps its first rows until it knows how wide
 * the columns are; from then on a row is written as soon as it is complete, so that a table of any length
 * needs no memory. One thread.
 */
#ifndef TIMELINE_REPORT_TABLE_H
#define TIMELINE_REPORT_TABLE_H

#include <stdbool.h>

#include "timeline/report/report.h"

struct report_table {
	FILE *out;
	const struct report_column *columns;
	size_t column_count;
	struct store_bytes text, line; /* of the kept cells; scratch */
	size_t *ends;		       /* where each kept cell ends in `text` */
	size_t *widths;		       /* characters of the columns; behind them, of a row's cells */
	size_t *least, *row_least;     /* what is left of each text at least, characters */
	bool *are_texts;	       /* columns */
	bool *begins;		       /* columns: a further line of the row */
	size_t terminal;	       /* its width, 0: none */
	size_t rows_kept;
	bool widths_known, is_folded, failed;
};

/* `out` and `columns` stay the caller's and outlive the table. -1: memory is out, and nothing is to be given
 * back. */
int report_table_init(
	struct report_table *table, FILE *out, const struct report_column *columns, size_t count);
void report_table_fini(struct report_table *table);
/* The row's cells, from the first column to the last; then the row. */
static inline void report_table_cell(
	struct report_table *table, size_t column, const char *bytes, size_t size)
{
	store_bytes_put(&table->text, bytes, size);
	table->ends[table->rows_kept * table->column_count + column] = table->text.size;
}
void report_table_row(struct report_table *table);
/* Writes what is kept. False: something could not be written, or there was no memory for it. */
bool report_table_end(struct report_table *table);

#endif
