/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_formulas.h - for report.c: the columns that formulas of --metric add to a report, whatever its rows
 * are (formula_columns.h).
 *
 *   numbers   those of the columns that are numbers, in their order; a text, or what is missing, is none
 *   @n        the sum of all rows; then rows are kept until the last one
 *   place     for scripts behind all others; in a table ahead of the texts that it ends with, which may be
 * long
 *
 * One thread.
 */
#ifndef TIMELINE_REPORT_FORMULAS_H
#define TIMELINE_REPORT_FORMULAS_H

#include "timeline/report/formula_columns.h"

struct report_formulas {
	struct formula_columns formulas;
	const struct report_column *own, *columns; /* the report's; with those of formulas */
	size_t own_count, count, place;
	size_t *number_of;		   /* by column of `own`: its number; SIZE_MAX: a text */
	double *row, *whole;		   /* the numbers, then the formulas' */
	struct store_bytes cells, numbers; /* of the rows that wait: each cell's size and bytes; doubles */
	size_t waiting;
	bool has_root; /* some formula needs the whole */
	struct arena arena;
};

/* ERROR_USAGE: what is wrong in a formula, and where. `has_whole` false: @n is. Call fini in any case. */
int report_formulas_init(struct report_formulas *formulas, const struct select *select, bool is_table,
	bool has_whole, const struct report_column *columns, size_t count, struct error *error);
void report_formulas_fini(struct report_formulas *formulas);

/* The cell of a column, as it will be written; its number, NAN: none. */
void report_formulas_keep(struct report_formulas *formulas, size_t column, const char *bytes, size_t size,
	bool is_quoted, double number);
/* The rows that wait, each in order: its cells by `put`, whose `figure` is set for a formula's (then `bytes`
 * is NULL), then `end`. False: no memory. */
struct report_formulas_sink {
	void *own;
	void (*put)(void *own, size_t column, const char *bytes, size_t size, bool is_quoted, double figure);
	void (*end)(void *own);
};
bool report_formulas_flush(struct report_formulas *formulas, const struct report_formulas_sink *sink);

#endif
