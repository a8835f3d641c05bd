/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_number.c - formats in integers, so that a number reads the same on every machine.
 */
#include "tui/screen/format_number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};

static uint64_t power_of_ten(int exponent)
{
	uint64_t value = 1;

	while (exponent-- > 0)
		value *= 10;
	return value;
}

void format_number_time(char *out, int64_t time_ns, uint64_t step_ns)
{
	uint64_t ns = time_ns < 0 ? 0 - (uint64_t)time_ns : (uint64_t)time_ns;
	uint64_t fraction;
	int used;

	if (step_ns >= 10000 && ns < UINT64_MAX - 500)
		ns = (ns + 500) / 1000 * 1000;
	fraction = ns % 1000000000;
	used = snprintf(out, FORMAT_NUMBER_BYTES, "%s%llu.%03llu %03llu", time_ns < 0 ? "-" : "",
		(unsigned long long)(ns / 1000000000), (unsigned long long)(fraction / 1000000),
		(unsigned long long)(fraction / 1000 % 1000));

	if (step_ns < 10000)
		used += snprintf(out + used, FORMAT_NUMBER_BYTES - (size_t)used, " %03llu",
			(unsigned long long)(fraction % 1000));
	snprintf(out + used, FORMAT_NUMBER_BYTES - (size_t)used, " s");
}

/* Rounds half up to `decimals` of the unit; decimals of ns are never written. */
static void put_rounded(char *out, uint64_t ns, uint64_t unit_ns, int decimals, const char *unit)
{
	uint64_t scale, step;

	while (decimals > 0 && unit_ns / power_of_ten(decimals) == 0)
		decimals--;
	scale = power_of_ten(decimals);
	step = unit_ns / scale;
	ns = (ns / step + (ns % step >= step - step / 2 && step > 1 && ns < UINT64_MAX - step)) * step;
	if (decimals)
		snprintf(out, FORMAT_NUMBER_BYTES, "%llu.%0*llu %s", (unsigned long long)(ns / unit_ns),
			decimals, (unsigned long long)(ns % unit_ns / step), unit);
	else
		snprintf(out, FORMAT_NUMBER_BYTES, "%llu %s", (unsigned long long)(ns / unit_ns), unit);
}

static size_t unit_of(uint64_t ns)
{
	size_t unit = 0;

	while (unit < 3 && ns < units[unit].ns)
		unit++;
	return unit;
}

void format_number_duration(char *out, uint64_t duration_ns, int decimals)
{
	size_t unit = unit_of(duration_ns);

	put_rounded(out, duration_ns, units[unit].ns, decimals, units[unit].name);
}

void format_number_short(char *out, uint64_t duration_ns)
{
	size_t unit = unit_of(duration_ns);
	uint64_t whole = duration_ns / units[unit].ns;

	put_rounded(out, duration_ns, units[unit].ns,
		whole < 10     ? 2
		: whole < 1000 ? 1
			       : 0,
		units[unit].name);
}

void format_number_share(char *out, uint64_t part, uint64_t whole, int decimals)
{
	uint64_t scale = power_of_ten(decimals), share;
	bool is_rest = whole && part;
	const char *less = "";

	share = whole ? (uint64_t)((double)part / (double)whole * 100.0 * (double)scale + 0.5) : 0;
	if (share == 0 && is_rest)
		share = 1, less = "<";
	if (share >= 100 * scale && part < whole)
		share = 100 * scale - 1;
	if (decimals)
		snprintf(out, FORMAT_NUMBER_BYTES, "%s%llu.%0*llu %%", less,
			(unsigned long long)(share / scale), decimals, (unsigned long long)(share % scale));
	else
		snprintf(out, FORMAT_NUMBER_BYTES, "%s%llu %%", less, (unsigned long long)share);
}

struct format_number_unit format_number_unit_for(uint64_t largest_ns)
{
	if (largest_ns >= 10000000000)
		return (struct format_number_unit){"s", 1000000000, largest_ns >= 1000000000000 ? 1 : 3};
	if (largest_ns >= 1000000)
		return (struct format_number_unit){"ms", 1000000, 1};
	if (largest_ns >= 1000)
		return (struct format_number_unit){"us", 1000, 1};
	return (struct format_number_unit){"ns", 1, 0};
}

void format_number_in(char *out, uint64_t duration_ns, struct format_number_unit unit)
{
	put_rounded(out, duration_ns, unit.ns, unit.decimals, unit.name);
}

int format_number_parse(const char *text, double *duration_ns)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !isfinite(value))
		return -1;
	while (*end == ' ')
		end++;
	if (*end == '\0') {
		*duration_ns = value * 1e9;
		return 0;
	}
	for (size_t i = 0; i < 4; i++) {
		if (strcmp(end, units[i].name) == 0) {
			*duration_ns = value * (double)units[i].ns;
			return 0;
		}
	}
	return -1;
}
