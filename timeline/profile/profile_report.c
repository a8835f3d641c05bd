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

/* Tables show all but the count of samples, which marks rows. */
static size_t shown_metrics(const struct profile *profile)
{
	return profile->metric_count - profile->has_samples;
}

bool profile_report_is_rough(const struct profile *profile, size_t row)
{
	uint64_t samples = profile->has_samples
				   ? profile->rows[row].inclusive[profile->metric_count - 1].number
				   : PROFILE_ROUGH_SAMPLES;

	return samples && samples < PROFILE_ROUGH_SAMPLES;
}

/* ---- scripts ---- */

static const struct report_column *script_columns(const struct profile *profile, struct arena *arena)
{
	static const struct report_column fixed[FIXED_COLUMNS] = {{"depth", REPORT_NUMBER},
		{"id", REPORT_NUMBER}, {"parent", REPORT_NUMBER}, {"kind", REPORT_TEXT},
		{"name", REPORT_TEXT}, {"module", REPORT_TEXT}, {"file", REPORT_TEXT},
		{"line", REPORT_NUMBER}};
	struct report_column *columns =
		arena_calloc(arena, FIXED_COLUMNS + 2 * profile->metric_count, sizeof *columns);

	for (size_t i = 0; columns && i < FIXED_COLUMNS; i++)
		columns[i] = fixed[i];
	for (size_t i = 0; columns && i < 2 * profile->metric_count; i++) {
		const struct profile_metric *metric = &profile->metrics[i / 2];

		columns[FIXED_COLUMNS + i] = (struct report_column){
			arena_printf(arena, "%s:%s", metric->name, i % 2 ? "excl" : "incl"), REPORT_NUMBER};
		if (!columns[FIXED_COLUMNS + i].name)
			return NULL;
	}
	return columns;
}

static void report_value(
	struct report *report, const struct profile_metric *metric, union profile_value value)
{
	if (metric->is_real)
		report_real(report, value.real);
	else
		report_number(report, value.number);
}

static void script_row(struct report *report, const struct profile *profile, size_t i)
{
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
	report_row(report);
}

/* ---- tables ---- */

static double as_real(const struct profile_metric *metric, union profile_value value)
{
	return metric->is_real ? value.real : (double)value.number;
}

static double percent_of(const struct profile *profile, size_t metric, union profile_value value)
{
	double whole = as_real(&profile->metrics[metric], profile->rows[0].inclusive[metric]);

	return whole != 0 ? 100 * as_real(&profile->metrics[metric], value) / whole : 0;
}

static enum report_kind kind_of(const struct profile_metric *metric)
{
	if (strcmp(metric->unit, "ns") == 0)
		return REPORT_DURATION;
	return strcmp(metric->unit, "bytes") == 0 ? REPORT_SIZE : REPORT_NUMBER;
}

/* For each metric: inclusive with its share, exclusive with its share; then the tree and the place. */
static const struct report_column *table_columns(const struct profile *profile, struct arena *arena)
{
	size_t count = shown_metrics(profile);
	struct report_column *columns = arena_calloc(arena, 4 * count + NAME_COLUMNS, sizeof *columns);

	for (size_t i = 0; columns && i < count; i++) {
		const struct profile_metric *metric = &profile->metrics[i];
		enum report_kind kind = kind_of(metric);

		columns[4 * i] = (struct report_column){arena_printf(arena, "%s:incl", metric->name), kind};
		columns[4 * i + 1] = (struct report_column){"%", REPORT_PERCENT};
		columns[4 * i + 2] = (struct report_column){"excl", kind};
		columns[4 * i + 3] = (struct report_column){"%", REPORT_PERCENT};
		if (!columns[4 * i].name)
			return NULL;
	}
	if (columns) {
		columns[4 * count] = (struct report_column){"name", REPORT_TEXT, 26};
		columns[4 * count + 1] = (struct report_column){"place", REPORT_TEXT, 14};
	}
	return columns;
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

static void table_row(struct report *report, const struct profile *profile, size_t i, struct arena *arena)
{
	const struct profile_row *row = &profile->rows[i];

	for (size_t m = 0; m < shown_metrics(profile); m++) {
		report_value(report, &profile->metrics[m], row->inclusive[m]);
		report_real(report, percent_of(profile, m, row->inclusive[m]));
		report_value(report, &profile->metrics[m], row->exclusive[m]);
		report_real(report, percent_of(profile, m, row->exclusive[m]));
	}
	table_names(report, profile, i, arena);
	report_row(report);
}

int profile_report(const struct profile *profile, enum report_format format, size_t top, bool is_whole,
	size_t *left_out, struct error *error)
{
	bool is_table = format == REPORT_TABLE;
	struct arena arena = {0};
	const struct report_column *columns =
		is_table ? table_columns(profile, &arena) : script_columns(profile, &arena);
	size_t count = is_table ? 4 * shown_metrics(profile) + NAME_COLUMNS
				: FIXED_COLUMNS + 2 * profile->metric_count;
	struct report *report = NULL;
	size_t shown = 0;
	int rc = columns ? 0 : error_memory(error);

	*left_out = 0;
	if (rc == 0)
		rc = report_open(&report, stdout, format, "hpct-profile", columns, count, error);
	for (size_t i = 0; rc == 0 && i < profile->count && shown < top; i++) {
		if (is_table && !is_whole && is_small(profile, &profile->rows[i])) {
			++*left_out;
			continue;
		}
		shown++;
		if (is_table)
			table_row(report, profile, i, &arena);
		else
			script_row(report, profile, i);
	}
	if (rc == 0)
		rc = report_close(report, error);
	arena_fini(&arena);
	return rc;
}
