/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status_bars.h - the lines around the views. The last two, status and keys, are in every picture: the
 * cursor's place, and how much of the data is known.
 *
 *   title                what is shown, of which run, through which filter     status_bars.c
 *   (the views)
 *   pane title           which views there are, and which one is open          status_bars.c
 *   path                 the call path at the cursor, below 100 columns        views/path_line.c
 *   status               the cursor; coverage and losses; or a message         status_bars.c
 *   keys                 those that matter here, or the prompt                 status_bars.c
 */
#ifndef TUI_STATUS_BARS_H
#define TUI_STATUS_BARS_H

#include "tui/session/session.h"

/* The views that can stand in the pane, as its title lists them; NULL ends them. */
const struct view *const *status_bars_panes(void);

void status_bars_draw_title(struct session *session, struct grid *grid);
void status_bars_draw_pane_title(const struct session *session, struct grid *grid);
void status_bars_draw_status(struct session *session, struct grid *grid);
void status_bars_draw_keys(const struct session *session, struct grid *grid);

#endif
