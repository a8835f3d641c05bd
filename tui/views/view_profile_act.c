/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_profile_act.c - the keys of the profile.
 */
#include <string.h>

#include "tui/models/compare.h"
#include "tui/models/plot.h"
#include "tui/models/profile_page.h"
#include "tui/views/views.h"

static void move(struct profile_page *page, long by)
{
	size_t line = profile_page_line(page), count = page->outline.line_count;

	if (!count)
		return;
	if (by < 0)
		line -= (size_t)-by < line ? (size_t)-by : line;
	else
		line = line + (size_t)by < count ? line + (size_t)by : count - 1;
	page->cursor = page->outline.hashes[page->outline.lines[line].row];
}

static void unfold(struct profile_page *page, uint32_t row)
{
	struct outline *outline = &page->outline;

	if (!outline_has_children(outline, row))
		return;
	if (outline_is_open(outline, row))
		page->cursor = outline->hashes[outline->first_child[row]];
	else
		outline_set_open(outline, row, true);
}

static void fold(struct profile_page *page, uint32_t row)
{
	struct outline *outline = &page->outline;
	uint32_t parent = outline->profile.rows[row].parent;

	if (row && outline_has_children(outline, row) && outline_is_open(outline, row))
		outline_set_open(outline, row, false);
	else if (parent != UINT32_MAX)
		page->cursor = outline->hashes[parent];
}

static void sort_by(struct profile_page *page, int by)
{
	struct outline *outline = &page->outline;
	size_t shown[OUTLINE_COLUMNS], count = outline_shown(outline, shown), at = 0;

	if (!count)
		return;
	while (at < count && shown[at] != outline->sort)
		at++;
	at = at == count ? 0 : (at + (by > 0 ? 1 : count - 1)) % count;
	outline_sort(outline, shown[at]);
}

static void zoom(struct session *session, struct profile_page *page)
{
	struct outline *outline = &page->outline;

	if (outline->zoom_count == OUTLINE_ZOOMS) {
		session_say(session, "zoomed in %d times already; u goes back", OUTLINE_ZOOMS);
		return;
	}
	outline->zooms[outline->zoom_count++] = page->cursor;
}

static void flatten(struct session *session, struct profile_page *page, int by)
{
	if (by < 0 && page->outline.flatten == 0)
		session_say(session, "nothing is flattened");
	else if (by > 0 && page->outline.flatten >= 64)
		session_say(session, "no scope is that deep");
	else
		page->outline.flatten += (unsigned)by;
	page->first = 0;
}

/* The cell on the screen in which the row's function has most time. */
static void go_to_place(struct session *session, const struct profile_row *row)
{
	uint32_t top, rows = session_rows_on_screen(session, &top), node = UINT32_MAX;
	uint64_t longest_ns = 0, at_ns = 0;

	for (uint32_t r = top; r < top + rows; r++) {
		const struct rows_node *n = &session->rows.nodes[session->rows.shown[r]];
		const struct frame_line *line =
			rows_is_group(n) ? NULL : frame_leaves(&session->frame, n->stream);
		for (uint32_t c = 0; line && c < session->frame.columns.count; c++) {
			uint64_t time_ns = 0;
			for (uint32_t e = line->first[c]; e < line->first[c + 1]; e++)
				if (session_passes_through(session, line->entries[e].context, row->name))
					time_ns += line->entries[e].time_ns;
			if (time_ns <= longest_ns)
				continue;
			longest_ns = time_ns;
			at_ns = frame_column_ns(&session->frame, c);
			node = session->rows.shown[r];
		}
	}
	if (node == UINT32_MAX) {
		session_say(session, "it has no time on the rows and in the window of the timeline");
		return;
	}
	session_keep(session);
	session->state.node = node;
	session->state.cursor_ns = at_ns < session->state.begin_ns ? session->state.begin_ns : at_ns;
	session_go_home(session);
}

/* Keys that need no row. */
static bool act_page(struct session *session, struct profile_page *page, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_GROUP_BY:
		page->kind = (page->kind + 1) % PROFILE_VIEW_COUNT;
		page->outline.open.count = page->outline.zoom_count = page->outline.flatten = 0;
		return true;
	case KEYS_DO_WHOLE_RUN:
		page->is_whole = !page->is_whole;
		return true;
	case KEYS_DO_MORE_LINES:
	case KEYS_DO_FEWER_LINES:
		flatten(session, page, action == KEYS_DO_MORE_LINES ? 1 : -1);
		return true;
	case KEYS_DO_FIND_NEXT:
	case KEYS_DO_FIND_BACK:
		profile_page_find(session, action == KEYS_DO_FIND_BACK);
		return true;
	case KEYS_DO_FILTER:
		prompt_open(session, PROMPT_COMMAND);
		prompt_type(session, "hide self ");
		return true;
	case KEYS_DO_SOURCE:
		page->has_source = !page->has_source;
		return true;
	case KEYS_DO_PLOT:
		if (profile_page_is_merged(session))
			session_say(session, "a plot is of one run: Tab shows A alone");
		else
			plot_next(session, page);
		return true;
	case KEYS_DO_NEXT_PANE:
		if (!session->compare)
			return false;
		profile_page_merge(page, !page->is_merged);
		session_say(session, "the profile is of %s", page->is_merged ? "A and B" : "A alone");
		return true;
	case KEYS_DO_QUIT:
	case KEYS_DO_CANCEL:
		if (!profile_page_is_merged(session))
			return false;
		session->full = session->focus = &view_compare;
		return true;
	case KEYS_DO_COLUMNS:
		profile_set_columns(session, "");
		prompt_open(session, PROMPT_COMMAND);
		prompt_type(session, "columns ");
		return true;
	default:
		return false;
	}
}

static bool act_row(struct session *session, struct profile_page *page, uint32_t row, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_RIGHT:
		unfold(page, row);
		return true;
	case KEYS_DO_LEFT:
		fold(page, row);
		return true;
	case KEYS_DO_FOLD:
		if (outline_has_children(&page->outline, row))
			outline_set_open(&page->outline, row, !outline_is_open(&page->outline, row));
		return true;
	case KEYS_DO_HOT_PATH:
		page->cursor = page->outline.hashes[outline_hot_path(&page->outline, row, page->hot_share)];
		return true;
	case KEYS_DO_SORT_LEFT:
	case KEYS_DO_SORT_RIGHT:
		sort_by(page, action == KEYS_DO_SORT_RIGHT ? 1 : -1);
		return true;
	case KEYS_DO_ORDER:
		page->outline.is_ascending = !page->outline.is_ascending;
		outline_sort(&page->outline, page->outline.sort);
		return true;
	case KEYS_DO_ZOOM_RANGE:
		zoom(session, page);
		return true;
	case KEYS_DO_UNDO:
		if (!page->outline.zoom_count)
			return false;
		page->outline.zoom_count--;
		return true;
	case KEYS_DO_ENTER:
		go_to_place(session, &page->outline.profile.rows[row]);
		return true;
	default:
		return false;
	}
}

static bool act_move(struct profile_page *page, int rows, enum keys_action action)
{
	long page_lines = rows > 6 ? rows - 5 : 1, all = (long)page->outline.line_count;

	switch (action) {
	case KEYS_DO_UP:
		move(page, -1);
		return true;
	case KEYS_DO_DOWN:
		move(page, 1);
		return true;
	case KEYS_DO_GROUP_UP:
		move(page, -10);
		return true;
	case KEYS_DO_GROUP_DOWN:
		move(page, 10);
		return true;
	case KEYS_DO_SCROLL_UP:
		move(page, -page_lines);
		return true;
	case KEYS_DO_SCROLL_DOWN:
		move(page, page_lines);
		return true;
	case KEYS_DO_WINDOW_BEGIN:
		move(page, -all);
		return true;
	case KEYS_DO_WINDOW_END:
		move(page, all);
		return true;
	default:
		return false;
	}
}

bool view_profile_act(struct session *session, enum keys_action action)
{
	struct profile_page *page = profile_page_of(session);
	uint32_t row;

	if (!page)
		return false;
	if (page->plot && view_plot_act(session, page, action))
		return true;
	if (act_page(session, page, action))
		return true;
	row = page->trouble[0] ? UINT32_MAX : outline_find_hash(&page->outline, page->cursor);
	if (row != UINT32_MAX &&
		(act_move(page, session->layout.full.rows, action) || act_row(session, page, row, action)))
		return true;
	switch (action) { /* these move what cannot be seen */
	case KEYS_DO_UP:
	case KEYS_DO_DOWN:
	case KEYS_DO_LEFT:
	case KEYS_DO_RIGHT:
	case KEYS_DO_LEFT_TEN:
	case KEYS_DO_RIGHT_TEN:
	case KEYS_DO_HIDE:
	case KEYS_DO_PIN:
		return true;
	default:
		return false;
	}
}
