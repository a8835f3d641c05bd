/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_report.h - prints the rows of a profile.
 */
#ifndef TIMELINE_PROFILE_REPORT_H
#define TIMELINE_PROFILE_REPORT_H

#include "timeline/profile/profile.h"
#include "timeline/profile/profile_over.h"
#include "timeline/report/formula_columns.h"

/* Per cent of the root, in each metric: a table hides smaller rows by default. */
#define PROFILE_LEAST_PERCENT 0.1

/* Columns behind those of the metrics. For scripts of each metric METRIC:incl:sum, :min, :mean, :max,
 * :stddev, :cov, the same of METRIC:excl, then the formulas; in a table of inclusive values alone, min to
 * cov. */
struct profile_extras {
	const struct profile_over *over;	/* NULL: none */
	const struct formula_columns *formulas; /* over profile_extras_width() numbers */
};
/* Numbers of a row that formulas may use: of each metric incl and excl; behind them their spreads, in the
 * order of the columns for scripts. */
size_t profile_extras_width(const struct profile *profile, bool has_over);
/* Their names, as the columns for scripts have them. NULL: no memory. */
const char *const *profile_extras_names(const struct profile *profile, bool has_over, struct arena *arena);

/* Fewer samples than this tell a share of a row no better than to a quarter (S4 12.4.1); a window of fewer
 * than PROFILE_ROUGH_WINDOW tells little at all. */
#define PROFILE_ROUGH_SAMPLES 20u
#define PROFILE_ROUGH_WINDOW 100u
/* The row is marked: profile_compute_counted() found fewer samples in it. */
bool profile_report_is_rough(const struct profile *profile, size_t row);

struct profile_printed {
	size_t left_out; /* small rows of a table */
	size_t beyond;	 /* rows behind the top ones */
	size_t rough;	 /* rows that are marked */
};

/* Prints the first `top` rows; `is_whole`: also small ones, which are otherwise only counted. Errors are
 * those of writing, and ERROR_IO for memory. */
int profile_report(const struct profile *profile, const struct profile_extras *extras,
	enum report_format format, size_t top, bool is_whole, struct profile_printed *printed,
	struct error *error);

#endif
