/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_minimap.c - the minimap line: load of the run, the window's place in it, lost records, unmonitored
 * time, marks. With the focus, arrows move the window.
 */
#include <string.h>

#include "tui/session/session.h"
#include "tui/views/views.h"

static void draw_columns(const struct minimap *minimap, struct grid *grid, int row, int at)
{
	for (uint32_t i = 0; i < minimap->edges.count; i++) {
		const struct minimap_column *c = &minimap->columns[i];
		int eighths = c->there_ns ? (int)((double)c->busy_ns / (double)c->there_ns * 8 + 0.5) : 0;
		enum grid_style style = minimap->is_done ? GRID_TEXT : GRID_GREY;

		if (eighths == 0 && c->busy_ns)
			eighths = 1;
		eighths = eighths > 8 ? 8 : eighths;
		if (!c->is_read && !minimap->is_done)
			grid_put(grid, row, at + (int)i, ':', GRID_GREY);
		else if (c->has_lost)
			grid_put(grid, row, at + (int)i, '!', GRID_ERROR);
		else if (c->known_ns == 0 && c->blind_ns)
			grid_put(grid, row, at + (int)i, '?', GRID_GREY);
		else if (eighths)
			grid_put(grid, row, at + (int)i, 0x2580u + (uint32_t)eighths, style);
	}
}

static void draw_marks(const struct session *session, struct grid *grid, int row, int at)
{
	const struct minimap *minimap = &session->minimap;

	for (int i = 0; i < SESSION_MARKS; i++) {
		uint64_t mark_ns = session->marks[i];
		if (mark_ns >= minimap->begin_ns && mark_ns < minimap->end_ns)
			grid_put(
				grid, row, at + (int)minimap_column_at(minimap, mark_ns), '\'', GRID_HEADING);
	}
}

/* Both brackets are always seen. */
static void draw_window(const struct session *session, struct grid *grid, int row, int at)
{
	const struct minimap *minimap = &session->minimap;
	int width = (int)minimap->edges.count, from, until;

	from = (int)minimap_column_at(minimap, session->frame.begin_ns);
	until = (int)minimap_column_at(minimap, session->frame.end_ns ? session->frame.end_ns - 1 : 0);
	if (until <= from)
		until = from + 1;
	if (until >= width && width > 1)
		until = width - 1, from = from < until ? from : until - 1;
	grid_put(grid, row, at + from, '[', GRID_HEADING);
	grid_put(grid, row, at + until, ']', GRID_HEADING);
	if (session->focus == &view_minimap)
		grid_mark(grid, row, at + from, until - from + 1, GRID_REVERSE);
}

static void minimap_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	const struct minimap *minimap = &session->minimap;
	const char *label = minimap->is_gpu ? "GPU busy, run" : "CPU busy, run";
	int width = session->layout.label;

	if (width < (int)strlen(label) + 1)
		label = minimap->is_gpu ? "GPU, run" : "CPU, run";
	if (width < (int)strlen(label) + 1)
		label = minimap->is_gpu ? "GPU" : "CPU";
	grid_text(grid, area.row, area.column, width - 1, label, GRID_GREY);
	if (minimap->edges.count == 0)
		return;
	if (minimap->is_about && minimap->is_done)
		grid_put(grid, area.row, area.column + width - 1, '~', GRID_GREY);
	draw_columns(minimap, grid, area.row, area.column + width);
	draw_marks(session, grid, area.row, area.column + width);
	draw_window(session, grid, area.row, area.column + width);
}

/* The window's begin moves by so many columns of the run. */
static void move_window(struct session *session, int64_t columns)
{
	const struct minimap *minimap = &session->minimap;
	uint64_t length_ns = minimap->end_ns - minimap->begin_ns;
	uint64_t column_ns = minimap->edges.count ? length_ns / minimap->edges.count : 0;
	int64_t by_ns = (int64_t)(column_ns < INT64_MAX / 16 ? column_ns : INT64_MAX / 16);

	if (columns < 0)
		session->state.is_following = false;
	session_keep(session);
	view_state_pan(&session->state, session_limits(session), columns * by_ns);
}

static bool minimap_act(struct session *session, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_LEFT:
		move_window(session, -1);
		return true;
	case KEYS_DO_RIGHT:
		move_window(session, 1);
		return true;
	case KEYS_DO_LEFT_TEN:
		move_window(session, -10);
		return true;
	case KEYS_DO_RIGHT_TEN:
		move_window(session, 10);
		return true;
	case KEYS_DO_ENTER:
		session->focus = &view_timeline;
		return true;
	default:
		return false;
	}
}

static const struct view_key minimap_keys[] = {{"h l  H L", "the window along the run, by little, by much"},
	{"w s", "shorter, longer"}, {"Enter Tab", "back to the timeline"}, {NULL, NULL}};

const struct view view_minimap = {.name = "Run",
	.draw = minimap_draw,
	.act = minimap_act,
	.own_keys = minimap_keys,
	.hints = "h/l H/L window along the run  w/s zoom  Enter Tab timeline"};
