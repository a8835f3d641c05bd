/* SPDX-License-Identifier: Apache-2.0 */
/*
 * actions.c - does the actions that keys stand for: search, views, looks and prompts here; actions_window.c
 * and actions_rows.c have the rest.
 */
#include "tui/app/actions.h"

#include "timeline/stats/stats.h"
#include "tui/app/export.h"
#include "tui/app/shell_command.h"
#include "tui/code/code_page.h"
#include "tui/models/blame_page.h"
#include "tui/models/compare.h"
#include "tui/models/profile_page.h"
#include "tui/models/runs_page.h"
#include "tui/views/views.h"

/* ---- looks ---- */

/* On a wait or a gap of the timeline `b` is about that one alone. */
static void group_by(struct session *session)
{
	if (!session->full && session->focus == &view_timeline && goto_blame(session))
		return;
	session->stats.by = (session->stats.by + 1) % STATS_BY_COUNT;
	session->stats.line = session->stats.first = 0;
	session_say(session, "statistics by %s", stats_by_name((enum stats_by)session->stats.by));
}

/* Run begin, the mark set last, wall clock. */
static void next_zero(struct session *session)
{
	static const char *const names[] = {"the run's begin", "the mark", "the wall clock"};
	uint64_t mark_ns = UINT64_MAX;

	for (int i = 0; i < SESSION_MARKS; i++)
		if (session->marks[i] != UINT64_MAX)
			mark_ns = session->marks[i];
	session->zero_kind = (session->zero_kind + 1) % 3;
	if (session->zero_kind == 1 && mark_ns == UINT64_MAX)
		session->zero_kind = 2;
	if (session->zero_kind == 2 && run_wall_ns(session->run) == 0)
		session->zero_kind = 0;
	session->zero =
		(struct ruler_zero){.at_ns = session->zero_kind == 1 ? mark_ns : run_origin_ns(session->run)};
	if (session->zero_kind == 2)
		session->zero.wall_ns = run_wall_ns(session->run);
	session_say(session, "times count from %s", names[session->zero_kind]);
}

static void next_pane(struct session *session)
{
	const struct view *order[4] = {&view_timeline, session->layout.stack.columns ? &view_stack : NULL,
		session->layout.pane.rows ? session->pane : NULL,
		session->layout.minimap >= 0 ? &view_minimap : NULL};
	int at = 0;

	if (session->full)
		return;
	for (int i = 0; i < 4; i++)
		if (order[i] == session->focus)
			at = i;
	do
		at = (at + 1) % 4;
	while (!order[at]);
	session->focus = order[at];
}

static void toggle_stack(struct session *session)
{
	if (session->layout.columns >= 100) {
		session->has_stack = !session->has_stack;
		if (session->focus == &view_stack)
			session->focus = &view_timeline;
		return;
	}
	session_open_pane(
		session, session->pane == &view_stack && !session->full ? &view_stats : &view_stack);
}

static void toggle_full(struct session *session)
{
	if (session->full) {
		session_go_home(session);
		return;
	}
	session->full = session->focus == &view_timeline || !session->focus ? session->pane : session->focus;
	session->focus = session->full;
}

static void go_back(struct session *session)
{
	if (session->full || session->focus != &view_timeline) {
		session_go_home(session);
	} else {
		session->is_done = true;
	}
}

static void go_back_along_trail(struct session *session)
{
	if (!session_back(session))
		session_say(session, "no jump to go back from: u undoes what was done to the view");
}

static void cancel(struct session *session)
{
	session->state.has_range = false;
	session->lit = UINT32_MAX;
	if (session->full || session->focus != &view_timeline)
		go_back(session);
}

/* Reads tables again that were stopped or failed. */
static void read_again(struct session *session)
{
	if (session->profile && session->profile->trouble[0])
		session->profile->is_loaded = false;
	if (session->compare && session->compare->trouble[0])
		session->compare->is_loaded = false;
	if (session->blame && session->blame->trouble[0])
		session->blame->end_ns = 0;
}

/* ---- the table of actions, by what they are about ---- */

static bool act_seek(struct session *session, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_SPAN_BACK:
	case KEYS_DO_SPAN_NEXT:
		find_next_span(session, action == KEYS_DO_SPAN_BACK);
		return true;
	case KEYS_DO_GAP_BACK:
	case KEYS_DO_GAP_NEXT:
		find_next_gap(session, action == KEYS_DO_GAP_BACK);
		return true;
	case KEYS_DO_GAP_LARGER:
	case KEYS_DO_GAP_SMALLER:
		find_next_gap_by_size(session, action == KEYS_DO_GAP_SMALLER);
		return true;
	case KEYS_DO_BLIND_BACK:
	case KEYS_DO_BLIND_NEXT:
		find_next_blind(session, action == KEYS_DO_BLIND_BACK);
		return true;
	case KEYS_DO_FIT:
		find_next_fit(session);
		return true;
	case KEYS_DO_FIND_NEXT:
	case KEYS_DO_FIND_BACK:
		find_next_match(session, action == KEYS_DO_FIND_BACK);
		return true;
	default:
		return false;
	}
}

/* The views behind the digits. */
static const struct {
	enum keys_action action;
	const struct view *view;
} digits[] = {{KEYS_DO_STATISTICS, &view_stats}, {KEYS_DO_BLAME, &view_blame},
	{KEYS_DO_SUMMARY, &view_summary}, {KEYS_DO_DEPTH, &view_depth}, {KEYS_DO_GAPS, &view_gaps},
	{KEYS_DO_PROFILE, &view_profile}, {KEYS_DO_SOURCE, &view_source}, {KEYS_DO_INFO, &view_info},
	{KEYS_DO_COMPARE, &view_compare}};

static bool act_digit(struct session *session, enum keys_action action)
{
	for (size_t i = 0; i < sizeof(digits) / sizeof(digits[0]); i++) {
		if (digits[i].action != action)
			continue;
		if (digits[i].view == &view_compare && !session->compare)
			session_say(session, "one run is open; hpct-view A B shows two and what changed");
		else if (digits[i].view == &view_source && code_page_is_offered(session))
			code_page_open(session, &view_code, NULL, NULL);
		else
			session_open_pane(session, digits[i].view);
		return true;
	}
	return false;
}

static bool act_view(struct session *session, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_STACK:
		toggle_stack(session);
		return true;
	case KEYS_DO_FULL:
		toggle_full(session);
		return true;
	case KEYS_DO_TIMELINE:
		session_go_home(session);
		return true;
	case KEYS_DO_NEXT_PANE:
		next_pane(session);
		return true;
	case KEYS_DO_JUMPS:
		session_open_pane(session, &view_jumps);
		session->focus = &view_jumps;
		return true;
	case KEYS_DO_ADVICE:
		session_open_pane(session, &view_advice);
		return true;
	case KEYS_DO_GROUP_BY:
		group_by(session);
		return true;
	case KEYS_DO_BACK:
		go_back_along_trail(session);
		return true;
	case KEYS_DO_SORT_LEFT:
	case KEYS_DO_SORT_RIGHT:
		session->stats.sort = (session->stats.sort + (action == KEYS_DO_SORT_RIGHT ? 1 : 2)) % 3;
		return true;
	case KEYS_DO_ZERO:
		next_zero(session);
		return true;
	case KEYS_DO_HELP:
		view_help_open(session, NULL);
		return true;
	case KEYS_DO_CANCEL:
		cancel(session);
		return true;
	case KEYS_DO_QUIT:
		go_back(session);
		return true;
	default:
		return act_digit(session, action);
	}
}

static void act_prompt(struct session *session, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_COMMAND:
		prompt_open(session, PROMPT_COMMAND);
		break;
	case KEYS_DO_FIND:
		prompt_open(session, PROMPT_FIND);
		break;
	case KEYS_DO_GOTO:
		prompt_open(session, PROMPT_GOTO);
		break;
	case KEYS_DO_FILTER:
		prompt_open(session, PROMPT_FILTER);
		break;
	case KEYS_DO_MARK:
		prompt_open(session, PROMPT_MARK);
		break;
	case KEYS_DO_GO_MARK:
		prompt_open(session, PROMPT_GO_MARK);
		break;
	case KEYS_DO_RUNS:
		view_runs_open(session);
		break;
	case KEYS_DO_COPY:
		export_copy(session);
		break;
	case KEYS_DO_PLOT:
		session_open_pane(session, &view_flame);
		break;
	case KEYS_DO_HOT_PATH:
		session_say(session, "hot paths are of the profile: 6, then P on a line");
		break;
	case KEYS_DO_COLUMNS:
		session_say(session, "columns are of the profile: 6, then | hides one or shows it");
		break;
	case KEYS_DO_IDLE_OF:
		session_say(session, "i is of the blame: 2, then i chooses whose idleness");
		break;
	case KEYS_DO_COMMAND_LINE:
		shell_command_show(session);
		break;
	case KEYS_DO_REDRAW:
		session->is_redraw = true;
		read_again(session);
		break;
	default:
		break;
	}
}

void actions_do(struct session *session, enum keys_action action)
{
	if (actions_cursor(session, action) || actions_window(session, action) || act_seek(session, action) ||
		actions_rows(session, action) || act_view(session, action))
		return;
	act_prompt(session, action);
}
