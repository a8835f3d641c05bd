/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_draw.c - reads what the screen needs and has the views draw it. Reading goes from the cursor's row
 * outward and can be cut short, so that a key never waits for a long row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "timeline/progress.h"
#include "tui/compare.h"
#include "tui/lanes.h"
#include "tui/plot.h"
#include "tui/profile_page.h"
#include "tui/session.h"

#define SESSION_LIVE_READ_MS 50
#define SESSION_STEP_MIN 4u
#define SESSION_STEP_MS 10u
#define SESSION_COARSE_MS 25u /* for rows that the time does not suffice for */
#define SESSION_LANES_SOON_MS 8
#define SESSION_LANES_MS 1000 /* for groups, where nothing else limits a picture */
#define SESSION_BUDGET_BYTES 15000u

/* The view jumps by half a screen when the cursor leaves it; a cursor on a row that went goes on. */
static void keep_cursor_on_screen(struct session *session)
{
	uint32_t row = session_row(session), top, count;

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

/* ---- reading ---- */

uint64_t session_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool session_put_off(struct session *session, int result)
{
	bool is_put_off = result < 0 && session->is_put_off;

	session->is_put_off = false;
	if (is_put_off)
		progress_go_on();
	return is_put_off;
}

bool session_read_later(struct session *session)
{
	if (!session_put_off(session, -1))
		return false;
	session->is_unread = true;
	return true;
}

struct deadline {
	uint64_t at_ms; /* 0: none */
	bool is_over;
	bool is_patient; /* what begins anew when it is stopped is read to its end: else it might never be */
};

/* As many columns at once as take a few ms: from a disk a row may take a second. */
static int read_step(struct session *session, uint32_t stream, bool *is_done, struct error *error)
{
	uint64_t begin_ms = session_now_ms(), took_ms;
	int result;

	if (session->step_columns < SESSION_STEP_MIN)
		session->step_columns = SESSION_STEP_MIN;
	result = frame_read_step(&session->frame, stream, session->step_columns, is_done, error);
	took_ms = session_now_ms() - begin_ms;
	if (took_ms > SESSION_STEP_MS)
		session->step_columns /= 2;
	else if (took_ms < SESSION_STEP_MS / 2 && session->step_columns < UINT16_MAX)
		session->step_columns *= 2;
	return result;
}

static int read_stream(
	struct session *session, uint32_t stream, struct deadline *deadline, struct error *error)
{
	bool is_done = frame_line(&session->frame, stream) != NULL;
	int result = 0;

	while (!is_done && !result) {
		if (deadline->at_ms && session_now_ms() >= deadline->at_ms) {
			deadline->is_over = true;
			return 0;
		}
		result = read_step(session, stream, &is_done, error);
		if (session_put_off(session, result)) {
			deadline->is_over = true;
			return 0;
		}
	}
	return result;
}

static int read_row(struct session *session, uint32_t row, struct deadline *deadline, struct error *error)
{
	const struct rows_node *node = &session->rows.nodes[session->rows.shown[row]];

	return rows_is_group(node) ? 0 : read_stream(session, node->stream, deadline, error);
}

/* Of rows that are not read yet, what they show roughly. */
static int read_coarse(struct session *session, struct error *error)
{
	uint64_t until_ms = session_now_ms() + SESSION_COARSE_MS;
	uint32_t top, count = session_rows_on_screen(session, &top);
	int result = 0;

	for (uint32_t row = top; row < top + count && !result && session_now_ms() < until_ms; row++) {
		const struct rows_node *node = &session->rows.nodes[session->rows.shown[row]];
		if (!rows_is_group(node) && !frame_line(&session->frame, node->stream))
			result = frame_read_coarse(&session->frame, node->stream, error);
		if (session_put_off(session, result))
			return 0;
	}
	return result;
}

/* The lanes of the groups on the screen: what a group stands for may be far more than what the screen shows,
 * so that they come last, and the picture is there without them. */
static int read_lanes(struct session *session, struct deadline *deadline, struct error *error)
{
	uint32_t top, count = session_rows_on_screen(session, &top);
	bool is_resumable = session->is_resumable;
	int result = 0;

	session->has_lanes_left = false;
	for (uint32_t row = top; row < top + count && !result; row++) {
		uint32_t node = session->rows.shown[row];
		bool is_done = !rows_is_group(&session->rows.nodes[node]);
		while (!is_done && !result) {
			if (deadline->at_ms && session_now_ms() >= deadline->at_ms) {
				session->has_lanes_left = true;
				return 0;
			}
			session->is_resumable =
				is_resumable && !(deadline->is_patient && lanes_is_uniting(&session->frame,
										  &session->rows, node));
			session->is_restartable = is_resumable && !session->is_resumable;
			result = lanes_step(&session->frame, &session->rows, node, &is_done, error);
			session->is_restartable = false;
			session->is_resumable = is_resumable;
			if (session_put_off(session, result)) {
				session->has_lanes_left = true;
				return 0;
			}
		}
	}
	return result;
}

/* The rows on the screen, the cursor's first, then its neighbours to both sides. */
static int read_rows(struct session *session, struct deadline *until, struct error *error)
{
	struct deadline deadline = *until;
	uint32_t top, count = session_rows_on_screen(session, &top), cursor = session_row(session);
	int result = 0;

	if (cursor == UINT32_MAX || cursor < top || cursor >= top + count)
		cursor = top;
	for (uint32_t step = 0; step < count && !result && !deadline.is_over; step++) {
		if (cursor + step < top + count)
			result = read_row(session, cursor + step, &deadline, error);
		if (step && !result && cursor >= top + step)
			result = read_row(session, cursor - step, &deadline, error);
	}
	session->is_unread = deadline.is_over;
	/* on a terminal the picture comes first */
	deadline.at_ms = session_now_ms() + (until->at_ms ? SESSION_LANES_SOON_MS : SESSION_LANES_MS);
	if (!result && !deadline.is_over)
		result = read_lanes(session, &deadline, error);
	return result;
}

/* Dense lines are read at a depth, so that it is chosen before: by a few of those on the screen. */
static int choose_depth_first(struct session *session, struct deadline *deadline, struct error *error)
{
	uint32_t top, count = session_rows_on_screen(session, &top), cursor = session_row(session);
	uint32_t rows[] = {
		cursor >= top && cursor < top + count ? cursor : top, top + count / 3, top + count * 2 / 3};
	struct state *state = &session->state;
	const struct profile_page *page = session->profile;
	bool has_dense = false;
	uint32_t depth;
	int result = 0;

	if (page)
		frame_set_filters(&session->frame, page->filters, page->filter_count, page->filter_changes);
	if (session->frame.depth != state->depth)
		frame_set_depth(&session->frame, state->depth);
	if (!state->is_auto || !state->is_auto_wanted)
		return 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && count && !result; i++) {
		const struct rows_node *node = &session->rows.nodes[session->rows.shown[rows[i]]];
		if (rows_is_group(node) || !frame_is_dense(&session->frame, node->stream))
			continue;
		has_dense = true;
		result = read_stream(session, node->stream, deadline, error);
	}
	if (result || !has_dense || deadline->is_over)
		return result;
	depth = frame_auto_depth(&session->frame);
	/* lines that it could not read have no say: not chosen yet */
	if (session_put_off(session, -1)) {
		deadline->is_over = true;
		return 0;
	}
	if (progress_is_stopped())
		return progress_refuse(error);
	state->depth = depth;
	state->is_auto_wanted = false;
	session->auto_span_ns = state->end_ns - state->begin_ns;
	frame_set_depth(&session->frame, state->depth);
	return 0;
}

static void choose_depth(struct session *session)
{
	struct state *state = &session->state;

	if (state->is_auto && state->is_auto_wanted && !session->is_unread) {
		state->depth = frame_auto_depth(&session->frame);
		state->is_auto_wanted = false;
		session->auto_span_ns = state->end_ns - state->begin_ns;
	}
	if (session->frame.depth != state->depth)
		frame_set_depth(&session->frame, state->depth);
}

/* Columns are whole tiles, so that the last one may end before the window does: asks for a little more until
 * it does not. Panning keeps what was found, and by that the width of the columns. */
static int lay_columns(struct session *session, struct error *error)
{
	struct state *state = &session->state;
	struct frame *frame = &session->frame;
	uint32_t width = (uint32_t)(session->layout.cells / session->cells_wide);
	int result;

	if (state->is_pad_wanted || width != frame->want_width)
		state->pad_ns = 0;
	else
		return frame_lay(frame, state->begin_ns, state->end_ns + state->pad_ns, width, error);
	state->is_pad_wanted = false;
	result = frame_lay(frame, state->begin_ns, state->end_ns, width, error);
	for (int tries = 0; !result && frame->end_ns < state->end_ns && tries < 8; tries++) {
		state->pad_ns += state->end_ns - frame->end_ns;
		result = frame_lay(frame, state->begin_ns, state->end_ns + state->pad_ns, width, error);
	}
	return result;
}

static int lay(struct session *session, struct error *error)
{
	struct state *state = &session->state;
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

	if (session->layout.cells <= 0 || session->layout.is_too_small)
		return;
	keep_cursor_on_screen(session);
	if (lay(session, &error))
		session_say(session, "%s", error.text);
}

/* What is read for the rows is kept piece by piece. */
static int read_screen(struct session *session, unsigned limit_ms, struct error *error)
{
	struct deadline deadline = {.at_ms = limit_ms ? session_now_ms() + limit_ms : 0};
	int result;

	session->is_resumable = limit_ms > 0;
	result = choose_depth_first(session, &deadline, error);
	session->is_unread = deadline.is_over;
	if (!result && compare_has_screen(session))
		result = compare_read(session, deadline.at_ms, error);
	else if (!result && !deadline.is_over)
		result = read_rows(session, &deadline, error);
	if (!result && session->is_unread && !compare_has_screen(session))
		result = read_coarse(session, error);
	session->is_resumable = false;
	return result;
}

static int prepare(struct session *session, unsigned limit_ms, struct error *error)
{
	int result;

	if (compare_has_screen(session))
		view_compare_lay(session);
	else
		session->only = NULL;
	keep_cursor_on_screen(session);
	result = lay(session, error);
	if (!result && session->layout.overview >= 0)
		result = overview_lay(&session->overview, session->run, &session->rows,
			(uint32_t)session->layout.cells, error);
	if (!result && session->is_live) /* its tiles are there but for the last: no flicker */
		session_refine(session, SESSION_LIVE_READ_MS);
	if (!result)
		result = read_screen(session, limit_ms, error);
	if (!result)
		choose_depth(session);
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

void session_draw_frame(struct session *session, struct grid *grid)
{
	struct layout *layout = &session->layout;

	if (layout->overview >= 0)
		view_overview.draw(session, grid, (struct grid_area){layout->overview, 0, 1, layout->cells});
	view_timeline_ruler(session, grid);
	if (!layout->stack.columns || session->full == &view_summary)
		return;
	for (int i = 0; i < layout->stack.rows; i++)
		grid_put(grid, layout->stack.row + i, layout->stack.column - 1, 0x2502, GRID_GREY);
	view_stack.draw(session, grid, layout->stack);
}

static void draw_split(struct session *session, struct grid *grid)
{
	struct layout *layout = &session->layout;

	session_draw_frame(session, grid);
	view_timeline.draw(session, grid, layout->timeline);
	if (layout->pane.rows) {
		bars_draw_pane_title(session, grid);
		session->pane->draw(session, grid, layout->pane);
	}
	if (layout->path >= 0)
		bars_draw_path(session, grid);
}

static int draw_once(struct session *session, struct grid *grid, unsigned limit_ms, struct error *error)
{
	int result = prepare(session, limit_ms, error);

	if (result)
		return result;
	grid_clear(grid);
	bars_draw_title(session, grid);
	session->is_restartable = limit_ms > 0;
	if (session->full)
		session->full->draw(session, grid, session->layout.full);
	else
		draw_split(session, grid);
	session->is_restartable = false;
	/* nothing that lacks numbers is shown as if it had them */
	if (!session_read_later(session) && progress_is_stopped() && !session->message[0])
		session_say(session, "reading was stopped, numbers are missing; Ctrl-L reads again");
	bars_draw_status(session, grid);
	bars_draw_keys(session, grid);
	return 0;
}

/* A new picture begins with single cells; moving the cursor keeps what was chosen. */
static void start_cells(struct session *session)
{
	const struct state *a = &session->state, *b = &session->drawn;

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

/* Above the run budget cells are drawn two, then four columns wide (screens.md A10). */
static bool is_over_budget(const struct session *session, const struct grid *grid)
{
	return session->looks.colours && !session->looks.is_single && !session->is_unread &&
	       session->cells_wide < 4 && cell_bytes(session, grid) > SESSION_BUDGET_BYTES;
}

static bool is_overview_refining(const struct session *session)
{
	return !session->layout.is_too_small && session->layout.overview >= 0 && session->overview.width &&
	       !session->overview.is_done;
}

static bool is_plot_refining(const struct session *session)
{
	return session->full == &view_profile && session->profile && plot_is_reading(session->profile->plot);
}

static bool is_lanes_refining(const struct session *session)
{
	return session->has_lanes_left && !session->full && !session->layout.is_too_small;
}

bool session_is_refining(const struct session *session)
{
	return is_plot_refining(session) || is_lanes_refining(session) || is_overview_refining(session);
}

void session_refine(struct session *session, unsigned limit_ms)
{
	struct deadline deadline = {.at_ms = limit_ms ? session_now_ms() + limit_ms : 0, .is_patient = true};
	struct error error;
	int result = 0;

	session->is_resumable = limit_ms > 0;
	if (is_plot_refining(session)) {
		session->is_resumable = false;
		session->is_restartable = limit_ms > 0;
		plot_read(session, session->profile, limit_ms);
		session->is_restartable = false;
	} else if (is_lanes_refining(session)) {
		result = read_lanes(session, &deadline, &error);
		session->has_lanes_left = session->has_lanes_left && !result;
	} else if (is_overview_refining(session)) {
		result = overview_read(&session->overview, session->tiles, &session->rows, limit_ms, &error);
		if (session_put_off(session, result))
			session->overview.is_done = false, result = 0;
	}
	session->is_resumable = false;
	if (result)
		session_say(session, "%s", error.text);
}

int session_draw(struct session *session, struct grid *grid, unsigned limit_ms, struct error *error)
{
	bool has_stack = session->has_stack && grid->columns >= 100;
	int result;

	layout_compute(&session->layout, grid->rows, grid->columns, has_stack);
	if (session->layout.is_too_small) {
		grid_clear(grid);
		draw_too_small(grid);
		return 0;
	}
	start_cells(session);
	result = draw_once(session, grid, limit_ms, error);
	while (!result && is_over_budget(session, grid)) {
		session->cells_wide *= 2;
		result = draw_once(session, grid, limit_ms, error);
	}
	session->drawn = session->state;
	session->drawn_full = session->full;
	session->drawn_pane = session->pane;
	return result;
}
