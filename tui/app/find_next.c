/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_next.c - moves the cursor to the next span, gap, unmonitored stretch or match of its stream.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/app/actions.h"
#include "tui/models/stretch.h"
#include "tui/screen/format_number.h"
#include "tui/screen/pattern.h"

/* `data`: a byte per context, set where its path holds a match. */
static uint64_t key_match(struct session *session, const struct extent *extent, const void *data)
{
	const uint8_t *is_match = data;

	return extent->context < run_context_count(session->run) && is_match[extent->context];
}

static void go(struct session *session, uint64_t time_ns)
{
	session_keep(session);
	view_state_go(&session->state, session_limits(session), time_ns);
}

/* The stream of the cursor's row; false, and said: it is a group. */
static bool cursor_stream(struct session *session, uint32_t *stream)
{
	if (session_stream(session, stream))
		return true;
	session_say(session, "choose a stream's row first, this is a group");
	return false;
}

static void seek(struct session *session, bool is_back, stretch_key *key, const char *what)
{
	struct stretch found;
	char length[FORMAT_NUMBER_BYTES];
	uint32_t stream;

	if (!cursor_stream(session, &stream))
		return;
	if (!stretch_next(session, stream, session->state.cursor_ns, is_back, key, NULL, &found)) {
		session_say(session, "no %s %s on this stream", is_back ? "earlier" : "later", what);
		return;
	}
	go(session, found.begin_ns);
	session->gap_ns = key == stretch_gap ? found.end_ns - found.begin_ns : 0;
	if (key == stretch_span)
		return;
	format_number_short(length, found.end_ns - found.begin_ns);
	session_say(session, "%s: %s", what, length);
}

void find_next_span(struct session *session, bool is_back)
{
	seek(session, is_back, stretch_span, "span");
}

void find_next_gap(struct session *session, bool is_back)
{
	seek(session, is_back, stretch_gap, "gap");
}

/* From a stretch without records it goes to the next records. */
void find_next_blind(struct session *session, bool is_back)
{
	struct extent extent;
	struct error error;
	uint32_t stream;

	if (session_stream(session, &stream) &&
		extent_at(session->run, stream, session->state.cursor_ns, &extent, &error) == 0 &&
		!stretch_known(session, &extent, NULL))
		seek(session, is_back, stretch_known, "records");
	else
		seek(session, is_back, stretch_blind, "lost or unmonitored stretch");
}

void find_next_gap_by_size(struct session *session, bool is_smaller)
{
	const struct frame *frame = &session->frame;
	struct stretches list = {0};
	const struct stretch *best = NULL;
	char length[FORMAT_NUMBER_BYTES];
	struct error error;
	uint32_t stream;

	if (!cursor_stream(session, &stream) || stretch_list(session, &list, stream, frame->begin_ns,
							frame->end_ns, stretch_gap, NULL, &error)) {
		free(list.items);
		return;
	}
	for (size_t i = 0; i < list.count; i++) {
		const struct stretch *s = &list.items[i];
		uint64_t size_ns = s->end_ns - s->begin_ns;
		if (!s->key || (is_smaller && session->gap_ns && size_ns >= session->gap_ns))
			continue;
		if (!best || size_ns > best->end_ns - best->begin_ns)
			best = s;
	}
	if (best) {
		go(session, best->begin_ns);
		session->gap_ns = best->end_ns - best->begin_ns;
		format_number_short(length, session->gap_ns);
		session_say(session, "gap: %s, %s in the window", length,
			is_smaller ? "next smaller" : "the largest");
	} else {
		session_say(session, "no %sgap in the window on this stream", is_smaller ? "smaller " : "");
	}
	free(list.items);
}

/* The window around the span under the cursor, with a tenth on both sides. */
void find_next_fit(struct session *session)
{
	struct view_state *state = &session->state;
	struct view_state_limits limits = session_limits(session);
	uint64_t from_ns = state->cursor_ns, margin_ns;
	struct stretch before, after;
	uint64_t begin_ns = limits.begin_ns, end_ns = limits.end_ns;
	uint32_t stream;

	if (!cursor_stream(session, &stream))
		return;
	if (stretch_next(session, stream, from_ns + 1, true, stretch_span, NULL, &before))
		begin_ns = before.begin_ns;
	if (stretch_next(session, stream, from_ns, false, stretch_span, NULL, &after))
		end_ns = after.begin_ns;
	session_keep(session);
	margin_ns = (end_ns - begin_ns) / 10;
	view_state_set_window(state, limits, begin_ns > margin_ns ? begin_ns - margin_ns : 0,
		end_ns - begin_ns + 2 * margin_ns);
}

/* ---- find ---- */

/* A byte per function whose name holds the pattern, then per context whose path holds such a function. */
static uint8_t *match_contexts(const struct run *run, const struct pattern *pattern)
{
	uint32_t functions, contexts = run_context_count(run), scopes;
	uint8_t *function, *scope, *context = calloc((size_t)contexts + 1, 1);

	for (uint32_t i = 0; i < contexts; i++) /* scopes and functions are made as contexts are asked for */
		run_context(run, i);
	functions = run_function_count(run);
	scopes = run_scope_count(run);
	function = calloc((size_t)functions + 1, 1);
	scope = calloc((size_t)scopes + 1, 1);
	if (!function || !scope || !context) {
		free(context);
		context = NULL;
		goto out;
	}
	for (uint32_t i = 0; i < functions; i++)
		function[i] = pattern_match(pattern, run_function(run, i)->name);
	for (uint32_t i = 0; i < scopes; i++) { /* parents come before their children */
		const struct run_scope *s = run_scope(run, i);
		scope[i] = (s->function < functions && function[s->function]) ||
			   (s->parent < i && scope[s->parent]);
	}
	for (uint32_t i = 0; i < contexts; i++)
		context[i] = run_context(run, i)->scope < scopes && scope[run_context(run, i)->scope];
out:
	free(function);
	free(scope);
	return context;
}

/* Marks the rows whose name matches; the next one after the cursor's row, UINT32_MAX: none. */
static uint32_t match_rows(struct session *session, const struct pattern *pattern, bool is_back)
{
	struct rows *rows = &session->rows;
	uint32_t row = session_row(session), count = rows->shown_count, at;

	for (uint32_t i = 0; i < rows->node_count; i++)
		rows->nodes[i].is_match =
			pattern_match(pattern, rows_label(rows, i)) ||
			(rows->nodes[i].level > 0 && pattern_match(pattern, rows_long_label(rows, i)));
	for (uint32_t step = 1; step <= count && row != UINT32_MAX; step++) {
		at = is_back ? (row + count - step) % count : (row + step) % count;
		if (rows->nodes[rows->shown[at]].is_match)
			return at;
	}
	return UINT32_MAX;
}

/* The same stream's next match in time, else the first one on another row of the screen. */
static bool find_in_time(struct session *session, const uint8_t *is_match, bool is_back)
{
	uint32_t stream, top, rows = session_rows_on_screen(session, &top), row = session_row(session);
	struct stretch found;

	if (session_stream(session, &stream) && stretch_next(session, stream, session->state.cursor_ns,
							is_back, key_match, is_match, &found)) {
		go(session, found.begin_ns);
		return true;
	}
	for (uint32_t step = 1; step < rows; step++) {
		uint32_t at = top + ((row - top) + (is_back ? rows - step : step)) % rows;
		const struct rows_node *node = &session->rows.nodes[session->rows.shown[at]];
		uint64_t from_ns = is_back ? session->frame.end_ns : session->frame.begin_ns;
		if (rows_is_group(node) ||
			!stretch_next(session, node->stream, from_ns, is_back, key_match, is_match, &found))
			continue;
		session_keep(session);
		session->state.node = session->rows.shown[at];
		view_state_go(&session->state, session_limits(session), found.begin_ns);
		return true;
	}
	return false;
}

void find_next_match(struct session *session, bool is_back)
{
	struct pattern pattern;
	uint8_t *is_match;
	uint32_t row;

	if (!session->find[0]) {
		session_say(session, "nothing to find yet: / asks for a name");
		return;
	}
	if (!pattern_init(&pattern, session->find)) {
		session_say(session, "'%s' is no regular expression", session->find + 1);
		return;
	}
	row = match_rows(session, &pattern, is_back);
	is_match = match_contexts(session->run, &pattern);
	if (is_match && find_in_time(session, is_match, is_back))
		session_say(session, "/%s   n next, N back", session->find);
	else if (row != UINT32_MAX)
		session_set_row(session, row);
	else
		session_say(session, "'%s' is in no function's and no stream's name here", session->find);
	free(is_match);
	pattern_fini(&pattern);
}
