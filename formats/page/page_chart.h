/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_chart.h - the calls and operations of a selection as boxes in time, for pictures: lane by lane, each
 * box below its caller's. The shortest ones are left out, so that memory and the picture stay small however
 * long the run is.
 */
#ifndef FORMATS_PAGE_CHART_H
#define FORMATS_PAGE_CHART_H

#include "store/base/arena.h"
#include "store/base/bytes.h"
#include "timeline/base/key_ids.h"
#include "timeline/select/select.h"

struct page_box {
	uint64_t begin_ns, end_ns; /* from the window's begin */
	uint32_t lane, depth, name;
};

struct page_lane {
	const char *process, *name;
	uint32_t first, count; /* of its boxes */
	uint32_t levels;       /* 1 + the deepest depth; 0: empty */
};

struct page_name {
	const char *text;
	size_t size;
};

struct page_chart {
	uint64_t duration_ns; /* of the window */
	uint64_t least_ns;    /* boxes that are shorter are left out */
	uint64_t left_out;
	size_t box_max;
	struct page_box *boxes; /* by lane, then by begin, callers first */
	size_t box_count;
	struct page_lane *lanes;
	uint32_t lane_count;
	struct page_name *names;
	struct key_ids name_ids;
	/* -- internal -- */
	struct run *run;
	struct arena arena; /* texts */
	const char *process;
	struct page_box *open; /* calls of the lane, outermost first */
	size_t open_count, open_room, box_room, lane_room, name_room;
};

/* At most `box_max` boxes (at least 2), none shorter than `least_ns`. page_chart_fini() in any case.
 * ERROR_EMPTY: nothing is monitored there. */
int page_chart_make(struct page_chart *chart, struct run *run, const struct select *select, size_t box_max,
	uint64_t least_ns, struct error *error);
void page_chart_fini(struct page_chart *chart);

/* The number of a name, which is copied. False: no memory. */
bool page_chart_name(struct page_chart *chart, const char *text, size_t size, uint32_t *number);
/* Adds what is left out to the list of phrases, in a sentence of its own in time units. */
void page_chart_left_out(const struct page_chart *chart, struct store_bytes *list);

#endif
