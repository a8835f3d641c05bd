/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outline_columns.c - the columns of an outline: metrics of the profile, formulas over them, and how the user
 * wants them shown.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/models/outline.h"

static double number_of(const struct profile_metric *metric, union profile_value value)
{
	return metric->is_real ? value.real : (double)value.number;
}

/* Values of the metrics, then of formulas, which may use derived columns left of them. */
static void fill_row(struct outline *outline, uint32_t at)
{
	const struct profile_row *row = &outline->profile.rows[at];
	double *values = &outline->values[at * OUTLINE_COLUMNS];

	for (size_t c = 0; c < outline->column_count; c++) {
		const struct outline_column *column = &outline->columns[c];
		if (column->kind == OUTLINE_DERIVED)
			values[c] = column->formula ? formula_value(column->formula, values, outline->values)
						    : NAN;
		else
			values[c] = number_of(&outline->profile.metrics[column->metric],
				column->kind == OUTLINE_INCLUSIVE ? row->inclusive[column->metric]
								  : row->exclusive[column->metric]);
	}
}

static void fill_values(struct outline *outline)
{
	for (uint32_t i = 0; i < outline->profile.count; i++) /* the root first: @n is there */
		fill_row(outline, i);
}

static void add_metric(struct outline *outline, size_t metric, enum outline_column_kind kind)
{
	const struct profile_metric *m = &outline->profile.metrics[metric];
	struct outline_column *column = &outline->columns[outline->column_count++];

	*column = (struct outline_column){.kind = kind, .metric = metric};
	column->is_time = strcmp(m->unit, "ns") == 0;
	column->is_bytes = strcmp(m->unit, "bytes") == 0;
	column->has_percent = !m->is_real || !column->is_time; /* a difference of times is of no whole */
	snprintf(column->name, sizeof(column->name), "%.50s (%c)", m->name,
		kind == OUTLINE_INCLUSIVE ? 'I' : 'E');
}

#define SCRIPT_NAME 200

/* As the columns of hpct-profile for scripts are called, of the first `count`: formulas name them so. */
static int parse_formula(struct outline_column *column, const char *text, const struct outline *outline,
	size_t count, struct error *error)
{
	const char *names[OUTLINE_COLUMNS];
	char scripts[OUTLINE_COLUMNS][SCRIPT_NAME];

	for (size_t i = 0; i < count; i++) {
		const struct outline_column *other = &outline->columns[i];

		if (other->kind != OUTLINE_DERIVED)
			snprintf(scripts[i], sizeof(scripts[i]), "%.150s:%s",
				outline->profile.metrics[other->metric].name,
				other->kind == OUTLINE_INCLUSIVE ? "incl" : "excl");
		names[i] = other->kind == OUTLINE_DERIVED ? other->name : scripts[i];
	}
	return formula_parse_named(&column->formula, text, names, count, error);
}

/* The user's choices about a column. */
static void keep_looks(struct outline_column *column, const struct outline_column *old)
{
	column->is_hidden = old->is_hidden;
	column->place = old->place;
	strcpy(column->title, old->title);
	strcpy(column->format, old->format);
}

/* Columns of the metrics; those that were there keep whether they are hidden, derived ones come behind. */
static void merge_columns(struct outline *outline)
{
	struct outline_column old[OUTLINE_COLUMNS];
	size_t old_count = outline->column_count;
	struct error error;

	memcpy(old, outline->columns, sizeof(old));
	outline->column_count = 0;
	for (size_t m = 0; m < outline->profile.metric_count && outline->column_count + 2 <= OUTLINE_COLUMNS;
		m++) {
		add_metric(outline, m, OUTLINE_INCLUSIVE);
		add_metric(outline, m, OUTLINE_EXCLUSIVE);
	}
	for (size_t i = 0; i < old_count; i++) {
		for (size_t c = 0; c < outline->column_count; c++)
			if (strcmp(outline->columns[c].name, old[i].name) == 0)
				keep_looks(&outline->columns[c], &old[i]);
		if (old[i].kind != OUTLINE_DERIVED || outline->column_count == OUTLINE_COLUMNS)
			continue;
		formula_free(old[i].formula);
		old[i].formula = NULL;
		if (parse_formula(&old[i], old[i].text, outline, outline->column_count, &error))
			old[i].formula = NULL; /* its metrics are not in this window: no values */
		outline->columns[outline->column_count++] = old[i];
	}
	if (outline->sort >= outline->column_count)
		outline->sort = 0;
}

void outline_make_columns(struct outline *outline)
{
	merge_columns(outline);
	fill_values(outline);
}

const char *outline_title(const struct outline_column *column)
{
	return column->title[0] ? column->title : column->name;
}

size_t outline_shown(const struct outline *outline, size_t *order)
{
	size_t count = 0;

	for (size_t i = 0; i < outline->column_count; i++) {
		size_t at = count;
		if (outline->columns[i].is_hidden)
			continue;
		for (; at && outline->columns[order[at - 1]].place > outline->columns[i].place; at--)
			order[at] = order[at - 1];
		order[at] = i;
		count++;
	}
	return count;
}

void outline_move(struct outline *outline, size_t column, size_t place)
{
	size_t order[OUTLINE_COLUMNS], count = outline_shown(outline, order), at = 0, put = 0;

	for (size_t i = 0; i < count; i++) {
		if (put == place)
			put++;
		if (order[i] != column)
			outline->columns[order[i]].place = (int)put++;
		at += order[i] == column;
	}
	if (at)
		outline->columns[column].place = (int)(place < count ? place : count - 1);
}

double outline_value(const struct outline *outline, uint32_t row, size_t column)
{
	return outline->values[row * OUTLINE_COLUMNS + column];
}

int outline_derive(
	struct outline *outline, const char *name, const char *text, bool has_percent, struct error *error)
{
	struct outline_column column = {.kind = OUTLINE_DERIVED, .has_percent = has_percent};
	size_t at = 0;
	int result;

	if (strlen(text) >= sizeof(column.text) || strlen(name) >= sizeof(column.name))
		return error_set(error, ERROR_USAGE,
			"a metric's name has at most %d characters, a formula %d", OUTLINE_NAME - 1,
			OUTLINE_FORMULA - 1);
	while (at < outline->column_count && (outline->columns[at].kind != OUTLINE_DERIVED ||
						     strcmp(outline->columns[at].name, name) != 0))
		at++;
	if (at == OUTLINE_COLUMNS)
		return error_set(error, ERROR_USAGE, "there are %d columns already", OUTLINE_COLUMNS);
	result = parse_formula(&column, text, outline, at, error);
	if (result)
		return result;
	strcpy(column.name, name);
	strcpy(column.text, text);
	if (at == outline->column_count)
		outline->column_count++;
	else
		formula_free(outline->columns[at].formula);
	outline->columns[at] = column;
	fill_values(outline);
	outline_sort(outline, outline->sort);
	return 0;
}
