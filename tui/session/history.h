/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - undo and redo: snapshots of the view state and of which rows are folded, hidden or pinned.
 */
#ifndef TUI_HISTORY_H
#define TUI_HISTORY_H

#include "tui/session/view_state.h"

struct history;
int history_new(struct history **history, struct error *error);
void history_free(struct history *history);
/* Saves the current state and the flags of the rows as a step for undo; drops the steps for redo. */
void history_keep(struct history *history, const struct view_state *state, const struct rows *rows);
/* Goes back or forward one step and updates the rows; false: there is none. */
bool history_undo(struct history *history, struct view_state *state, struct rows *rows);
bool history_redo(struct history *history, struct view_state *state, struct rows *rows);

#endif
