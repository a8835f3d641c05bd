/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_page.h - the page of hpct-report as rows, one figure each, whatever prints them; and the page of a
 * group of runs: each figure's mean over the runs, with its least and its most.
 *
 *   A  threads io 10.0 %     B  threads io 30.0 %     group  threads io 20.0 %, 10.0 to 30.0, most in B
 */
#ifndef BLAME_RUN_PAGE_H
#define BLAME_RUN_PAGE_H

#include "blame/report/gate.h"

struct run_page_row {
	const char *section, *key, *path, *text; /* path (escaped), text: NULL: none */
	uint64_t time_ns, count;
	double percent;
	int class; /* enum time_class that it is about */
	bool has_time, has_count, has_percent, has_class;
	bool is_minor; /* only a group asks for it: not shown */
	/* -- of a group -- */
	uint32_t runs;	    /* that have it; 0: the row is of one run */
	double least, most; /* per cent if it has any, else ns, else a count; runs without it count as 0,
			       but for efficiencies, which they do not have */
	uint32_t most_run;  /* which one */
};

struct run_page {
	const char *name;     /* of the run, as the user wrote it; of a group what the caller gives it */
	const char *headline; /* the verdict, a sentence */
	struct run_page_row *rows;
	size_t count;
};

#define RUN_PAGE_PATHS 3 /* that are shown of a class */

/* Everything in `arena`, which must outlive the page; nothing is the run's or the report's. `gates` are
 * judged, may have none. `is_of_group`: with what the page of its group needs beside. ERROR_IO: no memory. */
int run_page_make(struct run_page *page, struct run *run, const struct run_report *report, uint32_t depth,
	bool is_of_group, const struct gates *gates, struct arena *arena, struct error *error);

/* Of at least one page; rows in the order in which they first come, paths by descending time. */
int run_page_group(struct run_page *group, const struct run_page *pages, uint32_t count, struct arena *arena,
	struct error *error);

/* "41.20 %", "1.2 s", "12": the figure that a row is about; `value` in its unit (run_page_row.least). */
#define RUN_PAGE_TEXT 48
void run_page_figure_text(char text[RUN_PAGE_TEXT], const struct run_page_row *row, double value);
double run_page_figure(const struct run_page_row *row);

#endif
