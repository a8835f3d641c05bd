/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_runs.h - the runs that are open in one view: each has a session of its own, one of them has the
 * screen. What is to be opened, shown or closed is asked for by the session that has it (session_want), and
 * done between keys, when nothing of the session is in use.
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

/* `session` is the first; it belongs to open_runs from here on. */
void open_runs_init(struct open_runs *open, struct session *session, const struct run_options *options);
void open_runs_fini(struct open_runs *open);
/* Does what the session asked for. What goes wrong is said in the session that has the screen then. */
struct session *open_runs_settle(struct open_runs *open);
/* A run by its path may be written in more than one way. */
bool open_runs_is_same(const char *path, const char *other);

#endif
