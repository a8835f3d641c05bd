/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_report.h - prints the rows of a profile.
 */
#ifndef TIMELINE_PROFILE_REPORT_H
#define TIMELINE_PROFILE_REPORT_H

#include "timeline/profile/profile.h"
#include "timeline/report/report.h"

/* Per cent of the root, in each metric: a table hides smaller rows by default. */
#define PROFILE_LEAST_PERCENT 0.1

/* Fewer samples than this tell a share of a row no better than to a quarter (S4 12.4.1); a window of fewer
 * than PROFILE_ROUGH_WINDOW tells little at all. */
#define PROFILE_ROUGH_SAMPLES 20u
#define PROFILE_ROUGH_WINDOW 100u
/* The row is marked: profile_compute_counted() found fewer samples in it. */
bool profile_report_is_rough(const struct profile *profile, size_t row);

/* Prints the first `top` rows; `is_whole`: also small ones, which are otherwise only counted in `left_out`.
 * Errors are those of writing, and ERROR_IO for memory. */
int profile_report(const struct profile *profile, enum report_format format, size_t top, bool is_whole,
	size_t *left_out, struct error *error);

#endif
