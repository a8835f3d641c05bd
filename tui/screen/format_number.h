/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_number.h - formats times, durations and shares for the screen. Independent of the locale: the
 * decimal point is '.', a blank separates groups of three.
 */
#ifndef TUI_FORMAT_NUMBER_H
#define TUI_FORMAT_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define FORMAT_NUMBER_BYTES 48

/* A point in time as seconds from the origin, with at least 6 decimals and as many as columns of step_ns
 * need: "1.335 886 s". May lie before the origin. */
void format_number_time(char *out, int64_t time_ns, uint64_t step_ns);
/* A duration with `decimals` of the largest unit that leaves something before the point: "142.6 ms". */
void format_number_duration(char *out, uint64_t duration_ns, int decimals);
/* Three digits or so: "2.10 ms", "12.6 ms". */
void format_number_short(char *out, uint64_t duration_ns);
/* "92 %", "30.6 %"; a share that is not 0 never reads 0 ("<1 %"), one that is not whole never 100. */
void format_number_share(char *out, uint64_t part, uint64_t whole, int decimals);

/* One unit for a whole table, so that its lines can be compared by eye. */
struct format_number_unit {
	const char *name; /* "ms" */
	uint64_t ns;	  /* in one of it */
	int decimals;
};
struct format_number_unit format_number_unit_for(uint64_t largest_ns);
void format_number_in(char *out, uint64_t duration_ns, struct format_number_unit unit); /* "436.2 ms" */

/* Reads "1.5s", "20 ms", "300us", "1e6ns", "12" (seconds): -1 when it is none. */
int format_number_parse(const char *text, double *duration_ns);

#endif
