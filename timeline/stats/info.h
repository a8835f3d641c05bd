/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h - facts about a run: its origin, streams and modules, how much was monitored and lost.
 */
#ifndef TIMELINE_INFO_H
#define TIMELINE_INFO_H

#include "timeline/report/report.h"
#include "timeline/select/select.h"

/* Keys and values of the whole run. */
int info_print(struct run *run, const struct select *select, enum report_format format, FILE *out,
	struct error *error);
int info_print_streams(struct run *run, const struct select *select, enum report_format format, FILE *out,
	struct error *error);
/* Metrics that --metric may name, and what they are read off: samples, values (counters and gauges), the
 * timeline (state_metrics.h), operations (gpu_metric.h, where the run has GPU queues). */
int info_print_metrics(struct run *run, const struct select *select, enum report_format format, FILE *out,
	struct error *error);
/* Who started whom: a tree of the processes, with command and exit code. */
int info_print_processes(struct run *run, enum report_format format, FILE *out, struct error *error);
int info_print_modules(struct run *run, enum report_format format, FILE *out, struct error *error);
/* Sizes of the keys and values of each part of the stores, in percent of all of them; and the files' sizes.
 */
int info_print_sizes(struct run *run, enum report_format format, FILE *out, struct error *error);
/* Reads everything; ERROR_RUN with the first damage found. */
int info_check(struct run *run, enum report_format format, FILE *out, struct error *error);

#endif
