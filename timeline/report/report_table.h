/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_table.h - for report.c: prints rows as a table. It keeps the first rows until it knows the column
 * widths; after that it writes each row at once, so that long tables need no memory. One thread.
 */
#ifndef TIMELINE_REPORT_TABLE_H
#define TIMELINE_REPORT_TABLE_H

#include <stdbool.h>

#include "timeline/report/report.h"
#include "timeline/report/report_fit.h"

struct report_table {
	FILE *out;
	const struct report_column *columns;
	size_t column_count;
	struct store_bytes text, line; /* of the kept cells; scratch */
	size_t *ends;		       /* where each kept cell ends in `text` */
	struct report_fit_column *fits;
	struct {
		size_t *widths, *least;
		bool *are_texts;
	} cells;	 /* of a row, or of the whole, without the columns that are gone */
	size_t terminal; /* its width, 0: none */
	size_t rows_kept, gone;
	bool widths_known, failed;
};

/* The caller keeps `out` and `columns`, which must outlive the table. -1: no memory, and nothing to free. */
int report_table_init(
	struct report_table *table, FILE *out, const struct report_column *columns, size_t count);
void report_table_fini(struct report_table *table);
/* Call cell() for each column in order, then row(). */
static inline void report_table_cell(
	struct report_table *table, size_t column, const char *bytes, size_t size)
{
	store_bytes_put(&table->text, bytes, size);
	table->ends[table->rows_kept * table->column_count + column] = table->text.size;
}
void report_table_row(struct report_table *table);
/* Writes the kept rows. False: a write failed, or no memory. */
bool report_table_end(struct report_table *table);

#endif
