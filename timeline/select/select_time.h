/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_time.h - parses --time, and resolves it in a run.
 *
 *   WINDOW   A..B, either may be left out; @MARK alone is the whole mark
 *   A, B     1.5s 200ms 7us 12ns    from the run's origin; 0 needs no unit
 *            -10s                   before the run's end
 *            +20s                   B only: after A
 *            @MARK  @MARK#N         the N-th mark of that name (from 1); as A where it begins, as B where it
 *                                   ends
 *            14:32  14:32:05.5      wall clock, local, on a day of the run
 *            2026-11-21T14:32:05Z   ISO 8601, with Z or +01:00, else local; the date alone is its midnight
 */
#ifndef TIMELINE_SELECT_TIME_H
#define TIMELINE_SELECT_TIME_H

#include "timeline/run/run.h"

enum select_moment_kind {
	SELECT_LEFT_OUT,
	SELECT_FROM_ORIGIN,
	SELECT_FROM_END,
	SELECT_FROM_BEGIN,
	SELECT_MARK,
	SELECT_CLOCK, /* ns since midnight */
	SELECT_DATE   /* ns since 1970 */
};

struct select_moment {
	enum select_moment_kind kind;
	uint64_t ns;
	char *mark; /* with its #N */
};

struct select_window {
	struct select_moment begin, end;
	bool is_mark; /* @MARK alone: both are that mark */
};

/* ERROR_USAGE: what is wrong. Call select_window_fini() in any case. */
int select_window_parse(struct select_window *window, const char *text, struct error *error);
void select_window_fini(struct select_window *window);

/* What a moment that is left out, or counted from the end, refers to; absolute, half-open. */
struct select_limits {
	uint64_t begin_ns, end_ns;
};

/* Absolute times. ERROR_USAGE: unknown mark, no wall clock in this run, end before begin; ERROR_EMPTY:
 * nothing lies there within the limits. */
int select_window_resolve(const struct select_window *window, struct run *run,
	const struct select_limits *limits, uint64_t *begin_ns, uint64_t *end_ns, struct error *error);

/* "1.5s" and the like, the whole text; false: no duration. */
bool select_duration(const char *text, uint64_t *ns);

#endif
