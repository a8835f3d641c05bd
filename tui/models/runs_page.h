/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_page.h - the list of runs in the directory of the shown run: command, time of the last write, size.
 * Drawn by view_runs.c.
 */
#ifndef TUI_RUNS_PAGE_H
#define TUI_RUNS_PAGE_H

#include "timeline/run/run_find.h"
#include "tui/session/session.h"

struct runs_entry {
	bool is_read;	   /* what its first store says */
	char command[256]; /* or why it cannot be read */
	char host[64], state[24];
};

struct runs_page {
	char directory[SESSION_TEXT];
	struct run_found *found; /* the newest first */
	struct runs_entry *entries;
	size_t count, line, first;
	char trouble[1100]; /* why there is nothing; "": there is */
};

/* With all that it holds; NULL is nothing. */
void runs_page_free(struct runs_page *page);
/* Lists the directory of the session's run anew. */
void runs_page_renew(struct session *session);
/* Fills entry `at` from the run's first store. */
void runs_page_read(struct runs_page *page, size_t at);

#endif
