/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saved_views.h - views saved by name in $XDG_CONFIG_HOME/hpct/views: window, cursor, depth, filter and pane,
 * as lines "key value". A view records its run; loaded in another run it sets only depth, filter and pane (S4
 * 10.9.1 warns of the rest).
 */
#ifndef TUI_SAVED_VIEWS_H
#define TUI_SAVED_VIEWS_H

#include "tui/session/session.h"

/* Names are letters, digits, '.', '_' and '-', not beginning with '.'. Both say what they did, or what is
 * wrong. */
void saved_views_write(struct session *session, const char *name);
void saved_views_load(struct session *session, const char *name);

#endif
