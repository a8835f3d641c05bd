/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_runs.c - the list of runs in the directory of the shown run.
 */
#include <string.h>
#include <time.h>

#include "store/base/path.h"
#include "tui/models/compare.h"
#include "tui/models/open_runs.h"
#include "tui/models/runs_page.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/views/views.h"

#define RUNS_NAME 28

void view_runs_open(struct session *session)
{
	runs_page_renew(session);
	session->full = session->focus = &view_runs;
}

/* ---- drawing ---- */

static void put_bytes(char *out, size_t size_bytes, uint64_t bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 999.5 && unit < 4)
		value /= 1000, unit++;
	snprintf(out, size_bytes, "%.*f %s", unit && value < 9.95 ? 1 : 0, value, units[unit]);
}

static char mark_of(const struct session *session, const char *path)
{
	const struct open_runs *open = session->open;

	if (open_runs_is_same(run_path(session->run), path))
		return '*';
	for (size_t i = 0; open && i < open->count; i++)
		if (open_runs_is_same(run_path(open->places[i].session->run), path))
			return '+';
	if (session->compare && open_runs_is_same(run_path(session->compare->other->run), path))
		return '=';
	return ' ';
}

static void draw_entry(struct session *session, struct grid *grid, int row, size_t at)
{
	const struct run_found *run = &session->runs->found[at];
	const struct runs_entry *entry = &session->runs->entries[at];
	const char *name = path_base(run->path);
	char text[LABEL_BYTES], when[32] = "", size[32];
	int column = 3 + RUNS_NAME + 1;
	struct tm tm;

	if (localtime_r(&run->written.tv_sec, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	put_bytes(size, sizeof(size), run->bytes);
	if (at == session->runs->line)
		grid_put(grid, row, 0, '>', GRID_HEADING);
	grid_put(grid, row, 1, (uint32_t)mark_of(session, run->path), GRID_HEADING);
	label_stream(text, name, RUNS_NAME, grid->is_ascii);
	grid_text(grid, row, 3, RUNS_NAME, text, GRID_TEXT);
	grid_text(grid, row, column, 19, when, GRID_TEXT);
	grid_text_right(grid, row, column + 20, 8, size, GRID_TEXT);
	column += 30;
	if (grid->columns >= 100) {
		grid_text(grid, row, column, 10, entry->state, GRID_GREY);
		text_clean(text, sizeof(text), entry->host, grid->is_ascii);
		grid_text(grid, row, column + 11, 12, text, GRID_TEXT);
		column += 24;
	}
	text_clean(text, sizeof(text), entry->command, grid->is_ascii);
	grid_text(grid, row, column, grid->columns - column, text, GRID_TEXT);
}

static void draw_heading(struct grid *grid, int row)
{
	int column = 3 + RUNS_NAME + 1;

	grid_text(grid, row, 3, RUNS_NAME, "run", GRID_HEADING);
	grid_text(grid, row, column, 19, "written last", GRID_HEADING);
	grid_text_right(grid, row, column + 20, 8, "size", GRID_HEADING);
	column += 30;
	if (grid->columns >= 100) {
		grid_text(grid, row, column, 10, "state", GRID_HEADING);
		grid_text(grid, row, column + 11, 12, "host", GRID_HEADING);
		column += 24;
	}
	grid_text(grid, row, column, grid->columns - column, "command", GRID_HEADING);
}

static void runs_draw_page(struct session *session, struct grid *grid, struct grid_area area)
{
	struct runs_page *page = session->runs;
	size_t room = area.rows > 1 ? (size_t)area.rows - 1 : 0;
	char text[LABEL_BYTES];

	if (!page)
		return;
	if (!page->count) {
		text_clean(text, sizeof(text),
			page->trouble[0] ? page->trouble : "No run lies here any more.", grid->is_ascii);
		grid_text(grid, area.row + 1, 2, area.columns - 2, text, GRID_TEXT);
		return;
	}
	if (page->line < page->first)
		page->first = page->line;
	if (room && page->line >= page->first + room)
		page->first = page->line - room + 1;
	draw_heading(grid, area.row);
	for (size_t i = page->first; i < page->count && i < page->first + room; i++) {
		if (!page->entries[i].is_read)
			runs_page_read(page, i);
		draw_entry(session, grid, area.row + 1 + (int)(i - page->first), i);
	}
}

/* ---- keys ---- */

static void move(struct runs_page *page, long by)
{
	long line = (long)page->line + by;

	line = line >= (long)page->count ? (long)page->count - 1 : line;
	page->line = line < 0 ? 0 : (size_t)line;
}

static bool runs_act(struct session *session, enum keys_action action)
{
	struct runs_page *page = session->runs;
	const char *path = page && page->line < page->count ? page->found[page->line].path : NULL;

	if (!page)
		return false;
	switch (action) {
	case KEYS_DO_UP:
	case KEYS_DO_DOWN:
		move(page, action == KEYS_DO_UP ? -1 : 1);
		return true;
	case KEYS_DO_SCROLL_UP:
	case KEYS_DO_SCROLL_DOWN:
	case KEYS_DO_GROUP_UP:
	case KEYS_DO_GROUP_DOWN:
		move(page, action == KEYS_DO_SCROLL_UP || action == KEYS_DO_GROUP_UP ? -10 : 10);
		return true;
	case KEYS_DO_WINDOW_BEGIN:
	case KEYS_DO_WINDOW_END:
		move(page, action == KEYS_DO_WINDOW_BEGIN ? -(long)page->count : (long)page->count);
		return true;
	case KEYS_DO_ENTER:
	case KEYS_DO_COMPARE:
		session_go_home(session);
		if (path)
			session_ask(session,
				action == KEYS_DO_ENTER ? SESSION_WANTS_RUN : SESSION_WANTS_COMPARISON, path);
		return true;
	case KEYS_DO_HIDE:
		if (path)
			session_ask(session, SESSION_WANTS_CLOSE, path);
		return true;
	case KEYS_DO_RUNS:
	case KEYS_DO_REDRAW: /* reads the directory again */
		view_runs_open(session);
		return action == KEYS_DO_RUNS;
	case KEYS_DO_LEFT:
	case KEYS_DO_RIGHT:
		return true;
	default:
		return false;
	}
}

static void runs_title(struct session *session, char *out, size_t size_bytes)
{
	const struct runs_page *page = session->runs;

	snprintf(out, size_bytes, "%zu in %s  %zu open", page ? page->count : 0, page ? page->directory : "",
		session->open ? session->open->count : 1);
}

static bool runs_status(struct session *session, char *out, size_t size_bytes)
{
	const struct runs_page *page = session->runs;

	if (!page || page->line >= page->count)
		return false;
	snprintf(out, size_bytes, "%.400s", page->found[page->line].path);
	return true;
}

static const struct view_key runs_keys[] = {{"j k", "the next run, the one before"},
	{"Enter", "open it, or show it again"}, {"9", "hold it against the one that is shown"},
	{"x", "close it"}, {"R Ctrl-L", "look again"},
	{"* + =", "the one that is shown, open, held against the shown one"}, {NULL, NULL}};

const struct view view_runs = {.name = "Runs",
	.key = 'R',
	.is_whole = true,
	.draw = runs_draw_page,
	.act = runs_act,
	.put_title = runs_title,
	.put_status = runs_status,
	.own_keys = runs_keys,
	.hints = "j/k run  Enter open  9 compare with  x close"};
