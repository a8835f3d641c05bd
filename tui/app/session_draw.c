/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_draw.c - draws one picture: lays the window on columns, reads the rows (session_read.h), lets the
 * views draw, and draws again with wider cells if the picture would cost the terminal too many bytes.
 */
#include <stdio.h>

#include "timeline/base/progress.h"
#include "tui/app/app.h"
#include "tui/app/session_read.h"
#include "tui/app/status_bars.h"
#include "tui/models/compare.h"
#include "tui/models/lanes.h"
#include "tui/session/deadline.h"
#include "tui/views/views.h"

#define SESSION_READ_LEAST_MS 5 /* of a picture's time, whatever else took */
#define SESSION_LIVE_READ_MS 50
#define SESSION_BUDGET_BYTES 15000u /* of 200x50 cells; a larger screen has as much for each of its own */
#define LANES_ROWS_LEFT 3	    /* of streams, whatever lanes there are */
#define SESSION_BUDGET_CELLS (200u * 50u)

/* ---- laying ---- */

/* The view jumps by half a screen when the cursor leaves it; a cursor on a row that went goes on. */
static void keep_cursor_on_screen(struct session *session)
{
	uint32_t row = session_row(session), top, count;

	session_heights_take(session);
	if (row == UINT32_MAX) {
		session_set_row(session, session->state.top);
		row = session_row(session);
	} else if (session->rows.shown[row] != session->state.node) {
		session->state.node = session->rows.shown[row];
	}
	count = session_rows_on_screen(session, &top);
	session->state.top = top;
	if (row == UINT32_MAX || (row >= top && row < top + count))
		return;
	if (row < top)
		session->state.top = row > count / 2 ? row - count / 2 : 0;
	else
		session->state.top = row - count / 2;
	session_rows_on_screen(session, &session->state.top);
}

/* Time ends somewhere, and a run may. */
static uint64_t padded_end(const struct view_state *state)
{
	return state->end_ns > UINT64_MAX - state->pad_ns ? UINT64_MAX : state->end_ns + state->pad_ns;
}

/* Columns are whole tiles, so that the last one may end before the window does: asks for a little more until
 * it does not. Panning keeps what was found, and by that the width of the columns. */
static int lay_columns(struct session *session, struct error *error)
{
	struct view_state *state = &session->state;
	struct frame *frame = &session->frame;
	uint32_t width = (uint32_t)(session->layout.cells / session->cells_wide);
	int result;

	if (state->is_pad_wanted || width != frame->want_width)
		state->pad_ns = 0;
	else
		return frame_lay(frame, state->begin_ns, padded_end(state), width, error);
	state->is_pad_wanted = false;
	result = frame_lay(frame, state->begin_ns, state->end_ns, width, error);
	for (int tries = 0; !result && frame->end_ns < state->end_ns && tries < 8; tries++) {
		state->pad_ns += state->end_ns - frame->end_ns;
		result = frame_lay(frame, state->begin_ns, padded_end(state), width, error);
	}
	return result;
}

static int lay(struct session *session, struct error *error)
{
	struct view_state *state = &session->state;
	const struct frame *frame = &session->frame;
	int result = lay_columns(session, error);

	/* it was in a first or last column that reached beyond the window, and is gone */
	if (state->cursor_ns < state->begin_ns)
		state->cursor_ns = state->begin_ns;
	if (state->cursor_ns >= state->end_ns && state->cursor_ns >= frame->end_ns)
		state->cursor_ns = state->end_ns - 1;
	return result;
}

void session_settle(struct session *session)
{
	struct error error;

	compare_take_limits(session);
	if (session->layout.cells <= 0 || session->layout.is_too_small)
		return;
	keep_cursor_on_screen(session);
	if (lay(session, &error))
		session_say(session, "%s", error.text);
}

/* What is left of a picture's time, a little at least; 0: it has none. */
static unsigned left_ms(unsigned limit_ms, uint64_t begin_ms)
{
	uint64_t took_ms = deadline_now_ms() - begin_ms;

	if (!limit_ms)
		return 0;
	return took_ms + SESSION_READ_LEAST_MS < limit_ms ? (unsigned)(limit_ms - took_ms)
							  : SESSION_READ_LEAST_MS;
}

static int prepare(struct session *session, unsigned limit_ms, struct error *error)
{
	uint64_t begin_ms = deadline_now_ms();
	int result;

	compare_take_limits(session);
	if (compare_has_screen(session))
		view_compare_lay(session);
	else
		session->only = NULL;
	result = session_choose_depth(session, limit_ms, error);
	keep_cursor_on_screen(session);
	if (!result)
		result = lay(session, error);
	if (!result && session->layout.minimap >= 0)
		result = minimap_lay(&session->minimap, session->run, &session->rows,
			(uint32_t)session->layout.cells, error);
	if (!result && session->is_live) /* its tiles are there but for the last: no flicker */
		session_refine(session, SESSION_LIVE_READ_MS);
	if (!result)
		result = session_read_screen(session, left_ms(limit_ms, begin_ms), error);
	return result;
}

/* ---- drawing ---- */

static void draw_too_small(struct grid *grid)
{
	char text[80];

	snprintf(text, sizeof(text), "This terminal is %dx%d. Make it larger,", grid->columns, grid->rows);
	grid_text(grid, 0, 0, grid->columns, "hpct-view needs 60x12.", GRID_TEXT);
	grid_text(grid, 1, 0, grid->columns, text, GRID_TEXT);
	grid_text(grid, 2, 0, grid->columns, "or: hpct-view RUN --print 80x24", GRID_TEXT);
	grid_text(grid, 4, 0, grid->columns, "q quit", GRID_TEXT);
}

static void draw_split(struct session *session, struct grid *grid)
{
	struct layout *layout = &session->layout;

	view_margins_draw(session, grid);
	view_timeline.draw(session, grid, layout->timeline);
	view_lanes_draw(session, grid);
	if (layout->pane.rows) {
		status_bars_draw_pane_title(session, grid);
		session->pane->draw(session, grid, layout->pane);
	}
	if (layout->path >= 0)
		path_line_draw(session, grid);
}

static int draw_once(struct session *session, struct grid *grid, unsigned limit_ms, struct error *error)
{
	int result = prepare(session, limit_ms, error);

	if (result)
		return result;
	grid_clear(grid);
	session->is_restartable = limit_ms > 0;
	if (session->full)
		session->full->draw(session, grid, session->layout.full);
	else
		draw_split(session, grid);
	session->is_restartable = false;
	status_bars_draw_title(session, grid); /* of what the view has read now */
	/* nothing that lacks numbers is shown as if it had them */
	if (!deadline_read_later(session) && progress_is_stopped() && !session->message[0])
		session_say(session, "reading was stopped, numbers are missing; Ctrl-L reads again");
	status_bars_draw_status(session, grid);
	status_bars_draw_keys(session, grid);
	return 0;
}

/* A new picture begins with single cells; moving the cursor keeps what was chosen. */
static void start_cells(struct session *session)
{
	const struct view_state *a = &session->state, *b = &session->drawn;

	if (a->begin_ns != b->begin_ns || a->end_ns != b->end_ns || a->depth != b->depth ||
		a->top != b->top || session->looks.is_single || session->drawn_full != session->full ||
		session->drawn_pane != session->pane)
		session->cells_wide = 1;
}

static bool has_cells(const struct view *view)
{
	return view == &view_depth || view == &view_summary || view == &view_compare;
}

/* About what the cells on the screen cost; the rest of a full picture takes 5 KB. */
static size_t cell_bytes(const struct session *session, const struct grid *grid)
{
	size_t bytes;

	if (session->full)
		return has_cells(session->full) ? grid_bytes(grid, session->layout.full) : 0;
	bytes = grid_bytes(grid, session->layout.timeline);
	if (session->layout.pane.rows && has_cells(session->pane))
		bytes += grid_bytes(grid, session->layout.pane);
	return bytes;
}

/* Above the run budget cells are drawn two, then four columns wide. */
static bool is_over_budget(const struct session *session, const struct grid *grid)
{
	size_t cells = (size_t)grid->rows * (size_t)grid->columns, budget = SESSION_BUDGET_BYTES;

	if (cells > SESSION_BUDGET_CELLS)
		budget = budget * cells / SESSION_BUDGET_CELLS;
	return session->looks.colours && !session->looks.is_single && !session->is_unread &&
	       session->cells_wide < 4 && cell_bytes(session, grid) > budget;
}

static void lay_out(struct session *session, const struct grid *grid, bool has_stack)
{
	layout_compute(&session->layout, grid->rows, grid->columns, has_stack);
	session->layout.has_spare_lanes = lanes_are_spare(session);
	if (!session->layout.is_too_small)
		layout_take_lanes(&session->layout, lanes_rows(session), LANES_ROWS_LEFT);
}

/* How many lines the rows use is known once they were laid. */
static bool fit_lanes(struct session *session)
{
	const struct layout *layout = &session->layout;

	return !session->full && !compare_has_screen(session) &&
	       lanes_fit(session, layout->timeline.rows + layout->lanes.rows - (int)session->heights.used);
}

int session_draw(struct session *session, struct grid *grid, unsigned limit_ms, struct error *error)
{
	bool has_stack = session->has_stack && grid->columns >= 100;
	int result;

	lay_out(session, grid, has_stack);
	if (session->layout.is_too_small) {
		grid_clear(grid);
		draw_too_small(grid);
		return 0;
	}
	start_cells(session);
	result = draw_once(session, grid, limit_ms, error);
	if (!result && fit_lanes(session)) {
		lay_out(session, grid, has_stack);
		result = draw_once(session, grid, limit_ms, error);
	}
	while (!result && is_over_budget(session, grid)) {
		session->cells_wide *= 2;
		result = draw_once(session, grid, limit_ms, error);
	}
	session->drawn = session->state;
	session->drawn_full = session->full;
	session->drawn_pane = session->pane;
	return result;
}
