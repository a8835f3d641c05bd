/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling_report.h - prints how many runs scale: a row for each key, with what its cost grows like.
 */
#ifndef TIMELINE_SCALING_REPORT_H
#define TIMELINE_SCALING_REPORT_H

#include "timeline/diff/scaling.h"
#include "timeline/report/report.h"

/* To stdout; a table begins with a sentence about all of the cost. Errors are those of writing. */
int scaling_report(const struct scaling *scaling, enum report_format format, bool is_weak, uint64_t top,
	struct error *error);

/* An amount of a comparison for people: a duration, a size or a number. */
void diff_amount_text(char text[REPORT_HUMAN_MAX], uint64_t amount, const char *unit);

#endif
