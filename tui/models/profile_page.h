/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_page.h - the profile of a session: its window, streams and tree, recomputed when these change, and
 * the user's choices about it. Drawn by view_profile.c.
 */
#ifndef TUI_PROFILE_PAGE_H
#define TUI_PROFILE_PAGE_H

#include "tui/models/outline.h"
#include "tui/session/session.h"

#define PROFILE_FILTERS 32
#define PROFILE_HOT_SHARE 0.5

/* Inputs of the profile: equal keys give equal numbers. */
struct profile_key {
	uint64_t begin_ns, end_ns, run_end_ns, streams; /* streams: hash of the list */
	uint64_t other;					/* hash of the same of a second run, 0: alone */
	uint32_t kind, filters;
};

struct plot;

struct profile_page {
	struct outline outline;
	struct arena arena; /* of the profile's rows */
	struct profile_key key;
	bool is_loaded;
	enum profile_view kind;
	bool is_merged;		    /* one tree of both runs; with a second run only */
	bool wants_places;	    /* inclusive columns come first when its columns are made */
	bool is_whole;		    /* all of the run, not the window and the rows */
	char threads[SESSION_TEXT]; /* only these streams; "": as is_whole says */
	double hot_share;
	struct frame_filter_pattern filters[PROFILE_FILTERS];
	char globs[PROFILE_FILTERS][OUTLINE_NAME];
	size_t filter_count;
	uint32_t filter_changes;
	bool has_source; /* the source pane stands below */
	uint64_t cursor; /* hash of the row */
	size_t first;	 /* line at the top */
	size_t first_column;
	size_t seen, seen_sort; /* the column that is kept in view; the sort column when it was chosen */
	int name_cells;		/* that names keep, 0: as many as there are, and 30 at least */
	struct plot *plot;	/* has the tree's place; NULL: none */
	char trouble[1100];	/* reason if there is nothing to show, else "" */
};

/* The page, allocated at the first call; NULL: memory is out. */
struct profile_page *profile_page_of(struct session *session);
void profile_page_free(struct profile_page *page);
/* Recomputes the profile if its inputs changed. False: nothing to show, `trouble` says why. */
bool profile_page_take(struct session *session, struct profile_page *page);
/* Computes the profile of the page's window and of one stream (NULL: the page's streams) into an outline;
 * rows are in `arena`. */
int profile_page_compute(struct session *session, struct profile_page *page, const char *stream,
	struct outline *outline, struct arena *arena, struct error *error);
/* Writes the page's streams to the caller's array, which has room for all; returns their number. */
uint32_t profile_page_streams(struct session *session, const struct profile_page *page, uint32_t *streams);
/* Shows one tree of both runs, or the first run alone. */
void profile_page_merge(struct profile_page *page, bool is_merged);
/* Frees the numbers, which point into the runs; profile_page_take() recomputes them. */
void profile_page_forget(struct profile_page *page);
/* The page is of two runs. */
bool profile_page_is_merged(const struct session *session);
/* Line of the cursor. */
size_t profile_page_line(const struct profile_page *page);

/* Expression of the streams of all rows; "": all of the run. NULL: memory is out. The caller frees it. */
char *profile_page_expression(const struct session *session, const struct profile_page *page);
/* Number of active filters. */
size_t profile_page_hidden(const struct session *session);
/* Adds the filter "KIND GLOB"; false: wrong syntax, or too many filters. */
bool profile_page_hide(struct profile_page *page, const char *what);

/* Commands of the prompt; errors become messages. */
void profile_set_metric(struct session *session, const char *value);  /* NAME = FORMULA */
void profile_set_columns(struct session *session, const char *value); /* N: hide or show; "": list */
void profile_set_rename(struct session *session, const char *value);  /* N TITLE; no title: its own */
void profile_set_move(struct session *session, const char *value);    /* N PLACE, 0: first */
void profile_set_width(struct session *session, const char *value);  /* N: cells of the names; 0: their own */
void profile_set_format(struct session *session, const char *value); /* N %.3e; no format: its own */
void profile_set_percent(struct session *session, const char *value); /* N */
void profile_set_hide(struct session *session, const char *value);    /* self|below|all GLOB; N; "": list */
void profile_set_threads(struct session *session, const char *value);
void profile_set_hot(struct session *session, const char *value); /* 50% */
/* A row's name in so many cells. LABEL_BYTES. */
void profile_page_row_name(const struct profile_row *row, char *out, int cells, bool is_ascii);
/* Moves the cursor to the next row whose name matches session->find. */
void profile_page_find(struct session *session, bool is_back);

#endif
