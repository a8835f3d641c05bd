/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_page_timeline.h - the timeline of a page as SVG: a line for each stream, coloured by what it did most
 * in each column, threads by class of time (time_class.h), GPU queues by operation.
 */
#ifndef BLAME_RUN_PAGE_TIMELINE_H
#define BLAME_RUN_PAGE_TIMELINE_H

#include <stdio.h>

#include "blame/report/run_report.h"

/* The colour of a class, "#rrggbb". */
const char *run_page_class_colour(enum time_class class);

/* Of the report's streams, at most RUN_PAGE_TIMELINE_STREAMS of them, chosen evenly; what is left out is
 * said. Whether it all got into `out` tells ferror(). */
#define RUN_PAGE_TIMELINE_STREAMS 48u
int run_page_timeline_svg(FILE *out, struct run *run, const struct select *select,
	const struct run_report *report, struct error *error);

/* How much threads differ, as a square: rows and columns are threads by group, darker where they do other
 * things. Nothing with one group. */
void run_page_heat_svg(FILE *out, const struct run *run, const struct clusters *clusters);

/* For texts and attributes of HTML and SVG, whoever wrote them. NULL: nothing. */
void run_page_put_escaped(FILE *out, const char *text);

#endif
