/* SPDX-License-Identifier: Apache-2.0 */
/*
 * actions.h - actions, grouped by what they change. Each function does the actions of its group and returns
 * false for all others.
 */
#ifndef TUI_ACTIONS_H
#define TUI_ACTIONS_H

#include "tui/session/session.h"

bool actions_cursor(struct session *session, enum keys_action action);
/* True: the action only moves the cursor. */
bool actions_is_move(enum keys_action action);
/* The same, and the cursor stays on the screen. */
bool actions_is_move_here(const struct session *session, enum keys_action action);
bool actions_window(struct session *session, enum keys_action action);
bool actions_rows(struct session *session, enum keys_action action);

/* actions.c: does any action. */
void actions_do(struct session *session, enum keys_action action);
/* goto_launch.c: Enter on a stream's cell: from a GPU operation to its launch and back, from a wait to who
 * ended it. */
void goto_launch_or_cause(struct session *session);
/* goto_cause.c: from the wait in [begin, end) to who ended it. False: the stream does not wait there, or no
 * record tells; with `is_last` that is said. */
bool goto_cause(struct session *session, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, bool is_last);
/* The blame of the gap at the cursor alone. False: there is none. */
bool goto_blame(struct session *session);
/* find_next.c: moves the cursor to the next thing of a kind. `is_back`: to the previous one. */
void find_next_span(struct session *session, bool is_back);
void find_next_gap(struct session *session, bool is_back);
void find_next_gap_by_size(struct session *session, bool is_smaller);
void find_next_blind(struct session *session, bool is_back);
void find_next_fit(struct session *session);
void find_next_match(struct session *session, bool is_back);
/* prompt_keys.c: a key while a prompt is open. */
void prompt_keys_take(struct session *session, uint32_t key);

#endif
