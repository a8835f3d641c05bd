/* SPDX-License-Identifier: Apache-2.0 */
/* answer_formulas.c - see answer_formulas.h. */
#include "formats/library/answer_formulas.h"

#include <math.h>
#include <string.h>

#define NO_COLUMN SIZE_MAX

/* ---- columns ---- */

/* What only the library gives is no number of the reader's: it identifies, and counts nothing. */
static bool is_number(const struct column_spec *spec)
{
	return spec->type != HPCT_TEXT && spec->type != HPCT_CHOICE && strcmp(spec->name, "context") != 0 &&
	       strcmp(spec->name, "link") != 0;
}

size_t answer_formulas_count(const struct select *select)
{
	size_t count = 0;

	if (select)
		select_formulas(select, &count);
	return count;
}

const struct column_spec *answer_specs(const struct column_spec *specs, size_t *count,
	const struct select *select, struct arena *arena, struct error *error)
{
	size_t own = *count, more = answer_formulas_count(select);
	char *const *texts = more ? select_formulas(select, &more) : NULL;
	struct column_spec *all = more ? arena_calloc(arena, own + more, sizeof *all) : NULL;

	if (!more)
		return specs;
	if (all)
		memcpy(all, specs, own * sizeof *all);
	for (size_t i = 0; all && i < more; i++) {
		all[own + i] = (struct column_spec){formula_columns_name(texts[i], arena), HPCT_REAL};
		if (!all[own + i].name)
			all = NULL;
	}
	if (!all)
		error_memory(error);
	*count = own + more;
	return all;
}

int answer_wanted(const bool **needed, const bool *wanted, const struct column_spec *specs, size_t own,
	const struct select *select, struct arena *arena, struct error *error)
{
	size_t more = answer_formulas_count(select);
	bool *all;

	*needed = wanted;
	if (!wanted || !more)
		return 0;
	all = arena_calloc(arena, own + more, sizeof *all);
	if (!all)
		return error_memory(error);
	for (size_t i = 0; i < own; i++)
		all[i] = wanted[i] || is_number(&specs[i]);
	memset(all + own, true, more); /* one may name another */
	*needed = all;
	return 0;
}

/* ---- numbers ---- */

static size_t find(const struct column_spec *specs, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(specs[i].name, name) == 0)
			return i;
	return NO_COLUMN;
}

/* Returns how many numbers a row has. */
static size_t find_numbers(
	struct answer_formulas *formulas, const char **names, const struct column_spec *specs, size_t first)
{
	size_t width = 0;

	for (size_t i = first; i < formulas->own; i++)
		if (is_number(&specs[i])) {
			names[width] = specs[i].name;
			formulas->column_of[width++] = i;
		}
	return width;
}

int answer_formulas_init(struct answer_formulas *formulas, const struct select *select,
	const struct column_spec *specs, size_t own, size_t first, const char *const *names, size_t width,
	struct arena *arena, struct error *error)
{
	size_t more = answer_formulas_count(select), room = (names ? width : own) + more + 1;
	const char **found = arena_calloc(arena, room, sizeof *found);
	int rc;

	*formulas = (struct answer_formulas){.own = own,
		.column_of = arena_calloc(arena, room, sizeof *formulas->column_of),
		.row = arena_calloc(arena, room, sizeof *formulas->row),
		.whole = arena_calloc(arena, room, sizeof *formulas->whole)};
	if (!found || !formulas->column_of || !formulas->row || !formulas->whole)
		return error_memory(error);
	if (!more)
		return 0;
	if (!names)
		width = find_numbers(formulas, found, specs, first);
	for (size_t i = 0; names && i < width; i++)
		formulas->column_of[i] = find(specs, own, names[i]);
	rc = formula_columns_init(&formulas->formulas, select, names ? names : found, width, arena, error);
	formulas->has_whole = rc == 0 && formula_columns_have_whole(&formulas->formulas);
	return rc;
}

void answer_formulas_fini(struct answer_formulas *formulas)
{
	formula_columns_fini(&formulas->formulas);
}

/* ---- values ---- */

static double number_at(const struct hpct_batch *batch, size_t column, size_t row)
{
	const struct column *at = column == NO_COLUMN ? NULL : &batch->columns[column];

	if (!at || at->data.failed || at->valid.failed || !column_has(at, row))
		return NAN;
	return at->type == HPCT_REAL ? column_real(at, row) : (double)column_number(at, row);
}

static void fill_row(struct answer_formulas *formulas, const struct hpct_batch *batch, size_t row)
{
	for (size_t i = 0; i < formulas->formulas.width; i++)
		formulas->row[i] = number_at(batch, formulas->column_of[i], row);
}

/* A column that nobody wanted has no rows. */
static size_t rows_of(const struct hpct_batch *batch)
{
	return batch->wanted_count ? batch->wanted[0]->count : 0;
}

static void fill_whole(struct answer_formulas *formulas, const struct hpct_batch *batch, const double *whole)
{
	size_t width = formulas->formulas.width;

	memset(formulas->whole, 0, width * sizeof(double));
	if (whole)
		memcpy(formulas->whole, whole, width * sizeof(double));
	for (size_t row = 0, count = whole ? 0 : rows_of(batch); row < count; row++) {
		fill_row(formulas, batch, row);
		for (size_t i = 0; i < width; i++)
			formulas->whole[i] += isnan(formulas->row[i]) ? 0 : formulas->row[i];
	}
	formula_columns_fill(&formulas->formulas, formulas->whole, formulas->whole);
}

void answer_formulas_put(struct answer_formulas *formulas, struct hpct_batch *batch, const double *whole)
{
	const struct formula_columns *own = &formulas->formulas;
	size_t rows = own->count ? rows_of(batch) : 0;

	if (rows && formulas->has_whole)
		fill_whole(formulas, batch, whole);
	for (size_t row = 0; row < rows; row++) {
		fill_row(formulas, batch, row);
		formula_columns_fill(own, formulas->row, formulas->whole);
		for (size_t i = 0; i < own->count; i++) {
			struct column *column = &batch->columns[formulas->own + i];
			double value = formulas->row[own->width + i];

			if (isfinite(value))
				column_put_real(column, value);
			else
				column_put_none(column);
		}
	}
}
