/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_each_report.h - prints what each rank, thread, process, host, device or stream has of the metrics.
 */
#ifndef TIMELINE_PROFILE_EACH_REPORT_H
#define TIMELINE_PROFILE_EACH_REPORT_H

#include "timeline/profile/profile_over.h"
#include "timeline/report/report.h"

/* Columns key streams METRIC..., then those of the selector's formulas, over streams and the metrics; the
 * first `top` rows. A table begins with how each metric is spread. */
int profile_each_report(const struct profile *profile, const struct profile_each *each, size_t count,
	const struct select *select, enum report_format format, struct arena *arena, struct error *error);

#endif
