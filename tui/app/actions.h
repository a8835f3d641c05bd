/* SPDX-License-Identifier: Apache-2.0 */
/*
 * actions.h - actions by what they are about: each does the ones it knows and says whether it was one of
 * them.
 */
#ifndef TUI_ACTIONS_H
#define TUI_ACTIONS_H

#include "tui/session/session.h"

/* False: the action is none of these. */
bool actions_cursor(struct session *session, enum keys_action action);
/* It does no more than move the cursor; */
bool actions_is_move(enum keys_action action);
/* and from where it is, within what is on the screen. */
bool actions_is_move_here(const struct session *session, enum keys_action action);
bool actions_window(struct session *session, enum keys_action action);
bool actions_rows(struct session *session, enum keys_action action);

#endif
