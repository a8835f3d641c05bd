/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formula_columns.h - columns that formulas of --metric add to a reader's numbers (S4 10.5):
 *
 *   --metric 'waste = $2 * 4 - $1'       $n: the n-th number of the row, from 0; @n: of the whole
 *
 * Numbers are counted in the order of the columns; a formula may use those of earlier ones, which follow.
 */
#ifndef TIMELINE_FORMULA_COLUMNS_H
#define TIMELINE_FORMULA_COLUMNS_H

#include "store/base/arena.h"
#include "timeline/base/formula.h"
#include "timeline/report/report.h"
#include "timeline/select/select.h"

struct formula_column {
	const char *name;
	struct formula *formula;
};

/* All-zero: none. */
struct formula_columns {
	struct formula_column *columns;
	size_t count;
	size_t width; /* numbers of a row ahead of them */
};

/* The selector's formulas, over `width` numbers of these names, NULL: they have none; formulas have theirs.
 * ERROR_USAGE: what is wrong and where. In `arena`; call fini in any case. */
int formula_columns_init(struct formula_columns *formulas, const struct select *select,
	const char *const *names, size_t width, struct arena *arena, struct error *error);
void formula_columns_fini(struct formula_columns *formulas);
/* The name of a formula's column, in `arena`; NULL: no memory. */
const char *formula_columns_name(const char *text, struct arena *arena);
/* One of them has an @n. */
bool formula_columns_have_whole(const struct formula_columns *formulas);
/* ERROR_USAGE: one of them has an @n, where rows are given one by one and the whole is not known. */
int formula_columns_refuse_whole(const struct formula_columns *formulas, struct error *error);
/* Fills numbers[width + i], of a row whose first `width` are there; `whole`: those of the whole, all filled.
 */
void formula_columns_fill(const struct formula_columns *formulas, double *numbers, const double *whole);
/* The cells of a filled row. What is not defined has none. */
void formula_columns_report(
	const struct formula_columns *formulas, struct report *report, const double *numbers);

#endif
