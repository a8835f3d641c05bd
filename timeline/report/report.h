/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - prints rows of named columns as a table for people, as TSV or as JSON for scripts (design,
 * Output). The caller gives raw bytes; this module escapes them.
 *
 *   table  columns aligned, durations with units, a header line; widths from the first rows
 *   tsv    one header line; ns and bytes as integers; no units, no locale
 *   json   {"schema":"hpct-stats","version":1}, then one object per line; a string is the
 *          TSV field, an empty field is null
 */
#ifndef TIMELINE_REPORT_H
#define TIMELINE_REPORT_H

#include <stdio.h>

#include "store/base/bytes.h"
#include "store/base/error.h"

enum report_format { REPORT_TABLE, REPORT_TSV, REPORT_JSON };
/* The format of that name, -1: none. */
int report_format_find(const char *name);

/* How a column's cells are given, and shown in a table. */
enum report_kind {
	REPORT_TEXT,	 /* raw bytes */
	REPORT_COMPOSED, /* escaped by the caller: paths, attributes, keys of statistics */
	REPORT_NUMBER,
	REPORT_FIGURES,	 /* a number given as text */
	REPORT_DURATION, /* ns */
	REPORT_SIZE,	 /* bytes */
	REPORT_PERCENT
};

/* Where a terminal has no room for all columns: which one goes first; of equal ones, the last. The first
 * column and those of REPORT_WORTH_MOST stay. */
enum report_worth { REPORT_WORTH_DEFAULT, REPORT_WORTH_LITTLE, REPORT_WORTH_SOME, REPORT_WORTH_MOST };

struct report_column {
	const char *name; /* raw bytes: a metric's name may be part of it */
	enum report_kind kind;
	unsigned least; /* fewest characters kept of a text on a terminal; 0: the default of report_fit.h */
	enum report_worth worth;
};

struct report;

/* `schema`: the program's name; `columns` must outlive the report. Writes to `out` and never closes it.
 * ERROR_USAGE: a formula. */
int report_open(struct report **report, FILE *out, enum report_format format, const char *schema,
	const struct report_column *columns, size_t count, struct error *error);
/* Writes the rest. ERROR_IO if any write failed. Frees the report in any case. */
int report_close(struct report *report, struct error *error);

/* The cells of a row, from the first column to the last. */
void report_text(struct report *report, const char *bytes, size_t size);
void report_string(struct report *report, const char *text); /* NULL: none */
/* A text that is escaped as in the TSV, or a number as text, whatever the column's other cells are. */
void report_cell(struct report *report, const char *bytes, size_t size, bool is_number);
/* A name in a table's tree: indented by its depth, and marked. Deeper than REPORT_INDENT_MAX it shows the
 * depth as a number before the name: an unfolded recursion may have a million levels. */
#define REPORT_INDENT_MAX 100
void report_tree_name(struct report *report, size_t depth, const char *mark, const char *name, size_t size);
void report_number(struct report *report, uint64_t value);
void report_real(struct report *report, double value);
/* A real number as it is: for scripts with all its digits, in a table with two places; NAN and infinity:
 * none. */
void report_figure(struct report *report, double value);
void report_none(struct report *report);
/* Ends a row, after all its cells. */
void report_row(struct report *report);

/* Each report that is opened from now on has the columns of this selector's formulas (report_formulas.h),
 * which the caller keeps; NULL: none. `has_whole` false: no @n, since rows are not kept. */
struct select;
void report_take_formulas(const struct select *select, bool has_whole);

/* Reports were written by this process, and none had a row. */
bool report_was_empty(void);

/* ---- rows of other processes; not for tables ---- */

/* In a forked process: writes rows to `out` from now on, without the rows before. */
void report_divert(struct report *report, FILE *out);
/* Writes all rows so far. ERROR_IO. */
int report_flush(struct report *report, struct error *error);
/* Between two rows: inserts rows that such a process has written. */
void report_paste(struct report *report, const void *rows, size_t size);

/* "1.234 ms": at most 4 digits and a unit. */
#define REPORT_HUMAN_MAX 32
void report_human_duration(char text[REPORT_HUMAN_MAX], uint64_t ns);
void report_human_size(char text[REPORT_HUMAN_MAX], uint64_t bytes);

/* For people: a path of the root alone is empty, and would look lost. */
static inline const char *report_shown_path(const char *path)
{
	return *path ? path : "<program root>";
}

#endif
