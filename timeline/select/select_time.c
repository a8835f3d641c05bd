/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_time.c - parses the text of --time, without a run: select_time_bind.c resolves the moments.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timeline/select/select_time.h"

#define SECOND_NS 1000000000ull

/* Reads digits, a fraction and a unit; *at moves behind them. */
static bool read_number(const char **at, uint64_t unit_ns, uint64_t *ns)
{
	const char *c = *at;
	uint64_t whole = 0, part = 0, step = unit_ns;
	bool any = false;

	for (; *c >= '0' && *c <= '9'; c++, any = true)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
			__builtin_add_overflow(whole, (uint64_t)(*c - '0'), &whole))
			return false;
	if (*c == '.' && c[1] >= '0' && c[1] <= '9')
		for (c++; *c >= '0' && *c <= '9'; c++, any = true) {
			step /= 10;
			part += step * (uint64_t)(*c - '0');
		}
	*at = c;
	return any && !__builtin_mul_overflow(whole, unit_ns, ns) && !__builtin_add_overflow(*ns, part, ns);
}

bool select_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"\302\265s", 1000}, {"ms", 1000000}, {"s", SECOND_NS}};
	const char *unit = text + strspn(text, "0123456789.");

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(unit, units[i].name))
			return read_number(&text, units[i].ns, ns) && text == unit;
	/* Nothing needs no unit. */
	*ns = 0;
	return !*unit && *text && !text[strspn(text, "0.")] && *text == '0';
}

/* Two digits, at most `most`. */
static bool read_pair(const char **at, int most, int *value)
{
	const char *c = *at;

	if (c[0] < '0' || c[0] > '9' || c[1] < '0' || c[1] > '9')
		return false;
	*value = (c[0] - '0') * 10 + c[1] - '0';
	*at += 2;
	return *value <= most;
}

/* 14:32, 14:32:05, 14:32:05.25 */
static bool read_clock(const char **at, uint64_t *ns)
{
	int hours, minutes;
	uint64_t seconds = 0;

	if (!read_pair(at, 23, &hours) || *(*at)++ != ':' || !read_pair(at, 59, &minutes))
		return false;
	if (**at == ':') {
		++*at;
		if (**at < '0' || **at > '9' || !read_number(at, SECOND_NS, &seconds) ||
			seconds >= 61 * SECOND_NS)
			return false;
	}
	*ns = (uint64_t)(hours * 60 + minutes) * 60 * SECOND_NS + seconds;
	return true;
}

/* Z, +01:00, -0330; nothing: local. */
static bool read_zone(const char **at, bool *is_local, int *east_minutes)
{
	int hours, minutes = 0, sign;

	*is_local = !**at;
	*east_minutes = 0;
	if (!**at)
		return true;
	if (**at == 'Z')
		return ++*at != NULL;
	if (**at != '+' && **at != '-')
		return false;
	sign = *(*at)++ == '-' ? -1 : 1;
	if (!read_pair(at, 14, &hours))
		return false;
	if (**at == ':')
		++*at;
	if (**at && !read_pair(at, 59, &minutes))
		return false;
	*east_minutes = sign * (hours * 60 + minutes);
	return true;
}

/* 2026-11-21, 2026-11-21T14:32:05.5+01:00 */
static bool read_date(const char *at, uint64_t *epoch_ns)
{
	struct tm day = {.tm_isdst = -1};
	int century, year, east = 0;
	uint64_t clock_ns = 0;
	bool is_local = true;
	time_t epoch;

	if (!read_pair(&at, 99, &century) || !read_pair(&at, 99, &year) || *at++ != '-' ||
		!read_pair(&at, 12, &day.tm_mon) || *at++ != '-' || !read_pair(&at, 31, &day.tm_mday))
		return false;
	if (*at == 'T' || *at == ' ') {
		at++;
		if (!read_clock(&at, &clock_ns) || !read_zone(&at, &is_local, &east))
			return false;
	}
	day.tm_year = century * 100 + year - 1900;
	day.tm_mon--;
	day.tm_hour = (int)(clock_ns / SECOND_NS / 3600);
	day.tm_min = (int)(clock_ns / SECOND_NS / 60 % 60);
	day.tm_sec = (int)(clock_ns / SECOND_NS % 60);
	epoch = is_local ? mktime(&day) : timegm(&day) - east * 60;
	if (*at || epoch < 0)
		return false;
	*epoch_ns = (uint64_t)epoch * SECOND_NS + clock_ns % SECOND_NS;
	return true;
}

static bool read_moment(struct select_moment *moment, const char *text)
{
	const char *at = text;

	if (*text == '-' || *text == '+') {
		moment->kind = *text == '-' ? SELECT_FROM_END : SELECT_FROM_BEGIN;
		return select_duration(text + 1, &moment->ns);
	}
	if (*text == '@') {
		moment->kind = SELECT_MARK;
		moment->mark = strdup(text + 1);
		return moment->mark && *moment->mark;
	}
	moment->kind = SELECT_CLOCK;
	if (read_clock(&at, &moment->ns) && !*at)
		return true;
	moment->kind = SELECT_DATE;
	if (read_date(text, &moment->ns))
		return true;
	moment->kind = *text ? SELECT_FROM_ORIGIN : SELECT_LEFT_OUT;
	return !*text || select_duration(text, &moment->ns);
}

static int bad_moment(const char *text, struct error *error)
{
	return error_set(error, ERROR_USAGE,
		"--time: '%s' is no time: write 1.5s, 200ms, -10s (from the end), @MARK, 14:32:05 or an ISO "
		"8601 "
		"date",
		text);
}

int select_window_parse(struct select_window *window, const char *text, struct error *error)
{
	const char *dots = strstr(text, "..");
	int code = 0;
	char *begin;

	*window = (struct select_window){0};
	if (!dots && *text == '@') {
		window->is_mark = true;
		return read_moment(&window->begin, text) ? 0 : bad_moment(text, error);
	}
	if (!dots)
		return error_set(error, ERROR_USAGE,
			"--time: '%s' is no window: write A..B, where either may be left out", text);
	begin = strndup(text, (size_t)(dots - text));
	if (!begin)
		return error_memory(error);
	if (!read_moment(&window->begin, begin) || window->begin.kind == SELECT_FROM_BEGIN)
		code = bad_moment(begin, error);
	else if (!read_moment(&window->end, dots + 2))
		code = bad_moment(dots + 2, error);
	free(begin);
	return code;
}

void select_window_fini(struct select_window *window)
{
	free(window->begin.mark);
	free(window->end.mark);
	*window = (struct select_window){0};
}
