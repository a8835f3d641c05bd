/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c - small functions that models, views and actions share: limits, messages, names and styles, how
 * much of the picture is known. session_cursor.c has the cursor; app/ opens, draws and closes sessions.
 */
#include "tui/session/session.h"

#include "tui/screen/palette.h"
#include "tui/session/history.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct view_state_limits session_limits(const struct session *session)
{
	struct view_state_limits limits = {run_begin_ns(session->run), run_end_ns(session->run)};

	if (session->second.end_ns) {
		limits.begin_ns = limits.begin_ns < session->second.begin_ns ? limits.begin_ns
									     : session->second.begin_ns;
		limits.end_ns =
			limits.end_ns > session->second.end_ns ? limits.end_ns : session->second.end_ns;
	}
	if (limits.end_ns <= limits.begin_ns)
		limits.end_ns = limits.begin_ns + VIEW_STATE_SPAN_MIN_NS;
	return limits;
}

void session_say(struct session *session, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(session->message, sizeof(session->message), format, arguments);
	va_end(arguments);
}

void session_ask(struct session *session, enum session_want want, const char *path)
{
	session->want = want;
	snprintf(session->wanted, sizeof(session->wanted), "%s", path);
}

void session_keep(struct session *session)
{
	history_keep(session->history, &session->state, &session->rows);
}

void session_step_depth(struct session *session, int by)
{
	struct view_state *state = &session->state;
	uint32_t deepest = frame_deepest(&session->frame), context = session_leaf_context(session);
	uint32_t scope = context ? run_context(session->run, context)->scope : UINT32_MAX;
	/* of the path below the cursor; without one, of the least deep */
	uint32_t depth = session_depth_at(session, scope);

	if (by < 0 && depth > 1)
		state->depth--;
	else if (by > 0 && depth < deepest)
		state->depth++;
	else if (by > 0)
		session_say(session, "no path on the screen is deeper than %u", deepest);
	if (!run_depth_is_below(state->depth))
		view_state_choose_depth(state, false);
}

uint32_t session_depth_at(const struct session *session, uint32_t scope)
{
	uint32_t depth = session->state.depth;

	if (!run_depth_is_below(depth))
		return depth;
	return scope == UINT32_MAX ? session->dividing.depth + depth - run_depth_below(0)
				   : run_depth_of(session->run, scope, depth);
}

static void put_depth(const struct session *session, char *out, const char *between)
{
	int steps = (int)(session->state.depth - run_depth_below(0));

	if (!run_depth_is_below(session->state.depth))
		snprintf(out, SESSION_DEPTH, "%u", session->state.depth);
	else if (steps)
		snprintf(out, SESSION_DEPTH, "auto%s%+d", between, steps);
	else
		snprintf(out, SESSION_DEPTH, "auto");
}

void session_depth_text(const struct session *session, char *out)
{
	put_depth(session, out, " ");
}

void session_depth_option(const struct session *session, char *out)
{
	put_depth(session, out, "");
}

void session_go_home(struct session *session)
{
	session->full = NULL;
	session->focus = session->home;
}

void session_open_pane(struct session *session, const struct view *view)
{
	if (view->is_whole) {
		session->full = session->focus = view;
		return;
	}
	if (session->pane == view && !session->full) {
		session->full = view; /* the same key again gives it the screen */
		session->focus = view;
		return;
	}
	session->full = NULL;
	session->pane = view;
	session->focus = session->layout.pane.rows ? session->home : view;
	if (!session->layout.pane.rows)
		session->full = view;
}

static uint64_t from_origin(const struct session *session, uint64_t at_ns)
{
	uint64_t origin_ns = run_origin_ns(session->run);

	return at_ns > origin_ns ? at_ns - origin_ns : 0;
}

void session_put_window(char *out, size_t size_bytes, const struct session *session)
{
	const struct frame *frame = &session->frame;

	snprintf(out, size_bytes, "%lluns..%lluns", (unsigned long long)from_origin(session, frame->begin_ns),
		(unsigned long long)from_origin(session, frame->end_ns));
}

int session_select(struct select **select, struct session *session, struct error *error)
{
	char window[96];
	int result = select_new(select, error);

	if (result)
		return result;
	session_put_window(window, sizeof(window), session);
	result = select_option(*select, "time", window, error);
	if (!result && session->filter[0])
		result = select_option(*select, "streams", session->filter, error);
	if (!result)
		result = select_bind(*select, session->run, error);
	if (!result)
		return 0;
	select_free(*select);
	*select = NULL;
	return result;
}

/* ---- names and styles ---- */

bool session_passes_through(const struct session *session, uint32_t context, const char *name)
{
	uint32_t scope = context && context < run_context_count(session->run)
				 ? run_context(session->run, context)->scope
				 : UINT32_MAX;

	for (; scope != UINT32_MAX; scope = run_scope(session->run, scope)->parent)
		if (strcmp(run_function(session->run, run_scope(session->run, scope)->function)->name,
			    name) == 0)
			return true;
	return false;
}

void session_share_name(const struct session *session, char *out, const struct cell_share *share,
	enum label_place place, int cells)
{
	const struct run_function *function =
		share->function == UINT32_MAX ? NULL : run_function(session->run, share->function);
	const char *state = extent_state_word(share->state);
	char name[LABEL_BYTES];

	if (extent_state_is_busy(share->state) && function) {
		label_fit(out, function->name, cells, place, session->looks.is_ascii);
		return;
	}
	if (share->state == EXTENT_COPY_IN)
		state = "copy to device";
	else if (share->state == EXTENT_COPY_OUT)
		state = "copy to host";
	if (function && cells > (int)strlen(state) + 6) {
		label_fit(
			name, function->name, cells - (int)strlen(state) - 3, place, session->looks.is_ascii);
		snprintf(out, LABEL_BYTES, "%s (%.*s)", state, LABEL_BYTES - 64, name);
		return;
	}
	snprintf(out, LABEL_BYTES, "%s", state);
}

bool session_is_before(const struct session *session, uint32_t stream)
{
	return frame_column_ns(&session->frame, session_column(session)) <
	       run_stream(session->run, stream)->s.begin_ns;
}

enum grid_style session_style(
	const struct session *session, enum extent_state state, uint64_t hash, bool is_ink)
{
	enum grid_style style;

	switch (state) {
	case EXTENT_COPY_IN:
	case EXTENT_SET:
		return GRID_COPY_IN;
	case EXTENT_COPY_OUT:
		return GRID_COPY_OUT;
	default:
		if (colours_find((struct colours *)(uintptr_t)&session->colours, session->run, hash, is_ink,
			    &style))
			return style;
		return (enum grid_style)((is_ink ? GRID_INK : GRID_BLOCK) + (int)palette_slot(hash));
	}
}

/* ---- coverage ---- */

/* The stream's lifetime within the frame, for a damaged stream whose line cannot be read. */
static uint64_t lived_ns(const struct session *session, uint32_t stream)
{
	const struct store_stream *s = &run_stream(session->run, stream)->s;
	const struct frame *frame = &session->frame;
	uint64_t begin_ns = s->begin_ns > frame->begin_ns ? s->begin_ns : frame->begin_ns;
	uint64_t end_ns = s->end_ns < frame->end_ns ? s->end_ns : frame->end_ns;

	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/* Losses are of all rows, also of those beyond the screen: the figure must not depend on the terminal's
 * height. */
static void add_lost(const struct session *session, struct session_coverage *coverage)
{
	uint32_t count = rows_lost_streams(&session->rows, NULL);
	uint32_t *streams = count ? calloc(count, sizeof(*streams)) : NULL;

	if (!streams)
		return;
	rows_lost_streams(&session->rows, streams);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t lost_ns = frame_lost_ns(&session->frame, streams[i]);

		if (!lost_ns || lost_ns == FRAME_LOST_UNREAD)
			continue;
		coverage->lost_ns += lost_ns;
		coverage->lost_stream = coverage->lost_stream == UINT32_MAX ? streams[i] : UINT32_MAX - 1;
	}
	coverage->is_lost_partial = session->has_lost_left;
	free(streams);
}

struct session_coverage session_take_coverage(struct session *session)
{
	struct session_coverage coverage = {.lost_stream = UINT32_MAX};
	uint32_t *streams = calloc((size_t)session->rows.shown_count + 1, sizeof(*streams));
	uint32_t count = streams ? session_streams_on_screen(session, streams) : 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct frame_line *line = frame_line(&session->frame, streams[i]);
		if (!line && session->frame.is_damaged[streams[i]]) {
			coverage.is_damaged = true;
			coverage.there_ns += lived_ns(session, streams[i]);
		}
		if (!line)
			continue;
		coverage.there_ns += line->there_ns;
		coverage.known_ns += line->known_ns;
		coverage.busy_ns += line->busy_ns;
		coverage.waits_ns += line->waits_ns;
		coverage.preempted_ns += line->preempted_ns;
	}
	add_lost(session, &coverage);
	free(streams);
	return coverage;
}
