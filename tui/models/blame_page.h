/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_page.h - blame for idle GPUs of the processes on the screen, and the list of gaps. One sweep
 * (blame/idle/idle.h) per window, repeated when the window or the rows change or gaps are needed. Drawn by
 * view_blame.c and view_gaps.c.
 */
#ifndef TUI_BLAME_PAGE_H
#define TUI_BLAME_PAGE_H

#include "blame/idle/gaps.h"
#include "blame/idle/idle.h"
#include "blame/wait/last_arrival.h"
#include "blame/wait/lock.h"
#include "blame/wait/threads.h"
#include "blame/wait/wait.h"
#include "blame/wait/wait_causes.h"
#include "tui/session/session.h"

#define BLAME_MIN_NS 10000u /* shorter gaps are counted, not listed */

/* The kind of idle time. */
enum blame_of {
	BLAME_GPU_IDLE, /* code that worked meanwhile */
	BLAME_WAITING,	/* what CPU threads wait in */
	BLAME_CAUSES,	/* what they wait for, and whom */
	BLAME_WAITED,	/* kernels that CPU threads wait for */
	BLAME_LATE,	/* who came last at barriers, collective calls, messages */
	BLAME_HOLDERS,	/* what those did who held the locks that threads waited for */
	BLAME_OF_COUNT
};

struct blame_page {
	enum blame_of of;
	bool is_of_chosen; /* else: of GPUs, where there are any on the screen */
	struct wait_functions *waits;
	struct gaps *gaps;	       /* NULL: not needed yet */
	struct arena arena, row_arena; /* of the sweep; of the rows */
	struct idle idle;	       /* BLAME_GPU_IDLE */
	struct threads threads;	       /* BLAME_WAITING */
	struct wait_cause_sums causes; /* BLAME_CAUSES */
	struct wait wait;	       /* BLAME_WAITED */
	struct lock lock;	       /* BLAME_HOLDERS */
	struct last_arrival late;      /* BLAME_LATE */
	uint32_t *row_streams;	       /* of the rows of BLAME_CAUSES and BLAME_LATE; CAUSE_NOBODY: none; in
					  `row_arena` */
	uint64_t whole_ns, rest_ns;    /* sum of the rows and the rest; the rest, in no row */
	struct exact_share_rows rows;
	bool has_rows, has_gaps;
	enum row_key_by by;
	uint64_t min_ns;
	/* inputs of the last sweep */
	uint64_t begin_ns, end_ns, streams, swept_min_ns;
	enum blame_of swept_of;
	uint32_t depth;
	enum row_key_by rows_by;
	uint32_t line, first;	      /* cursor of the blame */
	uint32_t gap_line, gap_first; /* of the gaps */
	char trouble[1100];	      /* reason if there is nothing to show, else "" */
};

/* The next question that the streams on the screen have an answer to: those about GPUs need one. */
void blame_page_next_of(struct session *session, struct blame_page *page);
struct blame_page *blame_page_of(struct session *session);
void blame_page_free(struct blame_page *page);
/* False: nothing to show, `trouble` says why. */
bool blame_page_take(struct session *session, struct blame_page *page);
/* The same for gaps, which always belong to GPUs. */
bool blame_page_take_gaps(struct session *session, struct blame_page *page);
/* Shows the timeline with the gap in the middle third and the cursor at its begin. */
void blame_page_go_to_gap(struct session *session, const struct gap *gap);
/* All streams of the processes on the screen as a selector expression, like session_expression_of(). */
char *blame_page_expression(struct session *session);
const char *blame_page_name_by(enum row_key_by by); /* as --by takes it */
const char *blame_page_name_of(enum blame_of of);   /* as --of takes it */
/* :min DURATION */
void blame_page_set_min(struct session *session, const char *value);

#endif
