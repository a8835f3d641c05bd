/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_state.c - arithmetic of windows, and the history. All of it is clamped here, so that no key can ask
 * for a window outside the run.
 */
#include "tui/session/view_state.h"

#include <stdlib.h>
#include <string.h>

#define HISTORY_MAX 200u

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
		state->is_auto_wanted = state->is_auto;
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

/* ---- history ---- */

struct snapshot {
	struct view_state state;
	uint8_t *flags; /* of each node */
	uint32_t node_count;
};

struct history {
	struct snapshot steps[HISTORY_MAX + 1]; /* a ring would save nothing: steps are small */
	size_t at, count;			/* steps [at, count) can be redone */
};

int history_new(struct history **history, struct error *error)
{
	*history = calloc(1, sizeof(**history));
	return *history ? 0 : error_memory(error);
}

static void drop(struct history *history, size_t from)
{
	for (size_t i = from; i < history->count; i++)
		free(history->steps[i].flags);
	if (from < history->count)
		history->count = from;
}

void history_free(struct history *history)
{
	if (!history)
		return;
	drop(history, 0);
	free(history);
}

static bool take(struct snapshot *step, const struct view_state *state, const struct rows *rows)
{
	step->state = *state;
	step->node_count = rows->node_count;
	step->flags = malloc((size_t)rows->node_count + 1);
	if (!step->flags)
		return false;
	for (uint32_t i = 0; i < rows->node_count; i++)
		step->flags[i] = (uint8_t)(rows->nodes[i].is_folded | rows->nodes[i].is_hidden << 1 |
					   rows->nodes[i].is_pinned << 2);
	return true;
}

static void bring_back(const struct snapshot *step, struct view_state *state, struct rows *rows)
{
	*state = step->state;
	state->is_auto_wanted = false;
	if (step->node_count != rows->node_count) /* a live run has more streams now: their places moved */
		state->node = state->node < rows->node_count ? state->node : 0;
	for (uint32_t i = 0; i < rows->node_count && step->node_count == rows->node_count; i++) {
		rows->nodes[i].is_folded = step->flags[i] & 1;
		rows->nodes[i].is_hidden = step->flags[i] >> 1 & 1;
		rows->nodes[i].is_pinned = step->flags[i] >> 2 & 1;
	}
	rows_update(rows);
}

void history_keep(struct history *history, const struct view_state *state, const struct rows *rows)
{
	drop(history, history->at);
	if (history->count == HISTORY_MAX) {
		free(history->steps[0].flags);
		memmove(&history->steps[0], &history->steps[1],
			(HISTORY_MAX - 1) * sizeof(history->steps[0]));
		history->count--;
	}
	if (take(&history->steps[history->count], state, rows))
		history->count++;
	history->at = history->count;
}

bool history_undo(struct history *history, struct view_state *state, struct rows *rows)
{
	if (history->at == 0)
		return false;
	if (history->at == history->count) { /* the state of now is what redo comes back to */
		if (!take(&history->steps[history->count], state, rows))
			return false;
		history->count++;
	}
	history->at--;
	bring_back(&history->steps[history->at], state, rows);
	return true;
}

bool history_redo(struct history *history, struct view_state *state, struct rows *rows)
{
	if (history->at + 1 >= history->count)
		return false;
	history->at++;
	bring_back(&history->steps[history->at], state, rows);
	if (history->at + 1 == history->count) { /* it is the state of now again */
		history->count--;
		free(history->steps[history->count].flags);
	}
	return true;
}
