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
/* "cpu", "gpu", "pc" or "gauges". */
const char *info_stream_kind(enum store_stream_kind kind);
int info_print_streams(struct run *run, const struct select *select, enum report_format format, FILE *out,
	struct error *error);
/* Metrics that --metric may name, and what they are read off: samples, values, figures over time (gauge,
 * counter), the timeline (state_metrics.h), operations (gpu_metric.h, where the run has GPU queues). Texts
 * are the run's or static. `each` returns false without memory. */
struct info_metric {
	const char *name, *unit, *source;
};
int info_metrics_each(struct run *run, const struct select *select,
	bool (*each)(void *own, const struct info_metric *metric), void *own, struct error *error);
int info_print_metrics(struct run *run, const struct select *select, enum report_format format, FILE *out,
	struct error *error);
/* Who started whom: a tree of the processes, with command and exit code. */
int info_print_processes(struct run *run, enum report_format format, FILE *out, struct error *error);
/* Frames of one module that the run's paths go through, and what is known of them. */
struct info_frames {
	uint64_t frames, named, lines, loops;
	uint64_t partial; /* samples whose path could not be followed beyond a frame of it */
};
/* Every module of every store, in order; `each` returns false without memory. */
int info_modules_each(struct run *run,
	bool (*each)(void *own, struct store_reader *reader, const struct store_module *module,
		const struct info_frames *frames),
	void *own, struct error *error);
const char *info_module_kind(enum store_module_kind kind);
/* What installing something would add; "": nothing. */
const char *info_module_lacks(const struct store_module *module, const struct info_frames *frames);
/* In hexadecimal; "" without one. */
#define INFO_BUILD_ID_MAX 65
void info_build_id(char text[INFO_BUILD_ID_MAX], const struct store_module *module);
int info_print_modules(struct run *run, enum report_format format, FILE *out, struct error *error);
/* Sizes of the keys and values of each part of the stores, in percent of all of them; and the files' sizes.
 */
int info_print_sizes(struct run *run, enum report_format format, FILE *out, struct error *error);
/* Reads everything; ERROR_RUN with the first damage found. */
int info_check(struct run *run, enum report_format format, FILE *out, struct error *error);

#endif
