/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_live.c - a run that is still being recorded: reads new commits and moves the window with the run's
 * end.
 */
#include "tui/app/app.h"
#include "tui/session/session.h"

/* The cursor keeps its place on the screen while the window moves below it. */
static void move_window(struct session *session, uint64_t begin_ns, uint64_t span_ns)
{
	struct view_state *state = &session->state;
	double place =
		(double)(state->cursor_ns - state->begin_ns) / (double)(state->end_ns - state->begin_ns);

	view_state_set_window(state, session_limits(session), begin_ns, span_ns);
	state->cursor_ns = state->begin_ns + (uint64_t)(place * (double)(state->end_ns - state->begin_ns));
	if (state->cursor_ns >= state->end_ns)
		state->cursor_ns = state->end_ns - 1;
}

static void follow(struct session *session)
{
	struct view_state_limits limits = session_limits(session);
	struct view_state *state = &session->state;
	uint64_t length_ns = limits.end_ns - limits.begin_ns, span_ns = state->end_ns - state->begin_ns;
	uint64_t jump_ns = span_ns / 8, cursor_ns = state->cursor_ns;

	if (state->is_whole && (!state->is_following || length_ns <= SESSION_LIVE_NS)) {
		view_state_whole(state, limits);
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
	minimap_forget(&session->minimap);
	if (run_stream_count(session->run) != session->rows.stream_count) {
		if (rows_renew(&session->rows, session->run, &error))
			session_say(session, "%s", error.text);
		session->state.node = rows_node_of(&session->rows, stream);
		if (session->state.node == UINT32_MAX)
			session_first_row(session);
	}
	rows_renew_lost(&session->rows, session->run);
	if (frame_renew(&session->frame, &error))
		session_say(session, "%s", error.text);
	follow(session);
	if ((session->state.end_ns - session->state.begin_ns) / 2 < session->auto_span_ns)
		session->state.is_auto_wanted = false; /* colours must not flicker while the run grows */
	session->state.is_following = session->state.is_following && session->is_live;
	return true;
}
