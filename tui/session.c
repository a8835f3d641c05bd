/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - opens a session, reads what its screen needs and has the views draw it. Reading goes from the
 * cursor's row outward and can be cut short, so that a key never waits for a long row.
 */
#include "tui/session.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timeline/stats.h"
#include "tui/label.h"

#define SESSION_TILE_BYTES (256u << 20)
#define SESSION_BUDGET_BYTES 15000u  /* of the timeline; the rest of a full picture takes 5 KB */
#define SESSION_LIVE_NS 10000000000u /* a live run opens on its last ten seconds */

struct state_limits session_limits(const struct session *session)
{
	struct state_limits limits = {run_begin_ns(session->run), run_end_ns(session->run)};

	if (limits.end_ns <= limits.begin_ns)
		limits.end_ns = limits.begin_ns + STATE_SPAN_MIN_NS;
	return limits;
}

void session_say(struct session *session, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(session->message, sizeof(session->message), format, arguments);
	va_end(arguments);
}

void session_keep(struct session *session)
{
	history_keep(session->history, &session->state, &session->rows);
}

/* ---- rows ---- */

uint32_t session_row(const struct session *session)
{
	return rows_find(&session->rows, session->state.node);
}

void session_set_row(struct session *session, uint32_t row)
{
	if (session->rows.shown_count == 0)
		return;
	if (row >= session->rows.shown_count)
		row = session->rows.shown_count - 1;
	session->state.node = session->rows.shown[row];
}

bool session_stream(const struct session *session, uint32_t *stream)
{
	const struct rows_node *node;

	if (session_row(session) == UINT32_MAX)
		return false;
	node = &session->rows.nodes[session->state.node];
	*stream = node->stream;
	return !rows_is_group(node);
}

/* The line that counts what has no room is kept free on taller screens only. */
uint32_t session_rows_on_screen(const struct session *session, uint32_t *top)
{
	uint32_t room = (uint32_t)session->layout.timeline.rows, count = session->rows.shown_count;

	if (count > room && room >= 12)
		room--;
	*top = session->state.top;
	if (*top + room > count)
		*top = count > room ? count - room : 0;
	return count - *top < room ? count - *top : room;
}

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

uint32_t session_streams_on_screen(const struct session *session, uint32_t *streams)
{
	uint32_t top, rows = session_rows_on_screen(session, &top), count = 0;

	for (uint32_t i = top; i < top + rows; i++) {
		const struct rows_node *node = &session->rows.nodes[session->rows.shown[i]];
		if (!rows_is_group(node)) {
			if (streams)
				streams[count] = node->stream;
			count++;
		}
	}
	return count;
}

/* ---- cursor ---- */

uint32_t session_column(const struct session *session)
{
	return session->frame.columns.count ? frame_column_at(&session->frame, session->state.cursor_ns) : 0;
}

uint64_t session_cursor_ns(const struct session *session)
{
	uint64_t begin_ns = run_begin_ns(session->run), column_ns;

	if (session->frame.columns.count == 0)
		return begin_ns;
	column_ns = frame_column_ns(&session->frame, session_column(session));
	return column_ns < begin_ns ? begin_ns : column_ns;
}

bool session_cell(struct session *session, const struct frame_line **line, struct cell *cell)
{
	uint32_t stream, column = session_column(session);

	if (!session_stream(session, &stream) || session->frame.columns.count == 0)
		return false;
	*line = frame_line(&session->frame, stream);
	if (!*line)
		return false;
	*cell = frame_cell(&session->frame, *line, column);
	return true;
}

void session_share_name(const struct session *session, char *out, const struct cell_share *share,
	enum label_place place, int cells)
{
	const struct run_function *function =
		share->function == UINT32_MAX ? NULL : run_function(session->run, share->function);
	const char *state = extent_state_name(share->state);
	char name[LABEL_BYTES];

	if (extent_state_is_busy(share->state) && function) {
		label_fit(out, function->name, cells, place, session->looks.is_ascii);
		return;
	}
	if (share->state == EXTENT_COPY_IN)
		state = "copy to device";
	else if (share->state == EXTENT_COPY_OUT)
		state = "copy to host";
	else if (share->state == EXTENT_ABSENT)
		state = "not there";
	if (function && cells > (int)strlen(state) + 6) {
		label_fit(
			name, function->name, cells - (int)strlen(state) - 3, place, session->looks.is_ascii);
		snprintf(out, LABEL_BYTES, "%s (%.*s)", state, LABEL_BYTES - 64, name);
		return;
	}
	snprintf(out, LABEL_BYTES, "%s", state);
}

enum grid_style session_style(
	const struct session *session, enum extent_state state, uint64_t hash, bool is_ink)
{
	(void)session;
	switch (state) {
	case EXTENT_COPY_IN:
	case EXTENT_SET:
		return GRID_COPY_IN;
	case EXTENT_COPY_OUT:
		return GRID_COPY_OUT;
	default:
		return (enum grid_style)((is_ink ? GRID_INK : GRID_BLOCK) + (int)palette_slot(hash));
	}
}

void session_open_pane(struct session *session, const struct view *view)
{
	if (session->pane == view && !session->full) {
		session->full = view; /* the same key again gives it the screen */
		session->focus = view;
		return;
	}
	session->full = NULL;
	session->pane = view;
	session->focus = session->layout.pane.rows ? &view_timeline : view;
	if (!session->layout.pane.rows)
		session->full = view;
}

/* ---- opening ---- */

static void first_window(struct session *session, const struct select *select)
{
	struct state_limits limits = session_limits(session);
	struct state *state = &session->state;

	state->is_auto = state->is_auto_wanted = true;
	state->depth = 1;
	state_whole(state, limits);
	state->cursor_ns = limits.begin_ns;
	if (session->is_live && !(select && select_has_time(select))) {
		state->is_following = true;
		state->cursor_ns = limits.end_ns - 1;
		if (limits.end_ns - limits.begin_ns > SESSION_LIVE_NS)
			state_set_window(state, limits, limits.end_ns - SESSION_LIVE_NS, SESSION_LIVE_NS);
	}
	if (!select)
		return;
	if (select_has_time(select)) {
		state_set_window(state, limits, select_begin_ns(select),
			select_end_ns(select) - select_begin_ns(select));
		state->cursor_ns = state->begin_ns;
	}
	if (select_depth(select) != UINT32_MAX) {
		state->depth = select_depth(select) ? select_depth(select) : 1;
		state->is_auto = state->is_auto_wanted = false;
	}
}

static void first_row(struct session *session)
{
	for (uint32_t row = 0; row < session->rows.shown_count; row++) {
		if (!rows_is_group(&session->rows.nodes[session->rows.shown[row]])) {
			session_set_row(session, row);
			return;
		}
	}
	session_set_row(session, 0);
}

/* The stream expression as it was given, out of the command line that says the same. */
static void name_filter(struct session *session, const struct select *select)
{
	static const char option[] = "--streams ";
	struct arena arena = {0};
	const char *command = select_command(select, &arena), *at = command ? strstr(command, option) : NULL;
	size_t used = 0;
	bool is_quoted;

	at = at ? at + strlen(option) : "selected";
	is_quoted = *at == '\'';
	for (at += is_quoted; *at && *at != (is_quoted ? '\'' : ' ') && used + 1 < sizeof(session->filter);
		at++)
		session->filter[used++] = *at;
	session->filter[used] = '\0';
	arena_fini(&arena);
}

static int take_selection(struct session *session, const struct select *select, struct error *error)
{
	uint32_t count;
	const uint32_t *streams;
	int by = select && select_by(select) ? stats_by_find(select_by(select)) : STATS_FUNCTION;

	if (by < 0)
		return error_set(error, ERROR_USAGE,
			"--by: '%s' is none of function, path, module, line, stream, op", select_by(select));
	session->stats.by = by;
	if (!select)
		return 0;
	streams = select_streams(select, &count);
	if (count == session->rows.stream_count)
		return 0;
	name_filter(session, select);
	return rows_filter(&session->rows, streams, count, error);
}

int session_open(struct session **session, struct run *run, const struct select *select,
	struct session_looks looks, struct error *error)
{
	struct session *s = calloc(1, sizeof(*s));
	int result;

	if (!s)
		return error_memory(error);
	s->run = run;
	s->looks = looks;
	s->pane = &view_stats;
	s->focus = &view_timeline;
	s->has_stack = true;
	s->cells_wide = 1;
	s->lit = UINT32_MAX;
	s->is_live = run_is_live(run);
	s->zero.at_ns = run_origin_ns(run);
	for (int i = 0; i < SESSION_MARKS; i++)
		s->marks[i] = UINT64_MAX;
	result = tiles_new(&s->tiles, run, SESSION_TILE_BYTES, error);
	if (!result)
		result = history_new(&s->history, error);
	if (!result)
		result = rows_init(&s->rows, run, error);
	if (!result)
		result = frame_init(&s->frame, run, s->tiles, error);
	if (!result)
		result = take_selection(s, select, error);
	if (result) {
		session_close(s);
		return result;
	}
	first_window(s, select);
	first_row(s);
	*session = s;
	return 0;
}

void session_close(struct session *session)
{
	if (!session)
		return;
	frame_fini(&session->frame);
	rows_fini(&session->rows);
	history_free(session->history);
	if (session->tiles)
		tiles_free(session->tiles);
	free(session);
}

/* ---- reading ---- */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct deadline {
	uint64_t at_ms; /* 0: none */
	bool is_over;
};

static int read_stream(
	struct session *session, uint32_t stream, struct deadline *deadline, struct error *error)
{
	const struct frame_line *line;

	if (frame_line(&session->frame, stream))
		return 0;
	if (deadline->at_ms && now_ms() >= deadline->at_ms) {
		deadline->is_over = true;
		return 0;
	}
	return frame_read(&session->frame, stream, &line, error);
}

/* A group's lanes need all of its streams. */
static int read_row(struct session *session, uint32_t row, struct deadline *deadline, struct error *error)
{
	uint32_t node = session->rows.shown[row];
	const struct rows_node *n = &session->rows.nodes[node];
	int result = 0;

	if (!rows_is_group(n))
		return read_stream(session, n->stream, deadline, error);
	for (int kind = ROWS_THREAD; kind <= ROWS_QUEUE; kind += ROWS_QUEUE - ROWS_THREAD)
		for (uint32_t i = rows_below(&session->rows, node, UINT32_MAX, (enum rows_kind)kind);
			i != UINT32_MAX && !result && !deadline->is_over;
			i = rows_below(&session->rows, node, i, (enum rows_kind)kind))
			result = read_stream(session, session->rows.nodes[i].stream, deadline, error);
	return result;
}

/* The rows on the screen, the cursor's first, then its neighbours to both sides. */
static int read_rows(struct session *session, unsigned limit_ms, struct error *error)
{
	struct deadline deadline = {.at_ms = limit_ms ? now_ms() + limit_ms : 0};
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
	return result;
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
static int lay(struct session *session, struct error *error)
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

static int prepare(struct session *session, unsigned limit_ms, struct error *error)
{
	int result;

	keep_cursor_on_screen(session);
	result = lay(session, error);
	if (!result)
		result = read_rows(session, limit_ms, error);
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

static void draw_split(struct session *session, struct grid *grid)
{
	struct layout *layout = &session->layout;

	bars_draw_overview(session, grid);
	view_timeline.draw(session, grid, layout->timeline);
	if (layout->stack.columns) {
		for (int i = 0; i < layout->stack.rows; i++)
			grid_put(grid, layout->stack.row + i, layout->stack.column - 1, 0x2502, GRID_GREY);
		view_stack.draw(session, grid, layout->stack);
	}
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
	if (session->full)
		session->full->draw(session, grid, session->layout.full);
	else
		draw_split(session, grid);
	bars_draw_status(session, grid);
	bars_draw_keys(session, grid);
	return 0;
}

/* A new picture begins with single cells; moving the cursor keeps what was chosen. */
static void start_cells(struct session *session)
{
	const struct state *a = &session->state, *b = &session->drawn;

	if (a->begin_ns != b->begin_ns || a->end_ns != b->end_ns || a->depth != b->depth ||
		a->top != b->top || session->looks.is_single)
		session->cells_wide = 1;
}

/* Above the run budget cells are drawn two, then four columns wide (screens.md A10). */
static bool is_over_budget(const struct session *session, const struct grid *grid)
{
	return session->looks.colours && !session->looks.is_single && !session->full && !session->is_unread &&
	       session->cells_wide < 4 && grid_bytes(grid, session->layout.timeline) > SESSION_BUDGET_BYTES;
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
	return result;
}

/* ---- keys ---- */

void session_key(struct session *session, uint32_t key)
{
	enum keys_action action;

	session->message[0] = '\0';
	if (session->prompt != PROMPT_NONE) {
		prompt_key(session, key);
		return;
	}
	action = keys_action_of(key);
	if (action == KEYS_DO_NOTHING)
		return;
	if (session->layout.is_too_small && action != KEYS_DO_QUIT)
		return;
	if (session->focus && session->focus->act && session->focus->act(session, action))
		return;
	act(session, action);
}

/* ---- live runs ---- */

/* The cursor keeps its place on the screen while the window moves below it. */
static void move_window(struct session *session, uint64_t begin_ns, uint64_t span_ns)
{
	struct state *state = &session->state;
	double place =
		(double)(state->cursor_ns - state->begin_ns) / (double)(state->end_ns - state->begin_ns);

	state_set_window(state, session_limits(session), begin_ns, span_ns);
	state->cursor_ns = state->begin_ns + (uint64_t)(place * (double)(state->end_ns - state->begin_ns));
	if (state->cursor_ns >= state->end_ns)
		state->cursor_ns = state->end_ns - 1;
}

static void follow(struct session *session)
{
	struct state_limits limits = session_limits(session);
	struct state *state = &session->state;
	uint64_t length_ns = limits.end_ns - limits.begin_ns, span_ns = state->end_ns - state->begin_ns;
	uint64_t jump_ns = span_ns / 8, cursor_ns = state->cursor_ns;

	if (state->is_whole && (!state->is_following || length_ns <= SESSION_LIVE_NS)) {
		state_whole(state, limits);
		if (!state->is_following)
			state->cursor_ns = cursor_ns;
		else
			state->cursor_ns = state->end_ns - 1;
		return;
	}
	if (!state->is_following || limits.end_ns <= state->end_ns)
		return;
	if (state->is_whole)
		span_ns = SESSION_LIVE_NS;
	else if (limits.end_ns - state->end_ns < jump_ns && session->is_live)
		return; /* jumps of an eighth leave most columns where they are */
	move_window(session, limits.end_ns > span_ns ? limits.end_ns - span_ns : 0, span_ns);
}

bool session_renew(struct session *session)
{
	struct error error;
	bool has_changed = false;
	uint32_t stream = session->rows.node_count ? session->rows.nodes[session->state.node].stream : 0;

	if (!session->is_live)
		return false;
	if (run_renew(session->run, &has_changed, &error)) {
		session_say(session, "%s", error.text);
		return true;
	}
	session->is_live = run_is_live(session->run);
	if (!session->is_live) {
		const char *code = run_meta(session->run, "exit");
		session_say(session, "the run has ended%s%s", code ? ", exit " : "", code ? code : "");
		has_changed = true;
	}
	if (!has_changed)
		return false;
	tiles_renew(session->tiles);
	if (run_stream_count(session->run) != session->rows.stream_count) {
		if (rows_renew(&session->rows, session->run, &error))
			session_say(session, "%s", error.text);
		session->state.node = rows_node_of(&session->rows, stream);
		if (session->state.node == UINT32_MAX)
			first_row(session);
	}
	if (frame_renew(&session->frame, &error))
		session_say(session, "%s", error.text);
	follow(session);
	if ((session->state.end_ns - session->state.begin_ns) / 2 < session->auto_span_ns)
		session->state.is_auto_wanted = false; /* colours must not flicker while the run grows */
	session->state.is_following = session->state.is_following && session->is_live;
	return true;
}
