/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_formulas.h - columns that formulas of the selector's metric add to an answer (formula_columns.h):
 * REAL, behind the question's own. Their numbers are those of the reader that answers the same, in its order.
 *
 *   specs --answer_specs--> specs with formulas --columns_new--> batch --answer_formulas_put--> values
 *
 * Without formulas, or without a selector, all of this leaves everything as it is.
 */
#ifndef FORMATS_ANSWER_FORMULAS_H
#define FORMATS_ANSWER_FORMULAS_H

#include "formats/library/columns.h"
#include "timeline/report/formula_columns.h"

struct answer_formulas {
	struct formula_columns formulas;
	size_t own;	   /* columns of the question; those of formulas follow */
	size_t *column_of; /* by number; SIZE_MAX: these rows have none of it */
	double *row, *whole;
	bool has_whole; /* one of them has an @n */
};

size_t answer_formulas_count(const struct select *select); /* NULL: 0 */
/* The question's columns and, behind them, those of formulas; in `arena`, or the same if there are none. Adds
 * to *count. NULL: no memory. */
const struct column_spec *answer_specs(const struct column_spec *specs, size_t *count,
	const struct select *select, struct arena *arena, struct error *error);
/* What must have values if `wanted` (by such a column; NULL: all) is to be shown: with formulas all numbers.
 */
int answer_wanted(const bool **needed, const bool *wanted, const struct column_spec *specs, size_t own,
	const struct select *select, struct arena *arena, struct error *error);

/* `names` NULL: numbers are all columns from `first` on that are numbers of the reader's; else those of these
 * `width` names, where they are. ERROR_USAGE: what is wrong in a formula, and where. In `arena`; call fini in
 * any case. */
int answer_formulas_init(struct answer_formulas *formulas, const struct select *select,
	const struct column_spec *specs, size_t own, size_t first, const char *const *names, size_t width,
	struct arena *arena, struct error *error);
void answer_formulas_fini(struct answer_formulas *formulas);
/* The columns of formulas, of a batch whose other columns have their values. `whole`: the numbers of @n;
 * NULL: their sums. */
void answer_formulas_put(struct answer_formulas *formulas, struct hpct_batch *batch, const double *whole);

#endif
