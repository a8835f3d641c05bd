/* SPDX-License-Identifier: Apache-2.0 */
/* profile_each_report.c - see profile_each_report.h. */
#include "timeline/profile/profile_each_report.h"

#include <math.h>
#include <string.h>

#include "store/base/arena.h"
#include "timeline/report/formula_columns.h"
#include "timeline/report/report_fit.h"

#define KEY_COLUMNS 2

struct printing {
	const struct profile *profile;
	const struct profile_each *each;
	size_t count;
	struct report *report;
	struct formula_columns formulas;
	double *numbers, *whole; /* of formulas: streams, the metrics, the formulas */
};

/* In the unit of a column of a table: ns become durations. */
static enum report_kind kind_of(const struct profile_metric *metric)
{
	return strcmp(metric->unit, "ns") == 0	    ? REPORT_DURATION
	       : strcmp(metric->unit, "bytes") == 0 ? REPORT_SIZE
						    : REPORT_NUMBER;
}

static const char *const *names_of(const struct profile *profile, struct arena *arena)
{
	const char **names = arena_calloc(arena, profile->metric_count + 2, sizeof *names);

	if (!names)
		return NULL;
	names[0] = "streams";
	for (size_t m = 0; m < profile->metric_count; m++)
		names[1 + m] = profile->metrics[m].name;
	return names;
}

static const struct report_column *columns_of(
	const struct printing *printing, const char *const *names, struct arena *arena)
{
	size_t metrics = printing->profile->metric_count, formulas = printing->formulas.count;
	struct report_column *columns =
		arena_calloc(arena, KEY_COLUMNS + metrics + formulas, sizeof *columns);

	if (!columns)
		return NULL;
	columns[0] = (struct report_column){"key", REPORT_TEXT};
	columns[1] = (struct report_column){names[0], REPORT_NUMBER};
	for (size_t m = 0; m < metrics; m++)
		columns[KEY_COLUMNS + m] =
			(struct report_column){names[1 + m], kind_of(&printing->profile->metrics[m])};
	for (size_t i = 0; i < formulas; i++)
		columns[KEY_COLUMNS + metrics + i] =
			(struct report_column){printing->formulas.columns[i].name, REPORT_NUMBER};
	return columns;
}

static void fill(const struct printing *printing, const struct profile_each *each, double *numbers)
{
	numbers[0] = each->streams;
	memcpy(numbers + 1, each->values, printing->profile->metric_count * sizeof *numbers);
	formula_columns_fill(&printing->formulas, numbers, printing->whole);
}

/* @n: of all groups together. */
static bool numbers_make(struct printing *printing, struct arena *arena)
{
	size_t metrics = printing->profile->metric_count, width = 1 + metrics + printing->formulas.count;

	printing->numbers = arena_calloc(arena, width, sizeof *printing->numbers);
	printing->whole = arena_calloc(arena, width, sizeof *printing->whole);
	if (!printing->numbers || !printing->whole)
		return false;
	for (size_t i = 0; i < printing->count; i++) {
		printing->whole[0] += printing->each[i].streams;
		for (size_t m = 0; m < metrics; m++)
			printing->whole[1 + m] += printing->each[i].values[m];
	}
	formula_columns_fill(&printing->formulas, printing->whole, printing->whole);
	return true;
}

static void put_row(const struct printing *printing, const struct profile_each *each)
{
	fill(printing, each, printing->numbers);
	report_string(printing->report, each->key);
	report_number(printing->report, each->streams);
	for (size_t m = 0; m < printing->profile->metric_count; m++)
		if (printing->profile->metrics[m].is_real)
			report_figure(printing->report, each->values[m]);
		else
			report_number(printing->report, (uint64_t)each->values[m]);
	formula_columns_report(&printing->formulas, printing->report, printing->numbers);
	report_row(printing->report);
}

/* ---- how they are spread ---- */

static void human(char text[REPORT_HUMAN_MAX], const struct profile_metric *metric, double value)
{
	if (kind_of(metric) == REPORT_DURATION)
		report_human_duration(text, (uint64_t)value);
	else if (kind_of(metric) == REPORT_SIZE)
		report_human_size(text, (uint64_t)value);
	else
		snprintf(text, REPORT_HUMAN_MAX, "%.6g", value);
}

static void say_spread(const struct printing *printing, size_t m)
{
	const struct profile_metric *metric = &printing->profile->metrics[m];
	double n = (double)printing->count, mean = 0, squares = 0;
	char least[REPORT_HUMAN_MAX], middle[REPORT_HUMAN_MAX], most[REPORT_HUMAN_MAX];
	size_t low = 0, high = 0;

	for (size_t i = 0; i < printing->count; i++) {
		mean += printing->each[i].values[m] / n;
		low = printing->each[i].values[m] < printing->each[low].values[m] ? i : low;
		high = printing->each[i].values[m] > printing->each[high].values[m] ? i : high;
	}
	for (size_t i = 0; i < printing->count; i++)
		squares += (printing->each[i].values[m] - mean) * (printing->each[i].values[m] - mean) / n;
	human(least, metric, printing->each[low].values[m]);
	human(middle, metric, mean);
	human(most, metric, printing->each[high].values[m]);
	report_fit_say("%s: %s (%s) to %s (%s), mean %s, coefficient of variation %.3f", metric->name, least,
		printing->each[low].key, most, printing->each[high].key, middle,
		mean != 0 ? sqrt(squares) / mean : 0);
}

static int print(struct printing *printing, const struct report_column *columns, enum report_format format,
	uint64_t top, struct error *error)
{
	size_t width = KEY_COLUMNS + printing->profile->metric_count + printing->formulas.count;
	int rc;

	for (size_t m = 0; format == REPORT_TABLE && printing->count && m < printing->profile->metric_count;
		m++)
		say_spread(printing, m);
	rc = report_open(&printing->report, stdout, format, "hpct-profile-each", columns, width, error);
	if (rc)
		return rc;
	for (size_t i = 0; i < printing->count && i < top; i++)
		put_row(printing, &printing->each[i]);
	return report_close(printing->report, error);
}

int profile_each_report(const struct profile *profile, const struct profile_each *each, size_t count,
	const struct select *select, enum report_format format, struct arena *arena, struct error *error)
{
	struct printing printing = {.profile = profile, .each = each, .count = count};
	const char *const *names = names_of(profile, arena);
	const struct report_column *columns = NULL;
	int rc = names ? formula_columns_init(
				 &printing.formulas, select, names, 1 + profile->metric_count, arena, error)
		       : error_memory(error);

	if (rc == 0) {
		columns = columns_of(&printing, names, arena);
		rc = columns && numbers_make(&printing, arena) ? 0 : error_memory(error);
	}
	if (rc == 0)
		rc = print(&printing, columns, format, select_top(select), error);
	formula_columns_fini(&printing.formulas);
	return rc;
}
