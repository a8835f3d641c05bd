/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_runs.h - the runs that are open in one view: each has a session of its own, one of them has the
 * screen. What is to be opened, shown or closed is asked for by the session that has it (session_want), and
 * done between keys, when nothing of the session is in use.
 */
#ifndef TUI_OPEN_RUNS_H
#define TUI_OPEN_RUNS_H

#include "tui/session/session.h"

#define DESK_RUNS 16

struct desk {
	struct desk_place {
		struct session *session;
		struct run *run; /* to be closed with it; NULL: the caller's */
	} places[DESK_RUNS];
	size_t count, at;
	struct run_options options; /* runs are opened with */
};

/* `session` is the first; from here on the desk's. */
void desk_init(struct desk *desk, struct session *session, const struct run_options *options);
void desk_fini(struct desk *desk);
/* Does what the session asked for. What goes wrong is said in the session that has the screen then. */
struct session *desk_settle(struct desk *desk);
/* A run by its path may be written in more than one way. */
bool desk_is_same(const char *path, const char *other);

#endif
