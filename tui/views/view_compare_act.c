/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_compare_act.c - the keys of the comparison.
 */
#include <stdio.h>

#include "tui/models/compare.h"
#include "tui/models/profile_page.h"
#include "tui/views/views.h"

static void show_command(struct session *session)
{
	struct compare *compare = session->compare;
	char a[96], b[96], depth[SESSION_DEPTH];

	session_put_window(a, sizeof(a), session);
	session_put_window(b, sizeof(b), compare->other);
	session_depth_option(session, depth);
	session_say(session, "hpct diff %s %s --time %s --time-b %s --depth %s --by %s",
		run_path(session->run), run_path(compare->other->run), a, b, depth,
		stats_by_name(compare->by));
}

static void next_by(struct session *session)
{
	static const enum stats_by order[] = {STATS_FUNCTION, STATS_PATH, STATS_MODULE, STATS_LINE, STATS_OP};
	struct compare *compare = session->compare;
	size_t at = 0;

	while (at < 4 && order[at] != compare->by)
		at++;
	compare->by = order[(at + 1) % 5];
	session_say(session, "difference by %s", stats_by_name(compare->by));
}

static void move_line(struct compare *compare, int by)
{
	int64_t line = (int64_t)compare->line + by;

	if (line >= compare->pair_count)
		line = (int64_t)compare->pair_count - 1;
	compare->line = line < 0 ? 0 : (uint32_t)line;
}

static void shift(struct session *session, int columns)
{
	struct frame *frame = &session->frame;
	int64_t column_ns = frame->columns.count
				    ? (int64_t)((frame->end_ns - frame->begin_ns) / frame->columns.count)
				    : 1;

	session->compare->offset_ns -= columns * column_ns;
	session->compare->shift_ns += columns * column_ns;
	session->compare->has_shifted = true;
}

/* Pans of one run alone leave the other where it is on the screen. */
static bool pan_one(struct session *session, enum keys_action action)
{
	int count = (int)session->frame.columns.count, quarter = count / 4 ? count / 4 : 1;
	int columns = action == KEYS_DO_PAN_LEFT    ? -quarter
		      : action == KEYS_DO_PAN_RIGHT ? quarter
		      : action == KEYS_DO_PAGE_LEFT ? -count
						    : count;
	struct compare *compare = session->compare;
	uint64_t before_ns = session->state.begin_ns;

	if (action != KEYS_DO_PAN_LEFT && action != KEYS_DO_PAN_RIGHT && action != KEYS_DO_PAGE_LEFT &&
		action != KEYS_DO_PAGE_RIGHT)
		return false;
	if (compare->side == COMPARE_B) {
		shift(session, -columns);
		return true;
	}
	session_pan(session, action == KEYS_DO_PAN_LEFT	   ? -1
			     : action == KEYS_DO_PAN_RIGHT ? 1
			     : action == KEYS_DO_PAGE_LEFT ? -4
							   : 4);
	compare->offset_ns -= (int64_t)(session->state.begin_ns - before_ns);
	compare->shift_ns += (int64_t)(session->state.begin_ns - before_ns);
	compare->has_shifted = true;
	return true;
}

static bool act_move(struct compare *compare, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_UP:
		move_line(compare, -1);
		return true;
	case KEYS_DO_DOWN:
		move_line(compare, 1);
		return true;
	case KEYS_DO_GROUP_UP:
	case KEYS_DO_SCROLL_UP:
		move_line(compare, -(int)compare->room);
		return true;
	case KEYS_DO_GROUP_DOWN:
	case KEYS_DO_SCROLL_DOWN:
		move_line(compare, (int)compare->room);
		return true;
	default:
		return false;
	}
}

/* ---- the difference as a table of its own ---- */

static void move_row(struct compare *compare, int by)
{
	int64_t row = (int64_t)compare->row + by, count = (int64_t)compare->result.count;

	row = row >= count ? count - 1 : row;
	compare->row = row < 0 ? 0 : (uint32_t)row;
}

/* The line's context in the profiles of both runs. */
static void open_profiles(struct session *session)
{
	struct compare *compare = session->compare;
	const struct diff_row *row;

	if (!compare_take(session) || compare->row >= compare->result.count)
		return;
	row = &compare->result.rows[compare->row];
	if (row->is_state || compare->by != STATS_FUNCTION) {
		session_say(session, "Enter shows a function in both profiles; this line is %s",
			row->is_state ? "a state" : "none, b groups by function");
		return;
	}
	if (profile_page_is_merged(session))
		profile_page_merge(session->profile, false);
	view_both_open(session, &view_profile);
	if (compare_choose_streams(session, &(struct error){0}))
		return;
	snprintf(session->find, sizeof(session->find), "%.*s", (int)sizeof(session->find) - 1, row->key);
	view_both_find(session, false);
}

/* One tree of both runs. */
static void open_merged(struct session *session)
{
	struct profile_page *page = profile_page_of(session);

	if (!page)
		return;
	if (!page->is_merged)
		profile_page_merge(page, true);
	session->full = session->focus = &view_profile;
}

static bool act_table(struct session *session, enum keys_action action)
{
	struct compare *compare = session->compare;
	int page = session->layout.full.rows > 4 ? session->layout.full.rows - 4 : 1;

	switch (action) {
	case KEYS_DO_UP:
	case KEYS_DO_DOWN:
		move_row(compare, action == KEYS_DO_UP ? -1 : 1);
		return true;
	case KEYS_DO_GROUP_UP:
	case KEYS_DO_SCROLL_UP:
		move_row(compare, -page);
		return true;
	case KEYS_DO_GROUP_DOWN:
	case KEYS_DO_SCROLL_DOWN:
		move_row(compare, page);
		return true;
	case KEYS_DO_WINDOW_BEGIN:
		compare->row = 0;
		return true;
	case KEYS_DO_WINDOW_END:
		move_row(compare, INT32_MAX);
		return true;
	case KEYS_DO_ENTER:
		open_profiles(session);
		return true;
	case KEYS_DO_QUIT:
	case KEYS_DO_CANCEL:
		compare->is_table = false;
		return true;
	default:
		return false;
	}
}

bool view_compare_act(struct session *session, enum keys_action action)
{
	static const char *const sides[] = {"both runs", "A alone", "B alone"};
	struct compare *compare = session->compare;

	if (!compare)
		return false;
	if (compare->is_table && act_table(session, action))
		return true;
	if (act_move(compare, action) || (compare->side != COMPARE_BOTH && pan_one(session, action)))
		return true;
	switch (action) {
	case KEYS_DO_SORT_LEFT:
	case KEYS_DO_SORT_RIGHT:
		shift(session, action == KEYS_DO_SORT_RIGHT ? 1 : -1);
		return true;
	case KEYS_DO_ZERO:
		compare_next_align(session);
		return true;
	case KEYS_DO_NEXT_PANE:
		compare->side = (compare->side + 1) % COMPARE_SIDES;
		session_say(session, "a d A D move %s", sides[compare->side]);
		return true;
	case KEYS_DO_GROUP_BY:
		next_by(session);
		return true;
	case KEYS_DO_COMMAND_LINE:
		show_command(session);
		return true;
	case KEYS_DO_GAPS:
		view_both_open(session, &view_gaps);
		return true;
	case KEYS_DO_PROFILE:
		open_merged(session);
		return true;
	case KEYS_DO_FULL:
	case KEYS_DO_ENTER:
	case KEYS_DO_COMPARE:
		compare->is_table = action == KEYS_DO_ENTER || !compare->is_table;
		return true;
	default:
		return false;
	}
}
