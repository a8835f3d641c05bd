/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_both.c - the profile or the gaps of two runs, A above B, for the same window and the pairs on the
 * screen. Keys act on both, or after Tab on one of them; Enter shows its find in the comparison.
 */
#include <stdio.h>
#include <string.h>

#include "tui/models/compare.h"
#include "tui/models/profile_page.h"
#include "tui/views/views.h"

static const char *const sides[] = {"both runs", "A alone", "B alone"};

static void draw_half(struct session *session, struct session *of, struct grid *grid, struct grid_area area,
	const char *name)
{
	const struct view *inner = session->compare->both, *focus = of->focus;
	bool is_own = of == session;
	enum compare_side other = is_own ? COMPARE_B : COMPARE_A;

	for (int i = 0; i < grid->columns; i++)
		grid_put(grid, area.row, i, 0x2500, GRID_GREY);
	grid_text(grid, area.row, 2, grid->columns - 2, name,
		session->compare->side == other ? GRID_GREY : GRID_HEADING);
	area.row++;
	area.rows--;
	of->focus = session->compare->side == other ? &view_timeline : inner;
	inner->draw(of, grid, area);
	of->focus = focus;
}

static void both_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct compare *compare = session->compare;
	struct grid_area half = {area.row, 0, (area.rows + 1) / 2, area.columns};
	char name[SESSION_TEXT];

	compare->other->layout = session->layout;
	snprintf(name, sizeof(name), " A %.200s ", compare_base_name(session->run));
	draw_half(session, session, grid, half, name);
	half.row += half.rows;
	half.rows = area.rows - half.rows;
	snprintf(name, sizeof(name), " B %.200s ", compare_base_name(compare->other->run));
	draw_half(session, compare->other, grid, half, name);
}

/* The stream of a run that the cursor of one side was put on. */
static void take_line(struct session *session, const struct session *of, bool is_b)
{
	struct compare *compare = session->compare;
	uint32_t stream = of->rows.nodes[of->state.node].stream;

	for (uint32_t i = 0; i < compare->pair_count; i++)
		if ((is_b ? compare->pairs[i].b : compare->pairs[i].a) == stream)
			compare->line = i;
}

static uint64_t less(uint64_t time_ns, int64_t by_ns)
{
	__int128 at = (__int128)time_ns - by_ns;

	return at < 0 ? 0 : (uint64_t)at;
}

/* B has moved to a window of its own: moves A to the same place. */
static void follow_b(struct session *session)
{
	const struct compare *compare = session->compare;
	const struct view_state *b = &compare->other->state;
	struct view_state_limits limits = session_limits(session);
	uint64_t cursor_ns = less(b->cursor_ns, compare->offset_ns);

	session_keep(session);
	view_state_set_window(
		&session->state, limits, less(b->begin_ns, compare->offset_ns), b->end_ns - b->begin_ns);
	if (cursor_ns >= session->state.begin_ns && cursor_ns < session->state.end_ns)
		session->state.cursor_ns = cursor_ns;
}

/* A key for one side. The inner view may have left for the timeline: the comparison is that here. */
static bool act_one(struct session *session, struct session *of, enum keys_action action)
{
	const struct view *inner = session->compare->both;
	bool is_b = of != session, is_done;

	of->full = of->focus = inner;
	of->message[0] = '\0';
	is_done = inner->act && inner->act(of, action);
	if (is_b && of->message[0])
		session_say(session, "B: %.1000s", of->message);
	if (of->full == inner) {
		session->full = session->focus = &view_both;
		return is_done;
	}
	if (is_b)
		follow_b(session);
	take_line(session, of, is_b);
	session->full = session->focus = &view_compare;
	return true;
}

static bool both_act(struct session *session, enum keys_action action)
{
	struct compare *compare = session->compare;
	bool is_done = false;

	switch (action) {
	case KEYS_DO_NEXT_PANE:
		compare->side = (compare->side + 1) % COMPARE_SIDES;
		session_say(session, "keys go to %s", sides[compare->side]);
		return true;
	case KEYS_DO_QUIT:
	case KEYS_DO_CANCEL:
	case KEYS_DO_COMPARE:
	case KEYS_DO_FULL:
		session->full = session->focus = &view_compare;
		return true;
	case KEYS_DO_FILTER: /* prompts are the session's own */
	case KEYS_DO_SOURCE:
	case KEYS_DO_PLOT:
		session_say(session, "not beside each other; 6 is the profile of A alone");
		return true;
	case KEYS_DO_FIND_NEXT:
	case KEYS_DO_FIND_BACK:
		view_both_find(session, action == KEYS_DO_FIND_BACK);
		return true;
	default:
		break;
	}
	if (compare->side != COMPARE_B)
		is_done = act_one(session, session, action);
	if (compare->side != COMPARE_A && session->full == &view_both)
		is_done = act_one(session, compare->other, action) || is_done;
	return is_done;
}

void view_both_open(struct session *session, const struct view *inner)
{
	session->compare->both = inner;
	session->full = session->focus = &view_both;
}

/* There is a profile to look into. */
static bool session_profile(struct session *session)
{
	struct profile_page *page = profile_page_of(session);

	return page && profile_page_take(session, page);
}

void view_both_find(struct session *session, bool is_back)
{
	struct compare *compare = session->compare;
	struct session *other = compare->other;

	strcpy(other->find, session->find);
	if (compare->both != &view_profile || !session_profile(session) || !session_profile(other))
		return;
	other->layout = session->layout;
	other->message[0] = '\0';
	if (compare->side != COMPARE_B)
		profile_page_find(session, is_back);
	if (compare->side == COMPARE_A)
		return;
	profile_page_find(other, is_back);
	if (other->message[0] && !session->message[0])
		session_say(session, "B: %.1000s", other->message);
}

static void both_title(struct session *session, char *out, size_t size_bytes)
{
	snprintf(out, size_bytes, "%s of A and B", session->compare->both->name);
}

static bool both_status(struct session *session, char *out, size_t size_bytes)
{
	const struct compare *compare = session->compare;

	snprintf(out, size_bytes, "%s of both  keys: %s", compare->both->name, sides[compare->side]);
	return true;
}

const struct view view_both = {.name = "Both",
	.key = '9',
	.is_whole = true,
	.streams = VIEW_PAIRS,
	.draw = both_draw,
	.act = both_act,
	.put_title = both_title,
	.put_status = both_status,
	.hints = "j/k line  Tab A/B  Enter its place  / find  9 compare"};
