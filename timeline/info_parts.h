/* SPDX-License-Identifier: Apache-2.0 */
/* info_parts.h - what the tables of hpct-info share; for info*.c alone. */
#ifndef TIMELINE_INFO_PARTS_H
#define TIMELINE_INFO_PARTS_H

#include "timeline/report.h"
#include "timeline/run.h"

uint64_t info_from_origin(const struct run *run, uint64_t time_ns);
void info_put_optional(struct report *report, uint64_t value, bool is_there);

#endif
