/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - how much of a window was monitored, and how much was lost: every report begins with it (law
 * 6).
 */
#ifndef TIMELINE_COVERAGE_H
#define TIMELINE_COVERAGE_H

#include "timeline/select/select.h"

struct coverage {
	uint32_t streams;
	uint64_t lived_ns;     /* streams x window, without the time before they begin and after they end */
	uint64_t monitored_ns; /* part of it that is not unmonitored */
	uint64_t thinned_ns;   /* part of the window whose records were dropped; only rollups are left */
	uint64_t bare_ns;      /* the same without rollups, in a part of such a run */
	uint64_t lost;	       /* records these streams lost, in the whole run */
	uint64_t partial;      /* their samples with a partial stack, in the whole run */
	uint64_t samples;      /* in the whole run */
	uint32_t clocks;       /* hosts of these streams */
	uint64_t clock_ns;     /* how far their clocks may differ; UINT64_MAX: unknown */
};

/* Reads every extent of the window. */
int coverage_compute(
	struct coverage *coverage, struct run *run, const struct select *select, struct error *error);
/* Uses only the stream table: lived_ns and monitored_ns stay 0. */
void coverage_count(struct coverage *coverage, struct run *run, const struct select *select);

/* ERROR_EMPTY if no stream is monitored anywhere in the window; stops at the first that is. */
int coverage_require(struct run *run, const struct select *select, struct error *error);
/* The same error for callers that checked themselves. */
int coverage_empty(struct run *run, const struct select *select, struct error *error);

/* Monitored time in percent of the streams' lifetime: a stream that lived for a second of an hour, and was
 * monitored then, is covered. */
double coverage_percent(const struct coverage *coverage);

/* "5 streams, 1.234 s of 1.3 s monitored (94.92 %), 0 records lost, 3 of 2000 stacks partial" */
#define COVERAGE_TEXT_MAX 384
void coverage_print(const struct coverage *coverage, char text[COVERAGE_TEXT_MAX]);

#endif
