/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - a second run beside the session's own: pairs of streams, the time offset between the runs, and
 * the difference from A to B in the windows on the screen. Drawn by view_compare.c.
 *
 *   A  the session            window, cursor, depth, filter: the user's
 *   B  compare->other         follows: time of B = time of A + offset, the same column width
 */
#ifndef TUI_COMPARE_H
#define TUI_COMPARE_H

#include "timeline/diff/diff.h"
#include "tui/session/session.h"

#define COMPARE_MARK 128

enum compare_side { COMPARE_BOTH, COMPARE_A, COMPARE_B, COMPARE_SIDES }; /* which run the keys move */
enum compare_align { COMPARE_BEGIN, COMPARE_MARKS, COMPARE_SPAN };

/* Streams of the same role; UINT32_MAX: the run has none. */
struct compare_pair {
	uint32_t a, b;
};

/* Inputs of the difference: equal keys give equal numbers. */
struct compare_key {
	uint64_t begin_ns[DIFF_SIDES], end_ns[DIFF_SIDES];
	uint64_t rows;
	uint32_t top, count, depth, by;
	int64_t align; /* offset of the marks that count steps */
};

struct compare {
	struct session *other; /* B: owns its run */
	int64_t offset_ns;     /* time of B less time of A, both absolute, in one column */
	int64_t shift_ns;      /* the user's part of it */
	bool has_shifted;      /* it changed since the limits were taken: the window stays where it is */
	enum compare_align align;
	char mark[COMPARE_MARK]; /* "" or "@NAME", "@NAME#N" */
	uint64_t zero_ns;	 /* time of A that both are aligned at */
	enum compare_side side;
	uint32_t skip; /* columns at the left that are before time 0 of B's clock */
	bool is_apart; /* no column of B is on the screen */
	struct compare_pair *pairs;
	uint32_t pair_count;
	uint64_t pair_rows;	  /* hash of A's rows for which they were made */
	uint32_t top, line, room; /* first pair on the screen, the cursor's, pairs on the screen */
	enum stats_by by;
	struct arena arena; /* of the difference */
	struct diff_result result;
	struct compare_key key;
	bool is_loaded;
	double steps[DIFF_SIDES];   /* in the window; the numbers are of one step. 0: of the window */
	bool is_table;		    /* the difference has the screen, and the cursor */
	uint32_t row, first_row;    /* its cursor, and the first one shown */
	const struct view *both;    /* the view that view_both shows for both runs */
	uint32_t *only[DIFF_SIDES]; /* streams of the pairs on the screen, for it */
	char trouble[1100];	    /* reason if there is no difference to show */
};

/* "begin", "span" (the one under the cursor), "@NAME" or "@NAME#N"; a wrong value becomes a message. */
void compare_set_align(struct session *session, const char *value);
void compare_align_begins(struct session *session);
/* Begin, a mark, the span under the cursor. */
void compare_next_align(struct session *session);
/* Keeps the window within what the screen shows: both runs, or A alone. Call before each picture and key. */
void compare_take_limits(struct session *session);
/* Lays B's window on the columns of A's and reads the streams of the pairs on the screen, for about until
 * `at_ms` of deadline_now_ms() (0: all). */
int compare_read(struct session *session, uint64_t at_ms, struct error *error);
/* Recomputes the difference if its inputs changed. False: nothing to show, `trouble` says why. */
bool compare_take(struct session *session);

/* compare_steps.c: divides the difference by the steps of each run, if marks delimit steps. */
void compare_take_steps(struct session *session);
/* Sets the streams of both sessions (session->only) to the pairs on the screen, if the full-screen view shows
 * those. */
int compare_choose_streams(struct session *session, struct error *error);
/* The full-screen view shows both runs. */
bool compare_has_screen(const struct session *session);
/* Last part of a run's path. */
const char *compare_base_name(const struct run *run);
/* compare_pairs.c: pairs by rank (or order of processes), kind and name, the rest by order of creation; first
 * those with a stream of A, in the order of its rows. -1: memory is out. */
int compare_make_pairs(
	const struct session *a, const struct session *b, struct compare_pair **pairs, uint32_t *count);

#endif
