/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_open.c - opens and closes a session, and passes each key to the prompt, the focused view or the
 * actions.
 */
#include "tui/session/session.h"

#include <stdlib.h>
#include <string.h>

#include "timeline/report/coverage.h"
#include "timeline/select/bookmark.h"
#include "timeline/stats/stats.h"
#include "tui/app/actions.h"
#include "tui/app/app.h"
#include "tui/app/commands.h"
#include "tui/code/code_page.h"
#include "tui/models/advice_page.h"
#include "tui/models/alike_page.h"
#include "tui/models/blame_page.h"
#include "tui/models/compare.h"
#include "tui/models/critical_list.h"
#include "tui/models/flame_page.h"
#include "tui/models/lanes.h"
#include "tui/models/profile_page.h"
#include "tui/models/runs_page.h"
#include "tui/models/source.h"
#include "tui/models/wait_whom.h"
#include "tui/session/history.h"
#include "tui/views/views.h"

#define SESSION_TILE_BYTES (256u << 20)

/* ---- opening ---- */

void session_take_window(struct session *session, const struct select *select)
{
	struct view_state_limits limits = session_limits(session);
	uint64_t begin_ns = select_begin_ns(select), end_ns = select_end_ns(select);

	begin_ns = begin_ns > limits.begin_ns ? begin_ns : limits.begin_ns;
	end_ns = end_ns < limits.end_ns ? end_ns : limits.end_ns;
	view_state_set_window(&session->state, limits, begin_ns, end_ns > begin_ns ? end_ns - begin_ns : 1);
}

static void first_window(struct session *session, const struct select *select)
{
	struct view_state_limits limits = session_limits(session);
	struct view_state *state = &session->state;

	view_state_choose_depth(state, true);
	state->depth = run_depth_below(0);
	view_state_whole(state, limits);
	state->cursor_ns = limits.begin_ns;
	if (session->is_live && !(select && select_has_time(select))) {
		state->is_following = true;
		state->cursor_ns = limits.end_ns - 1;
		if (limits.end_ns - limits.begin_ns > SESSION_LIVE_NS)
			view_state_set_window(
				state, limits, limits.end_ns - SESSION_LIVE_NS, SESSION_LIVE_NS);
	}
	if (!select)
		return;
	if (select_has_time(select)) {
		session_take_window(session, select);
		state->cursor_ns = state->begin_ns;
	}
	if (select_depth(select) != UINT32_MAX) {
		state->depth = select_depth(select) ? select_depth(select) : 1;
		view_state_choose_depth(state, run_depth_is_below(state->depth));
	}
}

static void name_filter(struct session *session, const struct select *select)
{
	static const char option[] = "--streams ";
	struct arena arena = {0};
	const char *command = select_command(select, "streams", &arena),
		   *at = command ? strstr(command, option) : NULL;
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

int session_require_window(struct session *session, const struct select *select, struct error *error)
{
	struct view_state_limits limits = session_limits(session);

	if (!select_has_time(select) ||
		(select_begin_ns(select) < limits.end_ns && select_end_ns(select) > limits.begin_ns))
		return 0;
	return coverage_require(session->run, select, error);
}

static int take_selection(struct session *session, const struct select *select, struct error *error)
{
	uint32_t count;
	const uint32_t *streams;
	int by = select && select_by(select) ? stats_by_find(select_by(select)) : STATS_FUNCTION;

	if (by < 0)
		return error_set(error, ERROR_USAGE, "--by: '%s' is none of " STATS_BY_NAMES ", stream, op",
			select_by(select));
	session->stats.by = by;
	if (!select)
		return 0;
	streams = select_streams(select, &count);
	if (count == session->rows.line_count)
		return 0;
	name_filter(session, select);
	return rows_filter(&session->rows, streams, count, error);
}

/* Bookmarks of one letter are the view's marks. */
static void take_marks(struct session *session)
{
	struct arena arena = {0};
	const struct mark *marks;
	struct error error;
	size_t count;

	if (bookmark_list(session->run, &arena, &marks, &count, &error))
		session_say(session, "%s", error.text);
	for (size_t i = 0; i < count; i++)
		if (marks[i].name[0] >= 'a' && marks[i].name[0] <= 'z' && !marks[i].name[1])
			session->marks[marks[i].name[0] - 'a'] = marks[i].begin_ns;
	arena_fini(&arena);
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
	s->home = s->focus = &view_timeline;
	s->list_commands = commands_line;
	s->has_stack = true;
	s->cells_wide = 1;
	s->lit = UINT32_MAX;
	s->is_live = run_is_live(run);
	s->zero.at_ns = run_origin_ns(run);
	for (int i = 0; i < SESSION_MARKS; i++)
		s->marks[i] = UINT64_MAX;
	result = tiles_new(&s->tiles, run, run_mem_bytes(run, 2, SESSION_TILE_BYTES), error);
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
	take_marks(s);
	session_first_row(s);
	*session = s;
	return 0;
}

void session_close(struct session *session)
{
	if (!session)
		return;
	frame_fini(&session->frame);
	minimap_fini(&session->minimap);
	profile_page_free(session->profile);
	flame_page_free(session->flame);
	lanes_free(session->lanes);
	colours_fini(&session->colours);
	free(session->info);
	blame_page_free(session->blame);
	critical_list_free(session->critical);
	wait_whom_free(session->whom);
	advice_page_free(session->advice);
	alike_page_free(session->alike);
	code_page_free(session->code);
	runs_page_free(session->runs);
	compare_close(session->compare);
	if (session->source)
		source_fini(session->source);
	free(session->source);
	dividing_fini(&session->dividing);
	free(session->heights.lines);
	rows_fini(&session->rows);
	history_free(session->history);
	if (session->tiles)
		tiles_free(session->tiles);
	free(session);
}

/* ---- keys ---- */

/* The table in the pane takes these two keys even if another view has the focus. */
static bool pane_act(struct session *session, enum keys_action action)
{
	if (action != KEYS_DO_GROUP_BY && action != KEYS_DO_IDLE_OF)
		return false;
	return !session->full && session->pane && session->pane->act && session->pane->act(session, action);
}

void session_key(struct session *session, uint32_t key)
{
	enum keys_action action;

	session->message[0] = '\0';
	if (session->prompt != PROMPT_NONE) {
		prompt_keys_take(session, key);
		return;
	}
	action = keys_action_of(key);
	if (action == KEYS_DO_NOTHING)
		return;
	if (session->layout.is_too_small && action != KEYS_DO_QUIT)
		return;
	if (session->focus && session->focus->act && session->focus->act(session, action))
		return;
	if (!pane_act(session, action))
		actions_do(session, action);
}
