/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_formulas.c - formulas of --metric: those that are given, those kept by name with what they stand on,
 * and the metrics that both need as columns.
 *
 *   --metric 'dilation = 2'  --metric undilated      kept: undilated = 100 * $GPUOP * $dilation / @REALTIME
 *   formulas  dilation, undilated                    metrics  GPUOP, REALTIME
 */
#include <stdlib.h>
#include <string.h>

#include "store/base/array.h"
#include "store/base/bytes.h"
#include "timeline/base/glob.h"
#include "timeline/select/formula_file.h"
#include "timeline/select/select_internal.h"
#include "timeline/sum/gpu_metric.h"

#define NAME_MAX_BYTES 256u
#define NESTING_MAX 8u

/* ---- what is given ---- */

/* Behind its sign a number alone. */
static bool is_constant(const char *sign)
{
	char *end;

	strtod(sign + 1, &end);
	return end != sign + 1 && !end[strspn(end, " \t")];
}

bool select_is_formula(const char *value)
{
	const char *sign = strchr(value, '=');

	return sign && (strpbrk(sign, "$@") || (sign != value && is_constant(sign)));
}

static int put_formula(struct select *select, size_t at, const char *text, struct error *error)
{
	char *copy;

	for (size_t i = 0; i < select->formula_count; i++)
		if (strcmp(select->formulas[i], text) == 0)
			return 0;
	copy = strdup(text);
	if (!copy || !array_resize(&select->formulas, select->formula_count + 1, sizeof *select->formulas)) {
		free(copy);
		return error_memory(error);
	}
	memmove(select->formulas + at + 1, select->formulas + at,
		(select->formula_count - at) * sizeof *select->formulas);
	select->formulas[at] = copy;
	select->formula_count++;
	return 0;
}

int select_add_formula(struct select *select, const char *text, struct error *error)
{
	size_t before = select->formula_count;
	bool is_first = is_constant(strchr(text, '='));
	int rc = put_formula(select, is_first ? select->constant_count : before, text, error);

	select->constant_count += is_first && select->formula_count > before;
	return rc;
}

/* ---- several in one text ---- */

/* Where a piece ends; in braces a semicolon is part of a column's name. */
static size_t piece_size(const char *text)
{
	size_t size = 0;

	while (text[size] && text[size] != ';')
		size += text[size] == '{' ? strcspn(text + size, "}") : 1;
	return size;
}

static char *piece_copy(const char *text, size_t size)
{
	size_t before = strspn(text, " \t\n");

	before = before < size ? before : size;
	while (size > before && strchr(" \t\n", text[size - 1]))
		size--;
	return strndup(text + before, size - before);
}

/* Takes a formula, and puts a name behind the others. */
static int take_piece(
	struct select *select, const char *text, size_t size, struct store_bytes *names, struct error *error)
{
	char *piece = piece_copy(text, size);
	int rc = piece ? 0 : error_memory(error);

	if (rc == 0 && select_is_formula(piece))
		rc = select_add_formula(select, piece, error);
	else if (rc == 0 && *piece) {
		store_bytes_put(names, ",", names->size != 0);
		store_bytes_put(names, piece, strlen(piece));
	}
	free(piece);
	return rc;
}

/* Without memory none is. */
static bool has_formula_piece(const char *text)
{
	bool is_formula = false;
	size_t size;

	for (const char *at = text; *at && !is_formula; at += size + (at[size] == ';')) {
		char *piece;

		size = piece_size(at);
		piece = piece_copy(at, size);
		is_formula = piece && select_is_formula(piece);
		free(piece);
	}
	return is_formula;
}

int select_metrics(struct select *select, const char *text, struct error *error)
{
	struct store_bytes names = {0};
	size_t size;
	int rc = 0;

	if (!select->takes_formulas || !has_formula_piece(text))
		return select_option(select, "metric", text, error);
	for (const char *at = text; rc == 0 && *at; at += size + (at[size] == ';')) {
		size = piece_size(at);
		rc = take_piece(select, at, size, &names, error);
	}
	store_bytes_put(&names, "", names.size ? 1 : 0);
	if (rc == 0 && names.failed)
		rc = error_memory(error);
	if (rc == 0 && names.size)
		rc = select_option(select, "metric", (const char *)names.data, error);
	store_bytes_fini(&names);
	return rc;
}

/* ---- names in a formula ---- */

/* The next column's name behind a $ or @, without :incl and :excl; false: there is none. Skips numbers. */
static bool next_name(const char **at, char name[NAME_MAX_BYTES])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:.";

	while ((*at = strpbrk(*at, "$@")) != NULL) {
		const char *begin = *at + 1;
		size_t size = *begin == '{' ? strcspn(++begin, "}") : strspn(begin, letters);

		*at = begin + size;
		if (size > 5 &&
			(!memcmp(begin + size - 5, ":incl", 5) || !memcmp(begin + size - 5, ":excl", 5)))
			size -= 5;
		if (!size || size >= NAME_MAX_BYTES || (*begin >= '0' && *begin <= '9'))
			continue;
		memcpy(name, begin, size);
		name[size] = '\0';
		return true;
	}
	return false;
}

/* Its name is that of the formula, "NAME = ...". */
static bool is_called(const char *formula, const char *name)
{
	size_t size = strcspn(formula, "=");

	formula += strspn(formula, " \t");
	while (size && strchr(" \t=", formula[size - 1]))
		size--;
	return strlen(name) == size && !memcmp(formula, name, size);
}

static bool has_formula(const struct select *select, const char *name)
{
	for (size_t i = 0; i < select->formula_count; i++)
		if (is_called(select->formulas[i], name))
			return true;
	return false;
}

/* ---- what is kept by name ---- */

/* Puts the formula, and ahead of it those that it stands on and that are not given, at select->constant_count
 * + *added. Of a circle the innermost comes first, and names a column that is not there. */
static int add_kept(
	struct select *select, const char *text, size_t *added, unsigned nesting, struct error *error)
{
	char name[NAME_MAX_BYTES];
	size_t before;
	int rc = 0;

	for (const char *at = text; rc == 0 && nesting < NESTING_MAX && next_name(&at, name);) {
		char *under = select_run_has_metric(select, name) || has_formula(select, name) ||
					      is_called(text, name)
				      ? NULL
				      : formula_file_find(select->run, name);

		if (under)
			rc = add_kept(select, under, added, nesting + 1, error);
		free(under);
	}
	before = select->formula_count;
	if (rc == 0)
		rc = put_formula(select, select->constant_count + *added, text, error);
	*added += select->formula_count - before;
	return rc;
}

int select_bind_kept(struct select *select, struct error *error)
{
	size_t left = 0, added = 0; /* added: those given on the command line may name them, and follow */
	int rc = 0;

	if (!select->takes_formulas || !select->metrics)
		return 0;
	for (size_t i = 0; select->metrics[i]; i++) {
		char *text = select_run_has_metric(select, select->metrics[i]) || rc
				     ? NULL
				     : formula_file_find(select->run, select->metrics[i]);

		if (text) {
			rc = add_kept(select, text, &added, 0, error);
			free(text);
			free(select->metrics[i]);
		} else {
			select->metrics[left++] = select->metrics[i];
		}
	}
	select->metrics[left] = NULL;
	if (!left) {
		free(select->metrics);
		select->metrics = NULL;
	}
	return rc;
}

/* ---- metrics that formulas need ---- */

static int add_metric(struct select *select, const char *name, struct error *error)
{
	size_t count = 0;

	while (select->metrics && select->metrics[count])
		count++;
	if (!array_resize(&select->metrics, count + 2, sizeof *select->metrics))
		return error_memory(error);
	select->metrics[count] = strdup(name);
	select->metrics[count + 1] = NULL;
	return select->metrics[count] ? 0 : error_memory(error);
}

/* Computed ones are columns only if they are asked for; without a choice the recorded ones are. */
static int need_metric(struct select *select, const char *name, struct error *error)
{
	bool is_recorded = select_run_has_metric(select, name);
	int rc = 0;

	for (size_t i = 0; select->metrics && select->metrics[i]; i++)
		if (glob_match(select->metrics[i], name) &&
			select_run_has_metric(select, select->metrics[i]) == is_recorded)
			return 0;
	if (is_recorded ? !select->metrics : state_metrics_find(name) < 0 && !gpu_metric_find(name))
		return 0;
	if (!select->metrics && run_metric_count(select->run))
		rc = add_metric(select, "*", error);
	return rc ? rc : add_metric(select, name, error);
}

int select_bind_needed(struct select *select, struct error *error)
{
	char name[NAME_MAX_BYTES];
	int rc = 0;

	if (!select->takes_state_metrics ||
		!select->takes_gpu) /* of hpct-stats a metric chooses what rows count */
		return 0;
	for (size_t i = 0; i < select->formula_count; i++)
		for (const char *at = select->formulas[i]; rc == 0 && next_name(&at, name);)
			if (!strpbrk(name, "*?["))
				rc = need_metric(select, name, error);
	return rc;
}
