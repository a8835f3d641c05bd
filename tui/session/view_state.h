/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_state.h - the state that undo restores: window, cursor (row, time), depth. Knows no screen and reads
 * no records.
 *
 * Times are absolute ns. The window is the one asked for; the frame lays it on whole columns.
 */
#ifndef TUI_VIEW_STATE_H
#define TUI_VIEW_STATE_H

#include "tui/timeline/rows.h"

struct view_state {
	uint64_t begin_ns, end_ns; /* the window */
	uint64_t pad_ns;	   /* extra time after the end, so that whole columns cover the window */
	uint64_t cursor_ns;
	uint32_t node; /* of the cursor's row */
	uint32_t top;  /* first row on the screen */
	uint32_t depth;
	bool is_auto;	     /* the depth is chosen again when the window's length changes */
	bool is_auto_wanted; /* ... and has to be chosen now */
	uint64_t auto_begin_ns,
		auto_end_ns; /* the window that it was chosen for; empty: the next picture's */
	bool is_pad_wanted;  /* pad_ns must be computed again: the length has changed */
	bool is_whole;	     /* the window is the whole run, and grows with it */
	bool is_following;   /* the window's end is the run's end */
	bool has_range;
	uint64_t range_ns; /* where the range began; it ends at the cursor */
};

/* Chooses the depth for the next picture's window, if it chooses itself. */
void view_state_choose_depth(struct view_state *state, bool is_auto);

/* Limits of the run, so that a window cannot leave it. */
struct view_state_limits {
	uint64_t begin_ns, end_ns;
};

#define VIEW_STATE_SPAN_MIN_NS 64u

/* Moves the window to [begin, begin + span), inside the limits. */
void view_state_set_window(
	struct view_state *state, struct view_state_limits limits, uint64_t begin_ns, uint64_t span_ns);
/* Moves the window by so many ns, keeping its length. */
void view_state_pan(struct view_state *state, struct view_state_limits limits, int64_t by_ns);
/* Makes the window `factor` times as long; the cursor keeps its place on the screen. */
void view_state_zoom(struct view_state *state, struct view_state_limits limits, double factor);
void view_state_whole(struct view_state *state, struct view_state_limits limits);
/* Puts a state of earlier into limits that may have changed since: a whole window becomes the whole of them,
 * any other keeps its length as far as they allow. */
void view_state_fit(struct view_state *state, struct view_state_limits limits);
/* Moves the cursor. If the time is outside the window, centres the window on it. */
void view_state_go(struct view_state *state, struct view_state_limits limits, uint64_t time_ns);

#endif
