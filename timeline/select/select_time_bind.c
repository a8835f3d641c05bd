/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_time_bind.c - resolves the moments of --time in a run: its origin, its end, its marks, its wall
 * clock.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timeline/select/bookmark.h"
#include "timeline/select/select_time.h"

#define SECOND_NS 1000000000ull
#define DAYS_MAX 400 /* that a time of day is looked for */

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return b < STORE_OPEN_NS - 1 && a < STORE_OPEN_NS - 1 - b ? a + b : STORE_OPEN_NS - 1;
}

/* ---- marks ---- */

static bool find_nth(const struct mark *marks, size_t count, const char *name, size_t name_bytes,
	uint64_t nth, const struct mark **found)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(marks[i].name) == name_bytes && !memcmp(marks[i].name, name, name_bytes) &&
			!--nth) {
			*found = &marks[i];
			return true;
		}
	return false;
}

static bool find_mark(const struct mark *marks, size_t count, const char *text, const struct mark **found)
{
	const char *hash = strrchr(text, '#');
	uint64_t nth;
	char *end;

	/* A name that ends so wins over a number. */
	if (find_nth(marks, count, text, strlen(text), 1, found))
		return true;
	if (!hash || hash[1] < '1' || hash[1] > '9')
		return false;
	nth = strtoull(hash + 1, &end, 10);
	return !*end && find_nth(marks, count, text, (size_t)(hash - text), nth, found);
}

static int resolve_mark(struct run *run, const char *text, bool is_end, uint64_t *ns, struct error *error)
{
	const struct mark *marks, *mark = NULL;
	struct arena arena = {0};
	size_t count;
	int code = mark_list(run, &arena, &marks, &count, error);

	if (!code && !find_mark(marks, count, text, &mark))
		code = error_set(error, ERROR_USAGE,
			count ? "--time: %s has no mark '%s' (it has %zu; hpct-slice --op mark,range lists "
				"them)"
			      : "--time: %s has no mark '%s' (it has no marks at all)",
			run_path(run), text, count);
	if (!code)
		*ns = is_end ? mark->end_ns : mark->begin_ns;
	arena_fini(&arena);
	return code;
}

/* ---- wall clock ---- */

/* Run time of a wall clock time; 0 if before the run's first time. */
static uint64_t from_wall(const struct run *run, uint64_t wall_ns)
{
	uint64_t origin_wall = run_wall_ns(run), origin = run_origin_ns(run);

	if (wall_ns >= origin_wall)
		return add_saturated(origin, wall_ns - origin_wall);
	return origin_wall - wall_ns < origin ? origin - (origin_wall - wall_ns) : 0;
}

/* The time of day on the first day on which the run has it; on the day of its origin when it never has. */
static uint64_t from_clock(const struct run *run, uint64_t clock_ns)
{
	time_t origin = (time_t)(run_wall_ns(run) / SECOND_NS);
	uint64_t first = 0;

	for (int day = 0; day < DAYS_MAX; day++) {
		struct tm date;
		uint64_t ns;

		localtime_r(&origin, &date);
		date.tm_mday += day;
		date.tm_hour = (int)(clock_ns / SECOND_NS / 3600);
		date.tm_min = (int)(clock_ns / SECOND_NS / 60 % 60);
		date.tm_sec = (int)(clock_ns / SECOND_NS % 60);
		date.tm_isdst = -1;
		ns = from_wall(run, (uint64_t)mktime(&date) * SECOND_NS + clock_ns % SECOND_NS);
		if (!day)
			first = ns;
		if (ns > run_end_ns(run))
			break;
		if (ns >= run_begin_ns(run))
			return ns;
	}
	return first;
}

/* ---- both ends ---- */

static int resolve(const struct select_moment *moment, struct run *run, const struct select_limits *limits,
	bool is_end, uint64_t *ns, struct error *error)
{
	if ((moment->kind == SELECT_CLOCK || moment->kind == SELECT_DATE) && !run_wall_ns(run))
		return error_set(error, ERROR_USAGE,
			"--time: %s does not say when it was recorded: give times from its begin",
			run_path(run));
	switch (moment->kind) {
	case SELECT_LEFT_OUT:
		*ns = is_end ? limits->end_ns : limits->begin_ns;
		return 0;
	case SELECT_FROM_ORIGIN:
		*ns = add_saturated(run_origin_ns(run), moment->ns);
		return 0;
	case SELECT_FROM_END:
		*ns = limits->end_ns > moment->ns ? limits->end_ns - moment->ns : 0;
		return 0;
	case SELECT_FROM_BEGIN:
		*ns = add_saturated(*ns, moment->ns);
		return 0;
	case SELECT_MARK:
		return resolve_mark(run, moment->mark, is_end, ns, error);
	case SELECT_CLOCK:
		*ns = from_clock(run, moment->ns);
		return 0;
	case SELECT_DATE:
		*ns = from_wall(run, moment->ns);
		return 0;
	}
	return 0;
}

static int say_outside(const struct run *run, const struct select_limits *limits, struct error *error)
{
	bool is_one = limits->begin_ns == run_begin_ns(run) && limits->end_ns == run_end_ns(run);

	return error_set(error, ERROR_EMPTY, "--time: %s%s in this window: %s %.9f s to %.9f s",
		is_one ? run_path(run) : "", is_one ? " has nothing" : "neither run has anything",
		is_one ? "the run covers" : "together they cover",
		((double)limits->begin_ns - (double)run_origin_ns(run)) / SECOND_NS,
		((double)limits->end_ns - (double)run_origin_ns(run)) / SECOND_NS);
}

int select_window_resolve(const struct select_window *window, struct run *run,
	const struct select_limits *limits, uint64_t *begin_ns, uint64_t *end_ns, struct error *error)
{
	const struct select_moment *end = window->is_mark ? &window->begin : &window->end;
	int code = resolve(&window->begin, run, limits, false, begin_ns, error);

	if (code)
		return code;
	*end_ns = *begin_ns; /* what FROM_BEGIN adds to */
	code = resolve(end, run, limits, true, end_ns, error);
	if (code || *begin_ns < *end_ns)
		return code;
	if (window->is_mark)
		return error_set(error, ERROR_USAGE, "--time: mark '%s' is a moment: write @%s.. or ..@%s",
			end->mark, end->mark, end->mark);
	if (window->begin.kind != SELECT_LEFT_OUT && end->kind != SELECT_LEFT_OUT) {
		if (*begin_ns > *end_ns)
			return error_set(error, ERROR_USAGE,
				"--time: the window ends before it begins, %.9f s before: write A..B with A "
				"first",
				(double)(*begin_ns - *end_ns) / SECOND_NS);
		return error_set(error, ERROR_EMPTY,
			"--time: the window is empty, it ends where it begins: write A..B with B after A");
	}
	return say_outside(run, limits, error);
}
