/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mouse.c - finds the view below the pointer and runs the actions of the matching keys.
 */
#include "tui/app/mouse.h"

#include "tui/app/actions.h"
#include "tui/session/session.h"
#include "tui/views/views.h"

static bool is_inside(const struct grid_area *area, int row, int column)
{
	return row >= area->row && row < area->row + area->rows && column >= area->column &&
	       column < area->column + area->columns;
}

/* The frame's column below a column of the screen, clamped to what is there. */
static uint32_t column_below(const struct session *session, int column)
{
	int at = (column - session->layout.label) / session->cells_wide;
	int last = (int)session->frame.columns.count - 1;

	return (uint32_t)(at < 0 ? 0 : at > last ? last : at);
}

static void put_cursor(struct session *session, int column)
{
	uint64_t time_ns = frame_column_ns(&session->frame, column_below(session, column));

	session->state.cursor_ns = time_ns < session->state.begin_ns ? session->state.begin_ns : time_ns;
}

static void click_timeline(struct session *session, const struct mouse_event *event)
{
	uint32_t top, count = session_rows_on_screen(session, &top);
	uint32_t at = session_row_at(session, top, (uint32_t)(event->row - session->layout.timeline.row));

	at = at == UINT32_MAX ? count : at - top;
	session->focus = &view_timeline;
	if (at < count)
		session_set_row(session, top + at);
	if (event->column >= session->layout.label)
		put_cursor(session, event->column);
	else if (at < count && event->kind == MOUSE_CLICK &&
		 (rows_is_group(&session->rows.nodes[session->state.node]) ||
			 rows_has_branch(&session->rows, session->state.node)))
		actions_do(session, KEYS_DO_FOLD); /* on its label */
	if (event->kind == MOUSE_DOUBLE)
		actions_do(session, KEYS_DO_ENTER);
}

static void drag_timeline(struct session *session, const struct mouse_event *event)
{
	struct mouse_event begin = {MOUSE_CLICK, event->from_row, event->from_column, 0, 0};

	if (event->from_column < session->layout.label)
		return;
	click_timeline(session, &begin);
	session->state.has_range = true;
	session->state.range_ns = frame_column_ns(&session->frame, column_below(session, event->from_column));
	put_cursor(session, event->column);
	session_say(session, "range: z zooms to it, Esc drops it");
}

/* The window around the place of the run that was clicked. */
static void click_minimap(struct session *session, const struct mouse_event *event)
{
	const struct minimap *minimap = &session->minimap;
	uint64_t span_ns = session->state.end_ns - session->state.begin_ns, at_ns;
	int at = event->column - session->layout.label;

	if (at < 0 || at >= (int)minimap->edges.count)
		return;
	at_ns = minimap_column_ns(minimap, (uint32_t)at);
	session_keep(session);
	session->state.is_following = false;
	view_state_set_window(&session->state, session_limits(session),
		at_ns > span_ns / 2 ? at_ns - span_ns / 2 : 0, span_ns);
}

static void act_in(struct session *session, const struct view *view, enum keys_action action)
{
	if (view->act)
		view->act(session, action);
}

/* The moment below the pointer stays there; the cursor keeps its own. */
static void zoom_at(struct session *session, int column, bool is_in)
{
	struct view_state *state = &session->state;
	uint64_t cursor_ns = state->cursor_ns;

	put_cursor(session, column);
	actions_do(session, is_in ? KEYS_DO_ZOOM_IN : KEYS_DO_ZOOM_OUT);
	if (cursor_ns >= state->begin_ns && cursor_ns < state->end_ns)
		state->cursor_ns = cursor_ns;
}

/* On labels: lines of the row, or where rows have no room, the rows. */
static void turn_on_label(struct session *session, int at, bool is_up)
{
	uint32_t top, count = session_rows_on_screen(session, &top),
		      row = session_row_at(session, top, (uint32_t)at);

	if (count < session->rows.shown_count && !session->rows.has_lines)
		actions_do(session, is_up ? KEYS_DO_UP : KEYS_DO_DOWN);
	else if (row != UINT32_MAX)
		session_step_lines(session, row, is_up ? 1 : -1);
}

static void turn_wheel(struct session *session, const struct mouse_event *event)
{
	const struct layout *layout = &session->layout;
	bool is_up = event->kind == MOUSE_WHEEL_UP;

	if (session->full)
		act_in(session, session->full, is_up ? KEYS_DO_UP : KEYS_DO_DOWN);
	else if (event->row == layout->ruler)
		zoom_at(session, event->column, is_up);
	else if (event->row == layout->minimap)
		actions_do(session, is_up ? KEYS_DO_PAN_LEFT : KEYS_DO_PAN_RIGHT);
	else if (is_inside(&layout->pane, event->row, event->column))
		act_in(session, session->pane, is_up ? KEYS_DO_UP : KEYS_DO_DOWN);
	else if (!is_inside(&layout->timeline, event->row, event->column))
		actions_do(session, is_up ? KEYS_DO_UP : KEYS_DO_DOWN);
	else if (event->column >= layout->label)
		zoom_at(session, event->column, is_up);
	else
		turn_on_label(session, event->row - layout->timeline.row, is_up);
}

void mouse_event(struct session *session, const struct mouse_event *event)
{
	const struct layout *layout = &session->layout;
	bool is_over_timeline = is_inside(&layout->timeline, event->row, event->column);

	session->message[0] = '\0';
	if (!session->looks.has_mouse || layout->is_too_small || session->prompt != PROMPT_NONE ||
		session->frame.columns.count == 0)
		return;
	if (event->kind == MOUSE_WHEEL_UP || event->kind == MOUSE_WHEEL_DOWN) {
		turn_wheel(session, event);
		return;
	}
	if (session->full)
		return;
	if (event->kind == MOUSE_DRAG) {
		if (is_inside(&layout->timeline, event->from_row, event->from_column))
			drag_timeline(session, event);
		return;
	}
	if (is_over_timeline)
		click_timeline(session, event);
	else if (event->row == layout->ruler && event->column >= layout->label)
		put_cursor(session, event->column);
	else if (event->row == layout->minimap)
		click_minimap(session, event);
	else if (is_inside(&layout->pane, event->row, event->column))
		session->focus = session->pane;
	else if (is_inside(&layout->stack, event->row, event->column))
		session->focus = &view_stack;
}
