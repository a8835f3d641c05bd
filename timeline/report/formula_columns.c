/* SPDX-License-Identifier: Apache-2.0 */
/* formula_columns.c - see formula_columns.h. */
#include "timeline/report/formula_columns.h"

#include <string.h>

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* "NAME = FORMULA"; without a name the formula is its own. */
const char *formula_columns_name(const char *text, struct arena *arena)
{
	const char *sign = strchr(text, '='), *name = skip_blanks(text), *formula = skip_blanks(sign + 1);
	size_t size = name < sign ? (size_t)(sign - name) : 0;

	while (size && (name[size - 1] == ' ' || name[size - 1] == '\t'))
		size--;
	return arena_copy(arena, size ? name : formula, size ? size : strlen(formula));
}

static int add(struct formula_columns *formulas, const char *text, const char **names, struct arena *arena,
	struct error *error)
{
	struct formula_column *column = &formulas->columns[formulas->count];
	int rc;

	column->name = formula_columns_name(text, arena);
	if (!column->name)
		return error_memory(error);
	rc = formula_parse_named(&column->formula, skip_blanks(strchr(text, '=') + 1), names,
		formulas->width + formulas->count, error);
	if (rc == 0)
		names[formulas->width + formulas->count++] = column->name;
	return rc;
}

int formula_columns_init(struct formula_columns *formulas, const struct select *select,
	const char *const *names, size_t width, struct arena *arena, struct error *error)
{
	size_t count;
	char *const *texts = select_formulas(select, &count);
	const char **all = arena_calloc(arena, width + count + 1, sizeof *all);
	int rc = 0;

	*formulas = (struct formula_columns){
		.width = width, .columns = arena_calloc(arena, count + 1, sizeof *formulas->columns)};
	if (!formulas->columns || !all)
		return error_memory(error);
	if (names && width)
		memcpy(all, names, width * sizeof *all);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add(formulas, texts[i], all, arena, error);
	return rc;
}

void formula_columns_fini(struct formula_columns *formulas)
{
	for (size_t i = 0; i < formulas->count; i++)
		formula_free(formulas->columns[i].formula);
	formulas->count = 0;
}

bool formula_columns_have_whole(const struct formula_columns *formulas)
{
	for (size_t i = 0; i < formulas->count; i++)
		if (formula_has_root(formulas->columns[i].formula))
			return true;
	return false;
}

int formula_columns_refuse_whole(const struct formula_columns *formulas, struct error *error)
{
	for (size_t i = 0; i < formulas->count; i++)
		if (formula_has_root(formulas->columns[i].formula))
			return error_set(error, ERROR_USAGE,
				"formula '%.80s': @ stands for all rows together, and these are printed one "
				"by one; write $",
				formulas->columns[i].name);
	return 0;
}

void formula_columns_fill(const struct formula_columns *formulas, double *numbers, const double *whole)
{
	for (size_t i = 0; i < formulas->count; i++)
		numbers[formulas->width + i] = formula_value(formulas->columns[i].formula, numbers, whole);
}

void formula_columns_report(
	const struct formula_columns *formulas, struct report *report, const double *numbers)
{
	for (size_t i = 0; i < formulas->count; i++)
		report_figure(report, numbers[formulas->width + i]);
}
