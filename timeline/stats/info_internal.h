/* SPDX-License-Identifier: Apache-2.0 */
/* info_internal.h - what the tables of hpct-info share; for info*.c only. */
#ifndef TIMELINE_INFO_INTERNAL_H
#define TIMELINE_INFO_INTERNAL_H

#include "timeline/report/report.h"
#include "timeline/run/run.h"

/* A time of the run's clock as printed in reports; 0 if before the origin. */
uint64_t info_from_origin(const struct run *run, uint64_t time_ns);
/* Puts the next cell: the number, or an empty cell. */
void info_put_optional(struct report *report, uint64_t value, bool is_there);

#endif
