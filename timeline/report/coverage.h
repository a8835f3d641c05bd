/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - how much of a window hpct knows anything about, and what it lost: every report
 * begins with it (law 6).
 */
#ifndef TIMELINE_COVERAGE_H
#define TIMELINE_COVERAGE_H

#include "timeline/select/select.h"

struct coverage {
	uint32_t streams;
	uint64_t lived_ns;     /* streams x window, but for the time before they begin and after they end */
	uint64_t monitored_ns; /* of it: not unmonitored */
	uint64_t thinned_ns;   /* of the window: records were dropped, rollups are left */
	uint64_t bare_ns;      /* the same of a part of such a run, which rollups are not in, either */
	uint64_t lost;	       /* records these streams lost, in the whole run */
	uint64_t partial;      /* samples of theirs with a partial stack, in the whole run */
	uint64_t samples;      /* in the whole run */
	uint32_t clocks;       /* of hosts that these streams are of */
	uint64_t clock_ns;     /* so far their times may lie apart; UINT64_MAX: not known */
};

/* Reads every extent of the window. */
int coverage_compute(
	struct coverage *coverage, struct run *run, const struct select *select, struct error *error);
/* Only what the stream table says: lived_ns and monitored_ns stay 0. */
void coverage_count(struct coverage *coverage, struct run *run, const struct select *select);

/* ERROR_EMPTY when no stream is monitored anywhere in the window; stops at the first that is. */
int coverage_require(struct run *run, const struct select *select, struct error *error);
/* The same sentence for who found out otherwise. */
int coverage_empty(struct run *run, const struct select *select, struct error *error);

/* Monitored time as a share of that in which the streams lived: one that ran for a second of an hour, and all
 * of that was seen, is covered. */
double coverage_percent(const struct coverage *coverage);

/* "5 streams, 1.234 s of 1.3 s monitored (94.92 %), 0 records lost, 3 of 2000 stacks partial" */
#define COVERAGE_TEXT_MAX 384
void coverage_print(const struct coverage *coverage, char text[COVERAGE_TEXT_MAX]);

#endif
