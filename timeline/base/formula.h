/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formula.h - derived metrics: a spreadsheet-like formula over the columns of a metric table (S4 10.5).
 *
 *   sum        = product { (+ | -) product }            comparisons give 1 or 0: < <= > >= == !=
 *   product    = sign { (* | /) sign }
 *   sign       = [-] power          power = value [^ sign]
 *   value      = number | $n | @n | $column | @column | ${column} | @{column} | name ( sum {, sum} ) | ( sum
 * )
 *
 * $n is the n-th column's value in the current row, counted from 0, @n its value in the root; a column's name
 * may stand for n, if the caller has names, and its ":incl" or "_ns" may be left out; in braces, where
 * other characters follow it. Functions: avg
 * sum min max stdev (any number of arguments), abs sqrt exp log log10 floor ceil round (one), pow (two), if
 * (three). Undefined results (0/0, the root of -1) are NaN, which propagates.
 */
#ifndef TIMELINE_FORMULA_H
#define TIMELINE_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/base/error.h"

struct formula;

/* ERROR_USAGE: what is wrong and where. `columns`: number of columns that the formula may use; `names`:
 * theirs, NULL: they have none. */
int formula_parse(struct formula **formula, const char *text, size_t columns, struct error *error);
/* The same with columns that have names; NULL: this one has none. */
int formula_parse_named(struct formula **formula, const char *text, const char *const *names, size_t columns,
	struct error *error);
void formula_free(struct formula *formula);
/* It has an @n: without the root's values it has none. */
bool formula_has_root(const struct formula *formula);

/* Both arrays have as many columns as it was parsed for. */
double formula_value(const struct formula *formula, const double *row, const double *root);

#endif
