/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.h - the state and call path of every stream at one moment.
 */
#ifndef TIMELINE_STACKS_H
#define TIMELINE_STACKS_H

#include "timeline/report/report.h"
#include "timeline/select/select.h"

/* For the selector's streams at `time_ns`, contexts cut at its depth. A table has one frame per line,
 * innermost first. ERROR_EMPTY: no stream is monitored there. */
int stacks_print(struct run *run, const struct select *select, uint64_t time_ns, enum report_format format,
	FILE *out, struct error *error);

#endif
