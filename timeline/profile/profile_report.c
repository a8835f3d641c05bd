/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_report.c - see profile_report.h. For scripts a row has its number and its parent's; for people the
 * tree is indented, and each value has its share of the root.
 */
#include "timeline/profile/profile_report.h"

#include <string.h>

#include "store/base/arena.h"

#define FIXED_COLUMNS 8
#define NAME_COLUMNS 2

#define SPREADS 6

struct printing {
	const struct profile *profile;
	const struct profile_extras *extras;
	struct report *report;
	struct arena *arena;
	double *numbers, *whole; /* of the row, of the root */
};

/* All but the count of samples, which marks rows of tables: no column, and no number of a formula. */
static size_t shown_metrics(const struct profile *profile)
{
	return profile->metric_count - profile->has_samples;
}

/* ---- spreads and formulas ---- */

static const char *const spread_names[SPREADS] = {"sum", "min", "mean", "max", "stddev", "cov"};

size_t profile_extras_width(const struct profile *profile, bool has_over)
{
	return 2 * shown_metrics(profile) * (has_over ? 1 + SPREADS : 1);
}

const char *const *profile_extras_names(const struct profile *profile, bool has_over, struct arena *arena)
{
	size_t count = 2 * shown_metrics(profile), width = profile_extras_width(profile, has_over);
	const char **names = arena_calloc(arena, width + 1, sizeof *names);

	for (size_t i = 0; names && i < width; i++) {
		size_t of = i < count ? i : (i - count) / SPREADS;

		names[i] = arena_printf(arena, "%s:%s%s%s", profile->metrics[of / 2].name,
			of % 2 ? "excl" : "incl", i < count ? "" : ":",
			i < count ? "" : spread_names[(i - count) % SPREADS]);
		if (!names[i])
			return NULL;
	}
	return names;
}

static void spread_numbers(double numbers[SPREADS], const struct profile_spread *spread)
{
	numbers[0] = spread->sum;
	numbers[1] = spread->min;
	numbers[2] = spread->mean;
	numbers[3] = spread->max;
	numbers[4] = spread->deviation;
	numbers[5] = profile_spread_variation(spread);
}

/* Of a metric, inclusive or not. */
static const struct profile_spread *spread_at(
	const struct printing *printing, size_t row, size_t metric, bool is_exclusive)
{
	size_t count = printing->profile->metric_count;

	return &printing->extras->over->spreads[(row * 2 + is_exclusive) * count + metric];
}

static void fill_numbers(const struct printing *printing, size_t i, double *numbers)
{
	const struct profile *profile = printing->profile;
	const struct profile_row *row = &profile->rows[i];
	double *at = numbers;

	for (size_t m = 0; m < shown_metrics(profile); m++) {
		*at++ = profile_value_real(&profile->metrics[m], row->inclusive[m]);
		*at++ = profile_value_real(&profile->metrics[m], row->exclusive[m]);
	}
	for (size_t k = 0; printing->extras->over && k < 2 * shown_metrics(profile); k++, at += SPREADS)
		spread_numbers(at, spread_at(printing, i, k / 2, k % 2));
	formula_columns_fill(printing->extras->formulas, numbers, i ? printing->whole : numbers);
}

/* Room for the numbers of a row; those of the root stay. */
static int numbers_new(struct printing *printing, struct error *error)
{
	const struct profile_extras *extras = printing->extras;
	size_t width = profile_extras_width(printing->profile, extras->over) + extras->formulas->count + 1;

	printing->numbers = arena_calloc(printing->arena, width, sizeof *printing->numbers);
	printing->whole = arena_calloc(printing->arena, width, sizeof *printing->whole);
	if (!printing->numbers || !printing->whole)
		return error_memory(error);
	if (printing->profile->count)
		fill_numbers(printing, 0, printing->whole);
	return 0;
}

static void report_extras(const struct printing *printing, size_t i, bool is_table)
{
	size_t at = 2 * shown_metrics(printing->profile);

	if (!printing->extras->over && !printing->extras->formulas->count)
		return;
	fill_numbers(printing, i, printing->numbers);
	for (size_t k = 0; printing->extras->over && !is_table && k < at * SPREADS; k++)
		report_figure(printing->report, printing->numbers[at + k]);
	formula_columns_report(printing->extras->formulas, printing->report, printing->numbers);
}

static void put_formula_columns(struct report_column *columns, const struct formula_columns *formulas)
{
	for (size_t i = 0; i < formulas->count; i++)
		columns[i] = (struct report_column){formulas->columns[i].name, REPORT_NUMBER};
}

static size_t script_width(const struct printing *printing)
{
	return FIXED_COLUMNS + profile_extras_width(printing->profile, printing->extras->over) +
	       printing->extras->formulas->count;
}

bool profile_report_is_rough(const struct profile *profile, size_t row)
{
	uint64_t samples = profile->has_samples
				   ? profile->rows[row].inclusive[profile->metric_count - 1].number
				   : PROFILE_ROUGH_SAMPLES;

	return samples && samples < PROFILE_ROUGH_SAMPLES;
}

/* ---- scripts ---- */

static bool name_columns(const struct printing *printing, struct report_column *columns)
{
	const struct profile *profile = printing->profile;
	size_t count = 2 * profile->metric_count, at = count;

	for (size_t i = 0; i < count; i++) {
		const char *name = arena_printf(
			printing->arena, "%s:%s", profile->metrics[i / 2].name, i % 2 ? "excl" : "incl");

		columns[i] = (struct report_column){name, REPORT_NUMBER};
		if (!name)
			return false;
		for (size_t k = 0; printing->extras->over && k < SPREADS; k++) {
			columns[at] = (struct report_column){
				arena_printf(printing->arena, "%s:%s", name, spread_names[k]), REPORT_NUMBER};
			if (!columns[at++].name)
				return false;
		}
	}
	put_formula_columns(columns + at, printing->extras->formulas);
	return true;
}

static const struct report_column *script_columns(const struct printing *printing)
{
	static const struct report_column fixed[FIXED_COLUMNS] = {{"depth", REPORT_NUMBER},
		{"id", REPORT_NUMBER}, {"parent", REPORT_NUMBER}, {"kind", REPORT_TEXT},
		{"name", REPORT_TEXT}, {"module", REPORT_TEXT}, {"file", REPORT_TEXT},
		{"line", REPORT_NUMBER}};
	struct report_column *columns =
		arena_calloc(printing->arena, script_width(printing), sizeof *columns);

	if (!columns)
		return NULL;
	memcpy(columns, fixed, sizeof fixed);
	return name_columns(printing, columns + FIXED_COLUMNS) ? columns : NULL;
}

static void report_value(
	struct report *report, const struct profile_metric *metric, union profile_value value)
{
	if (metric->is_real)
		report_real(report, value.real);
	else
		report_number(report, value.number);
}

static void script_row(const struct printing *printing, size_t i)
{
	const struct profile *profile = printing->profile;
	struct report *report = printing->report;
	const struct profile_row *row = &profile->rows[i];

	report_number(report, row->depth);
	report_number(report, i);
	if (row->parent == UINT32_MAX)
		report_none(report);
	else
		report_number(report, row->parent);
	report_string(report, profile_kind_name(row->kind));
	report_text(report, row->name, row->name_bytes);
	report_string(report, row->module[0] ? row->module : NULL);
	report_string(report, row->file[0] ? row->file : NULL);
	if (row->line)
		report_number(report, row->line);
	else
		report_none(report);
	for (size_t m = 0; m < profile->metric_count; m++) {
		report_value(report, &profile->metrics[m], row->inclusive[m]);
		report_value(report, &profile->metrics[m], row->exclusive[m]);
	}
	report_extras(printing, i, false);
	report_row(report);
}

/* ---- tables ---- */

static double percent_of(const struct profile *profile, size_t metric, union profile_value value)
{
	double whole = profile_value_real(&profile->metrics[metric], profile->rows[0].inclusive[metric]);

	return whole != 0 ? 100 * profile_value_real(&profile->metrics[metric], value) / whole : 0;
}

static enum report_kind kind_of(const struct profile_metric *metric)
{
	if (strcmp(metric->unit, "ns") == 0)
		return REPORT_DURATION;
	return strcmp(metric->unit, "bytes") == 0 ? REPORT_SIZE : REPORT_NUMBER;
}

/* Columns of each metric in a table. */
static size_t metric_width(const struct printing *printing)
{
	return 4 + (printing->extras->over ? SPREADS - 1 : 0);
}

static size_t table_width(const struct printing *printing)
{
	return metric_width(printing) * shown_metrics(printing->profile) + printing->extras->formulas->count +
	       NAME_COLUMNS;
}

/* For each metric: inclusive with its share, exclusive with its share, how it is spread; then formulas, the
 * tree and the place. */
static const struct report_column *table_columns(const struct printing *printing)
{
	const struct profile *profile = printing->profile;
	struct report_column *columns = arena_calloc(printing->arena, table_width(printing), sizeof *columns),
			     *at = columns;

	for (size_t i = 0; columns && i < shown_metrics(profile); i++) {
		const struct profile_metric *metric = &profile->metrics[i];
		enum report_kind kind = kind_of(metric);
		const char *name = arena_printf(printing->arena, "%s:incl", metric->name);

		if (!name)
			return NULL;
		*at++ = (struct report_column){name, kind};
		*at++ = (struct report_column){"%", REPORT_PERCENT};
		*at++ = (struct report_column){"excl", kind};
		*at++ = (struct report_column){"%", REPORT_PERCENT};
		for (size_t k = 1; printing->extras->over && k < SPREADS; k++)
			*at++ = (struct report_column){
				spread_names[k], k < SPREADS - 1 ? kind : REPORT_NUMBER};
	}
	if (columns) {
		put_formula_columns(at, printing->extras->formulas);
		at += printing->extras->formulas->count;
		*at++ = (struct report_column){"name", REPORT_TEXT, 26, REPORT_WORTH_MOST};
		*at = (struct report_column){"place", REPORT_TEXT, 14};
	}
	return columns;
}

/* Of inclusive values; durations are whole ns. */
static void table_spread(const struct printing *printing, size_t row, size_t m)
{
	bool is_real = kind_of(&printing->profile->metrics[m]) == REPORT_NUMBER;
	double numbers[SPREADS];

	spread_numbers(numbers, spread_at(printing, row, m, false));
	for (size_t k = 1; k < SPREADS; k++)
		if (is_real || k == SPREADS - 1 || numbers[k] < 0)
			report_figure(printing->report, numbers[k]);
		else
			report_number(printing->report, (uint64_t)(numbers[k] + 0.5));
}

static void table_names(struct report *report, const struct profile *profile, size_t i, struct arena *arena)
{
	const struct profile_row *row = &profile->rows[i];
	bool is_inline = row->kind == PROFILE_INLINE, is_rough = profile_report_is_rough(profile, i);
	const char *base = strrchr(row->file, '/');

	report_tree_name(report, row->depth,
		is_inline && is_rough ? "?~ "
		: is_inline	      ? "~ "
		: is_rough	      ? "? "
				      : "",
		row->name, row->name_bytes);
	base = base ? base + 1 : row->file;
	report_string(report, row->line && row->kind != PROFILE_LINE
				      ? arena_printf(arena, "%s:%u", base, row->line)
				      : NULL);
}

static bool is_small(const struct profile *profile, const struct profile_row *row)
{
	for (size_t m = 0; m < shown_metrics(profile); m++)
		if (percent_of(profile, m, row->inclusive[m]) >= PROFILE_LEAST_PERCENT)
			return false;
	return row->parent != UINT32_MAX;
}

static void table_row(const struct printing *printing, size_t i)
{
	const struct profile *profile = printing->profile;
	struct report *report = printing->report;
	const struct profile_row *row = &profile->rows[i];

	for (size_t m = 0; m < shown_metrics(profile); m++) {
		report_value(report, &profile->metrics[m], row->inclusive[m]);
		report_real(report, percent_of(profile, m, row->inclusive[m]));
		report_value(report, &profile->metrics[m], row->exclusive[m]);
		report_real(report, percent_of(profile, m, row->exclusive[m]));
		if (printing->extras->over)
			table_spread(printing, i, m);
	}
	report_extras(printing, i, true);
	table_names(report, profile, i, printing->arena);
	report_row(report);
}

static int print_rows(const struct printing *printing, bool is_table, size_t top, bool is_whole,
	struct profile_printed *printed, struct error *error)
{
	const struct profile *profile = printing->profile;
	size_t shown = 0;

	for (size_t i = 0; i < profile->count; i++) {
		bool is_left_out = is_table && !is_whole && is_small(profile, &profile->rows[i]);

		if (shown >= top)
			printed->beyond += !is_left_out;
		else
			printed->left_out += is_left_out;
		if (shown >= top || is_left_out)
			continue;
		shown++;
		printed->rough += profile_report_is_rough(profile, i);
		if (is_table)
			table_row(printing, i);
		else
			script_row(printing, i);
	}
	return report_close(printing->report, error);
}

int profile_report(const struct profile *profile, const struct profile_extras *extras,
	enum report_format format, size_t top, bool is_whole, struct profile_printed *printed,
	struct error *error)
{
	bool is_table = format == REPORT_TABLE;
	struct arena arena = {0};
	struct printing printing = {.profile = profile, .extras = extras, .arena = &arena};
	const struct report_column *columns = is_table ? table_columns(&printing) : script_columns(&printing);
	int rc = columns ? numbers_new(&printing, error) : error_memory(error);

	*printed = (struct profile_printed){0};
	if (rc == 0)
		rc = report_open(&printing.report, stdout, format, "hpct-profile", columns,
			is_table ? table_width(&printing) : script_width(&printing), error);
	if (rc == 0)
		rc = print_rows(&printing, is_table, top, is_whole, printed, error);
	arena_fini(&arena);
	return rc;
}
