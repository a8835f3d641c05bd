/* SPDX-License-Identifier: Apache-2.0 */
/* info_internal.h - what the tables of hpct-info share; for info*.c alone. */
#ifndef TIMELINE_INFO_INTERNAL_H
#define TIMELINE_INFO_INTERNAL_H

#include "timeline/report/report.h"
#include "timeline/run/run.h"

/* A time of the run's clock as reports show it; 0 for what lies before the origin. */
uint64_t info_from_origin(const struct run *run, uint64_t time_ns);
/* The next cell: the number, or an empty one. */
void info_put_optional(struct report *report, uint64_t value, bool is_there);

#endif
