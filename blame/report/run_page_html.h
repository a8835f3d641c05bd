/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_page_html.h - pages as one HTML file: it has its style, its scripts and its pictures in itself, asks no
 * network, and says so to the browser.
 *
 *   head | group, if there are several runs | a section for each run: bars, tables, timeline, flame graphs
 */
#ifndef BLAME_RUN_PAGE_HTML_H
#define BLAME_RUN_PAGE_HTML_H

#include <stdio.h>

#include "blame/report/run_page.h"

/* Whether it all got into `out` tells ferror(). */
void run_page_html_begin(FILE *out, const char *title);
void run_page_html_end(FILE *out);
/* The tables of a group. */
void run_page_html_group(
	FILE *out, const struct run_page *group, const struct run_page *pages, uint32_t count);
/* A run's bars and tables. */
void run_page_html_run(FILE *out, const struct run_page *page);
/* Its pictures: the timeline, flame graphs of the threads' time and of kernels by launch. Takes the
 * selector's --metric for its own use. */
int run_page_html_pictures(FILE *out, struct run *run, struct select *select, const struct run_report *report,
	struct arena *arena, struct error *error);

#endif
