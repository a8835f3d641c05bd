/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_runs.h - the runs that one view has open: each has its own session, and one session has the screen. A
 * session requests another run with session_ask(); app/open_runs_settle.c opens it between keys.
 */
#ifndef TUI_OPEN_RUNS_H
#define TUI_OPEN_RUNS_H

#include "tui/session/session.h"

#define OPEN_RUNS_MAX 16

struct open_runs {
	struct open_run {
		struct session *session;
		struct run *run; /* to be closed with it; NULL: the caller's */
	} places[OPEN_RUNS_MAX];
	size_t count, at;
	struct run_options options; /* runs are opened with */
};

/* True: both paths name one directory, though written in different ways. */
bool open_runs_is_same(const char *path, const char *other);
/* Index of the run with that path; `count`: it is not open. */
size_t open_runs_find(const struct open_runs *open, const char *path);

#endif
