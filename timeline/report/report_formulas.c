/* SPDX-License-Identifier: Apache-2.0 */
/* report_formulas.c - see report_formulas.h. */
#include "timeline/report/report_formulas.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define NO_NUMBER SIZE_MAX

/* Ahead of each waiting cell. */
struct cell {
	uint32_t size;
	bool is_quoted;
};

/* ---- columns ---- */

/* A table leaves out that a duration is in ns: a formula finds the column by either name. */
static const char *name_of(const struct report_column *column, struct arena *arena)
{
	size_t size = strlen(column->name);

	if (column->kind != REPORT_DURATION || (size > 3 && !strcmp(column->name + size - 3, "_ns")))
		return column->name;
	return arena_printf(arena, "%s_ns", column->name);
}

/* Numbers the columns; their names in *names. */
static int find_numbers(
	struct report_formulas *formulas, const char ***names, size_t *width, struct error *error)
{
	*names = arena_calloc(&formulas->arena, formulas->own_count + 1, sizeof **names);
	formulas->number_of =
		arena_calloc(&formulas->arena, formulas->own_count + 1, sizeof *formulas->number_of);
	if (!*names || !formulas->number_of)
		return error_memory(error);
	*width = 0;
	for (size_t i = 0; i < formulas->own_count; i++) {
		bool is_number = formulas->own[i].kind > REPORT_COMPOSED;

		formulas->number_of[i] = is_number ? *width : NO_NUMBER;
		if (!is_number)
			continue;
		(*names)[*width] = name_of(&formulas->own[i], &formulas->arena);
		if (!(*names)[(*width)++])
			return error_memory(error);
	}
	return 0;
}

static int add_columns(struct report_formulas *formulas, bool is_table, struct error *error)
{
	size_t more = formulas->formulas.count;
	struct report_column *columns;

	formulas->count = formulas->own_count + more;
	formulas->place = formulas->own_count;
	while (is_table && formulas->place && formulas->own[formulas->place - 1].kind <= REPORT_COMPOSED)
		formulas->place--;
	if (!formulas->place) /* only texts: behind the first, which names the row */
		formulas->place = formulas->own_count;
	columns = arena_calloc(&formulas->arena, formulas->count, sizeof *columns);
	if (!columns)
		return error_memory(error);
	memcpy(columns, formulas->own, formulas->place * sizeof *columns);
	for (size_t i = 0; i < more; i++)
		columns[formulas->place + i] =
			(struct report_column){formulas->formulas.columns[i].name, REPORT_NUMBER};
	memcpy(columns + formulas->place + more, formulas->own + formulas->place,
		(formulas->own_count - formulas->place) * sizeof *columns);
	formulas->columns = columns;
	return 0;
}

static int find_roots(struct report_formulas *formulas, bool has_whole, struct error *error)
{
	formulas->has_root = formula_columns_have_whole(&formulas->formulas);
	return has_whole ? 0 : formula_columns_refuse_whole(&formulas->formulas, error);
}

int report_formulas_init(struct report_formulas *formulas, const struct select *select, bool is_table,
	bool has_whole, const struct report_column *columns, size_t count, struct error *error)
{
	const char **names = NULL;
	size_t width = 0;
	int rc;

	*formulas = (struct report_formulas){.own = columns, .own_count = count};
	rc = find_numbers(formulas, &names, &width, error);
	if (rc == 0)
		rc = formula_columns_init(&formulas->formulas, select, names, width, &formulas->arena, error);
	if (rc == 0)
		rc = find_roots(formulas, has_whole, error);
	if (rc == 0)
		rc = add_columns(formulas, is_table, error);
	if (rc < 0)
		return rc;
	formulas->row = arena_calloc(&formulas->arena, width + formulas->formulas.count, sizeof(double));
	formulas->whole = arena_calloc(&formulas->arena, width + formulas->formulas.count, sizeof(double));
	return formulas->row && formulas->whole ? 0 : error_memory(error);
}

void report_formulas_fini(struct report_formulas *formulas)
{
	formula_columns_fini(&formulas->formulas);
	store_bytes_fini(&formulas->cells);
	store_bytes_fini(&formulas->numbers);
	arena_fini(&formulas->arena);
}

/* ---- rows ---- */

void report_formulas_keep(struct report_formulas *formulas, size_t column, const char *bytes, size_t size,
	bool is_quoted, double number)
{
	struct cell cell = {.size = (uint32_t)size, .is_quoted = is_quoted};
	size_t at = formulas->number_of[column];

	formulas->cells.failed |= size > UINT32_MAX;
	store_bytes_put(&formulas->cells, &cell, sizeof cell);
	store_bytes_put(&formulas->cells, bytes, size);
	if (at != NO_NUMBER) {
		store_bytes_put(&formulas->numbers, &number, sizeof number);
		formulas->whole[at] += isnan(number) ? 0 : number;
	}
	formulas->waiting += column + 1 == formulas->own_count;
}

static void put_figures(const struct report_formulas *formulas, const struct report_formulas_sink *sink)
{
	const struct formula_columns *own = &formulas->formulas;

	formula_columns_fill(own, formulas->row, formulas->whole);
	for (size_t i = 0; i < own->count; i++)
		sink->put(sink->own, formulas->place + i, NULL, 0, false, formulas->row[own->width + i]);
}

/* Returns where the row's cells end. */
static const uint8_t *put_row(
	const struct report_formulas *formulas, const uint8_t *at, const struct report_formulas_sink *sink)
{
	for (size_t i = 0; i < formulas->own_count; i++) {
		struct cell cell;

		if (i == formulas->place)
			put_figures(formulas, sink);
		memcpy(&cell, at, sizeof cell);
		at += sizeof cell;
		sink->put(sink->own, i < formulas->place ? i : i + formulas->formulas.count, (const char *)at,
			cell.size, cell.is_quoted, NAN);
		at += cell.size;
	}
	if (formulas->place == formulas->own_count)
		put_figures(formulas, sink);
	sink->end(sink->own);
	return at;
}

bool report_formulas_flush(struct report_formulas *formulas, const struct report_formulas_sink *sink)
{
	size_t width = formulas->formulas.width;
	const uint8_t *at = formulas->cells.data, *numbers = formulas->numbers.data;
	bool has_failed = formulas->cells.failed || formulas->numbers.failed;

	if (!has_failed && formulas->waiting)
		formula_columns_fill(&formulas->formulas, formulas->whole, formulas->whole);
	for (size_t i = 0; i < formulas->waiting && !has_failed; i++) {
		if (width)
			memcpy(formulas->row, numbers + i * width * sizeof(double), width * sizeof(double));
		at = put_row(formulas, at, sink);
	}
	formulas->waiting = formulas->cells.size = formulas->numbers.size = 0;
	return !has_failed;
}
