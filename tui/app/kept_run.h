/* SPDX-License-Identifier: Apache-2.0 */
/* kept_run.h - `hpct-view -p`: the run of the look is there for the look alone, unless `:write RUN` keeps it.
 */
#ifndef TUI_KEPT_RUN_H
#define TUI_KEPT_RUN_H

struct session;

/* The run that is shown is one of a look. */
void kept_run_begin(void);
/* `:write RUN`. */
void kept_run_write(struct session *session, const char *path);
/* Where it is to stay, absolute; NULL: it is dropped. */
const char *kept_run_path(void);

#endif
