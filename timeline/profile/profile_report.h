/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_report.h - the rows of a profile on standard output.
 */
#ifndef TIMELINE_PROFILE_REPORT_H
#define TIMELINE_PROFILE_REPORT_H

#include "timeline/profile/profile.h"
#include "timeline/report/report.h"

/* Of the root in each metric: a table shows nothing smaller unless asked. */
#define PROFILE_LEAST_PERCENT 0.1

/* The first `top` rows; `is_whole`: small ones too, which else are only counted in `left_out`. Errors are
 * those of writing, and ERROR_IO for memory. */
int profile_report(const struct profile *profile, enum report_format format, size_t top, bool is_whole,
	size_t *left_out, struct error *error);

#endif
