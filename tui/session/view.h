/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - the operations of a view, which draws itself into an area of the grid. All views show the
 * session's one cursor or the window around it. A new view is a file with one of these tables, a line in
 * views.h, a place in the list of status_bars.c, and a key.
 */
#ifndef TUI_VIEW_H
#define TUI_VIEW_H

#include "tui/screen/grid.h"
#include "tui/screen/keys.h"

struct session;

/* A key that means something else while the view has the focus: at most 11 and 60 characters. */
struct view_key {
	const char *keys, *help;
};

/* The streams that a view shows. */
enum view_streams {
	VIEW_ROWS,	     /* those of the timeline's rows */
	VIEW_COMPARISON,     /* pairs of two runs, drawn by the view */
	VIEW_PAIRS,	     /* those of the pairs on the screen */
	VIEW_PAIRS_IF_MERGED /* the same while the profile is of two runs, else VIEW_ROWS */
};

struct view {
	const char *name; /* as the pane title says it */
	char key;	  /* that opens it in the pane; 0: none */
	void (*draw)(struct session *session, struct grid *grid, struct grid_area area);
	/* An action while the view has the focus; false: it is not the view's own, and the session does it.
	 * NULL: it has none of its own. */
	bool (*act)(struct session *session, enum keys_action action);
	/* What the title line says behind its name while it has the whole screen. NULL: nothing. */
	void (*put_title)(struct session *session, char *out, size_t size_bytes);
	/* The left part of the status line while it has the focus; false: the cursor's cell. NULL: the same.
	 */
	bool (*put_status)(struct session *session, char *out, size_t size_bytes);
	enum view_streams streams;
	bool is_whole;			 /* always has the whole screen */
	bool is_help;			 /* covers another view (session->before_help), which it gives back */
	const struct view_key *own_keys; /* for the help; one without keys ends them. NULL: none */
	const char *hints; /* its own keys, for the bottom line while it has the focus; NULL: none */
};

#endif
