/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_state.c - arithmetic of windows. Every window is clamped to the run here.
 */
#include "tui/session/view_state.h"

void view_state_choose_depth(struct view_state *state, bool is_auto)
{
	state->is_auto = state->is_auto_wanted = is_auto;
	state->auto_begin_ns = state->auto_end_ns = 0;
}

void view_state_set_window(
	struct view_state *state, struct view_state_limits limits, uint64_t begin_ns, uint64_t span_ns)
{
	uint64_t length = limits.end_ns - limits.begin_ns;

	if (length < VIEW_STATE_SPAN_MIN_NS)
		length = VIEW_STATE_SPAN_MIN_NS;
	if (span_ns < VIEW_STATE_SPAN_MIN_NS)
		span_ns = VIEW_STATE_SPAN_MIN_NS;
	if (span_ns > length)
		span_ns = length;
	if (begin_ns < limits.begin_ns)
		begin_ns = limits.begin_ns;
	if (begin_ns > limits.begin_ns + (length - span_ns))
		begin_ns = limits.begin_ns + (length - span_ns);
	if (span_ns != state->end_ns - state->begin_ns) {
		view_state_choose_depth(state, state->is_auto);
		state->is_pad_wanted = true;
	}
	state->begin_ns = begin_ns;
	state->end_ns = begin_ns + span_ns;
	state->is_whole = span_ns == length;
	if (state->cursor_ns < begin_ns)
		state->cursor_ns = begin_ns;
	if (state->cursor_ns >= state->end_ns)
		state->cursor_ns = state->end_ns - 1;
}

/* How far into the window the cursor is; the first column may begin a little before it. */
static uint64_t cursor_in(const struct view_state *state)
{
	return state->cursor_ns > state->begin_ns ? state->cursor_ns - state->begin_ns : 0;
}

void view_state_pan(struct view_state *state, struct view_state_limits limits, int64_t by_ns)
{
	uint64_t span_ns = state->end_ns - state->begin_ns, at_ns = cursor_in(state);
	uint64_t begin_ns = state->begin_ns + (uint64_t)by_ns;

	if (by_ns < 0 && state->begin_ns - limits.begin_ns < 0 - (uint64_t)by_ns)
		begin_ns = limits.begin_ns;
	view_state_set_window(state, limits, begin_ns, span_ns);
	state->cursor_ns = state->begin_ns + at_ns;
}

void view_state_zoom(struct view_state *state, struct view_state_limits limits, double factor)
{
	double span = (double)(state->end_ns - state->begin_ns);
	double place = (double)cursor_in(state) / span;
	uint64_t cursor_ns = state->cursor_ns, span_ns, before_ns;

	span = span * factor < 9e18 ? span * factor : 9e18;
	span_ns = (uint64_t)span < VIEW_STATE_SPAN_MIN_NS ? VIEW_STATE_SPAN_MIN_NS : (uint64_t)span;
	before_ns = (uint64_t)(place * (double)span_ns);
	view_state_set_window(state, limits, cursor_ns > before_ns ? cursor_ns - before_ns : 0, span_ns);
	if (cursor_ns >= state->begin_ns && cursor_ns < state->end_ns)
		state->cursor_ns = cursor_ns;
}

void view_state_whole(struct view_state *state, struct view_state_limits limits)
{
	view_state_set_window(state, limits, limits.begin_ns, UINT64_MAX);
}

void view_state_go(struct view_state *state, struct view_state_limits limits, uint64_t time_ns)
{
	uint64_t span_ns = state->end_ns - state->begin_ns;

	if (time_ns < limits.begin_ns)
		time_ns = limits.begin_ns;
	if (time_ns >= limits.end_ns)
		time_ns = limits.end_ns > limits.begin_ns ? limits.end_ns - 1 : limits.begin_ns;
	if (time_ns < state->begin_ns || time_ns >= state->end_ns)
		view_state_set_window(
			state, limits, time_ns > span_ns / 2 ? time_ns - span_ns / 2 : 0, span_ns);
	state->cursor_ns = time_ns;
}

void view_state_fit(struct view_state *state, struct view_state_limits limits)
{
	uint64_t cursor_ns = state->cursor_ns;
	bool is_inside = state->begin_ns >= limits.begin_ns && state->end_ns <= limits.end_ns;
	bool is_all = state->begin_ns == limits.begin_ns && state->end_ns == limits.end_ns;

	if (is_all || (is_inside && !state->is_whole))
		return;
	if (state->is_whole)
		view_state_whole(state, limits);
	else
		view_state_set_window(state, limits, state->begin_ns, state->end_ns - state->begin_ns);
	if (cursor_ns >= state->begin_ns && cursor_ns < state->end_ns)
		state->cursor_ns = cursor_ns;
}
