/* SPDX-License-Identifier: Apache-2.0 */
/*
 * actions_window.c - actions that move the cursor or the window. Every change of the window is kept for undo;
 * a move of the cursor is not.
 */
#include "tui/app/actions.h"
#include "tui/session/history.h"
#include "tui/views/views.h"

/* ---- cursor ---- */

/* By so many columns; at the window's edge the view jumps by a quarter. */
static void move_columns(struct session *session, int by)
{
	struct view_state *state = &session->state;
	struct view_state_limits limits = session_limits(session);
	int64_t count = session->frame.columns.count, target = (int64_t)session_column(session) + by;
	uint64_t cursor_ns = state->cursor_ns;
	int64_t by_ns;

	if (target >= 0 && target < count) {
		state->cursor_ns = frame_column_ns(&session->frame, (uint32_t)target);
		if (state->cursor_ns <
			state->begin_ns) /* the first column begins a little before the window */
			state->cursor_ns = state->begin_ns;
		return;
	}
	if (by < 0 ? state->begin_ns <= limits.begin_ns : state->end_ns >= limits.end_ns) {
		state->cursor_ns = by < 0 ? state->begin_ns : state->end_ns - 1;
		return;
	}
	if (by < 0)
		state->is_following = false;
	session_keep(session);
	view_state_pan(state, limits, session_columns_ns(session, by < 0 ? -(count / 4) : count / 4));
	by_ns = session_columns_ns(session, by);
	view_state_go(state, limits,
		by_ns < 0 && (uint64_t)-by_ns > cursor_ns ? limits.begin_ns : cursor_ns + (uint64_t)by_ns);
}

static void move_rows(struct session *session, int by)
{
	uint32_t row = session_row(session);

	if (row == UINT32_MAX)
		return;
	if (by < 0 && row < (uint32_t)-by)
		row = 0;
	else
		row += (uint32_t)by;
	session_set_row(session, row);
}

/* To the next process's row, or back to this one's. */
static void move_group(struct session *session, bool is_back)
{
	uint32_t row = session_row(session);

	if (row == UINT32_MAX)
		return;
	do {
		if (is_back ? row == 0 : row + 1 >= session->rows.shown_count)
			return;
		row += is_back ? (uint32_t)-1 : 1u;
	} while (session->rows.nodes[session->rows.shown[row]].level != 0);
	session_set_row(session, row);
}

bool actions_is_move(enum keys_action action)
{
	return (action >= KEYS_DO_LEFT && action <= KEYS_DO_SCROLL_DOWN) || action == KEYS_DO_WINDOW_BEGIN ||
	       action == KEYS_DO_WINDOW_END;
}

bool actions_is_move_here(const struct session *session, enum keys_action action)
{
	uint32_t column = session_column(session), row = session_row(session), top;
	uint32_t rows = session_rows_on_screen(session, &top);

	if (session->full || session->focus != &view_timeline || session->prompt != PROMPT_NONE ||
		row == UINT32_MAX)
		return false;
	switch (action) {
	case KEYS_DO_LEFT:
		return column > 0;
	case KEYS_DO_LEFT_TEN:
		return column >= 10;
	case KEYS_DO_RIGHT:
		return column + 1 < session->frame.columns.count;
	case KEYS_DO_RIGHT_TEN:
		return column + 10 < session->frame.columns.count;
	case KEYS_DO_UP:
		return row > top;
	case KEYS_DO_DOWN:
		return row + 1 < top + rows;
	default:
		return action == KEYS_DO_WINDOW_BEGIN || action == KEYS_DO_WINDOW_END;
	}
}

/* ---- window ---- */

static void zoom(struct session *session, double factor)
{
	session_keep(session);
	view_state_zoom(&session->state, session_limits(session), factor);
}

static void zoom_range(struct session *session)
{
	struct view_state *state = &session->state;
	uint64_t from, until;
	uint32_t column;

	if (!state->has_range) {
		session_say(session, "no range: v starts one at the cursor, then move and press z");
		return;
	}
	session_keep(session);
	column = session_column(session);
	from = state->range_ns < frame_column_ns(&session->frame, column)
		       ? state->range_ns
		       : frame_column_ns(&session->frame, column);
	until = frame_column_ns(&session->frame, column + 1);
	if (state->range_ns > from)
		until = frame_column_ns(
			&session->frame, frame_column_at(&session->frame, state->range_ns) + 1);
	state->has_range = false;
	view_state_set_window(state, session_limits(session), from, until - from);
}

static void toggle_range(struct session *session)
{
	struct view_state *state = &session->state;

	if (state->has_range) {
		state->has_range = false;
		return;
	}
	state->has_range = true;
	state->range_ns = frame_column_ns(&session->frame, session_column(session));
	session_say(session, "range begins here: move, then z zooms to it, v or Esc drops it");
}

static void follow(struct session *session)
{
	struct view_state *state = &session->state;
	struct view_state_limits limits = session_limits(session);
	uint64_t span_ns = state->end_ns - state->begin_ns;

	if (!session->is_live) {
		session_say(session, "the run is not being recorded any more");
		return;
	}
	state->is_following = !state->is_following;
	if (state->is_following)
		view_state_set_window(
			state, limits, limits.end_ns > span_ns ? limits.end_ns - span_ns : 0, span_ns);
}

static void undo(struct session *session, bool is_redo)
{
	if (!(is_redo ? history_redo : history_undo)(session->history, &session->state, &session->rows))
		session_say(session, is_redo ? "nothing to do again" : "nothing to undo");
}

bool actions_cursor(struct session *session, enum keys_action action)
{
	uint32_t top, rows = session_rows_on_screen(session, &top);

	switch (action) {
	case KEYS_DO_LEFT:
		move_columns(session, -1);
		return true;
	case KEYS_DO_RIGHT:
		move_columns(session, 1);
		return true;
	case KEYS_DO_LEFT_TEN:
		move_columns(session, -10);
		return true;
	case KEYS_DO_RIGHT_TEN:
		move_columns(session, 10);
		return true;
	case KEYS_DO_UP:
		move_rows(session, -1);
		return true;
	case KEYS_DO_DOWN:
		move_rows(session, 1);
		return true;
	case KEYS_DO_GROUP_UP:
		move_group(session, true);
		return true;
	case KEYS_DO_GROUP_DOWN:
		move_group(session, false);
		return true;
	case KEYS_DO_SCROLL_UP:
		move_rows(session, -(int)(rows ? rows : 1));
		return true;
	case KEYS_DO_SCROLL_DOWN:
		move_rows(session, (int)rows);
		return true;
	case KEYS_DO_WINDOW_BEGIN:
		session->state.cursor_ns = session->state.begin_ns;
		return true;
	case KEYS_DO_WINDOW_END:
		session->state.cursor_ns = session->state.end_ns - 1;
		return true;
	default:
		return false;
	}
}

bool actions_window(struct session *session, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_PAN_LEFT:
		session_pan(session, -1);
		return true;
	case KEYS_DO_PAN_RIGHT:
		session_pan(session, 1);
		return true;
	case KEYS_DO_PAGE_LEFT:
		session_pan(session, -4);
		return true;
	case KEYS_DO_PAGE_RIGHT:
		session_pan(session, 4);
		return true;
	case KEYS_DO_ZOOM_IN:
		zoom(session, 0.5);
		return true;
	case KEYS_DO_ZOOM_OUT:
		zoom(session, 2);
		return true;
	case KEYS_DO_ZOOM_IN_BIT:
		zoom(session, 0.8);
		return true;
	case KEYS_DO_ZOOM_OUT_BIT:
		zoom(session, 1.25);
		return true;
	case KEYS_DO_WHOLE_RUN:
		session_keep(session);
		view_state_whole(&session->state, session_limits(session));
		return true;
	case KEYS_DO_RANGE:
		toggle_range(session);
		return true;
	case KEYS_DO_ZOOM_RANGE:
		zoom_range(session);
		return true;
	case KEYS_DO_FOLLOW:
		follow(session);
		return true;
	case KEYS_DO_UNDO:
	case KEYS_DO_REDO:
		undo(session, action == KEYS_DO_REDO);
		return true;
	default:
		return false;
	}
}
