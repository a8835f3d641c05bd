/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.h - what a program does with sessions: opens them, gives them keys, draws them, closes them.
 *
 *   key --session_key--> actions, prompts --> state, rows --session_draw--> frame --views--> grid
 *                                                              |
 *                                                       session_read.h
 */
#ifndef TUI_APP_H
#define TUI_APP_H

#include "tui/session/session.h"

struct open_runs;

/* `select`, bound to the run, gives the first window, streams and depth; NULL: the whole run. The session
 * borrows the run until session_close(). */
int session_open(struct session **session, struct run *run, const struct select *select,
	struct session_looks looks, struct error *error);
void session_close(struct session *session);

/* Fails if the window of a bound selection lies outside the run, and outside the second one while both are
 * shown; the error names the run's limits. */
int session_require_window(struct session *session, const struct select *select, struct error *error);
/* Moves the window to the selection's, clamped to the run. */
void session_take_window(struct session *session, const struct select *select);
/* Does one key. Errors (a damaged chunk, a wrong pattern) become the message. */
void session_key(struct session *session, uint32_t key);
/* Of the first picture behind a key: with what is coarse and the drawing it is there within 50 ms. */
#define APP_ANSWER_MS 20
/* Reads what the screen needs and draws it into the grid. Stops reading after `limit_ms` (0: never) and then
 * sets is_unread: draw again. */
int session_draw(struct session *session, struct grid *grid, unsigned limit_ms, struct error *error);
/* Updates the columns after a key without drawing or reading, before the next key is done. */
void session_settle(struct session *session);
/* Reads new commits of a live run; true: draw again. */
bool session_renew(struct session *session);

/* ---- compare_open.c: a second run ---- */

/* Takes the run as B, and owns it even if this fails. */
int compare_open(struct session *session, struct run *run, struct error *error);
void compare_close(struct compare *compare);
/* Reads what was committed to B, if it is still being recorded. True: draw again. */
bool compare_renew(struct compare *compare);

/* ---- open_runs_settle.c: several runs (models/open_runs.h) ---- */

/* `session` becomes the first of them; open_runs_fini() closes it. */
void open_runs_init(struct open_runs *open, struct session *session, const struct run_options *options);
void open_runs_fini(struct open_runs *open);
/* Does what the session asked for with session_ask(), and returns the session that has the screen then.
 * Errors become its message. */
struct session *open_runs_settle(struct open_runs *open);

#endif
