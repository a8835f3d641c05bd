/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - data of the default page about idle GPUs: where the wall clock went, what the GPUs waited for,
 * and the largest gap of each cause.
 */
#ifndef BLAME_PAGE_H
#define BLAME_PAGE_H

#include "blame/findings/findings.h"
#include "blame/idle/gaps.h"
#include "blame/wait/last_arrival.h"
#include "timeline/report/coverage.h"

/* If less of the window is known, the page begins with that; below the second limit it names no causes. */
#define PAGE_COVERAGE_LEAST 0.9
#define PAGE_COVERAGE_CAUSES 0.5

/* Start-up ends with the last gap of the first half that takes this part of the window and is twice as long
 * as each gap of the second half except the one at the end. */
#define PAGE_START_LEAST 20

#define PAGE_CAUSE_LEAST 1000 /* of the idle time: smaller causes (below a thousandth) are not named */
#define PAGE_CAUSES 5

struct page_part {
	const char *key, *text; /* for scripts, for people */
	uint64_t time_ns;
};

struct page_cause {
	const struct exact_share_row *row;
	const char *path;	   /* of its largest context, escaped */
	const struct gap *largest; /* the largest gap of this cause; NULL: none */
};

struct page {
	struct idle idle;
	double known; /* part of the window, from the first use of a GPU, in which the GPUs' state is known */
	struct page_part parts[8];
	size_t part_count;  /* they sum to idle.window_ns */
	uint64_t others_ns; /* blame of streams that the selector leaves out */
	struct exact_share_rows rows, waited;
	struct page_cause causes[PAGE_CAUSES];
	size_t cause_count;	   /* 0 if too little is known */
	const struct gap *largest; /* the largest gap followed by work, or else of all; NULL: none */
	const struct gap *end;	   /* a larger one after a group's last work; NULL: none */
	uint64_t steady_ns;	   /* end of start-up; 0: none was found */
	uint32_t feeders;	   /* processes without a GPU, if groups are processes */
	struct last_arrival late;
	struct findings findings;
	struct coverage coverage;
	uint32_t threads, queues;
	enum row_key_by by; /* of the causes */
	struct gaps *gaps;  /* page_fini() frees them */
	bool is_part;	    /* the part of one of several ranks (idle_shared.h): not to be printed */
};

/* ERROR_EMPTY like idle_sweep(). In `arena` and the run. *by NULL: functions of scripts if there are any,
 * else functions. */
int page_make(struct page *page, struct run *run, const struct select *select,
	const struct idle_question *question, const enum row_key_by *by, struct arena *arena,
	struct error *error);
void page_fini(struct page *page);

#endif
