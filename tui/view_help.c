/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_help.c - keys and glyphs, made from the key table and the table of states. Two columns where there is
 * room, so that all of it fits on 80x24.
 */
#include <stdio.h>
#include <string.h>

#include "tui/session.h"

#define HELP_ROWS 64
#define HELP_COLUMN 39

struct help {
	char lines[HELP_ROWS][2][HELP_COLUMN + 24];
	enum grid_style style[HELP_ROWS][2];
	int count[2];
};

static void add(struct help *help, int side, enum grid_style style, const char *keys, const char *text)
{
	int row = help->count[side];

	if (row == HELP_ROWS)
		return;
	help->count[side]++;
	help->style[row][side] = style;
	if (text)
		snprintf(help->lines[row][side], sizeof(help->lines[row][side]), " %-11s  %s", keys, text);
	else
		snprintf(help->lines[row][side], sizeof(help->lines[row][side]), "%s", keys);
}

static void add_section(struct help *help, int side, enum keys_section section)
{
	size_t count;
	const struct keys_line *lines = keys_lines(&count);

	add(help, side, GRID_HEADING, keys_section_name(section), NULL);
	for (size_t i = 0; i < count; i++)
		if (lines[i].section == section)
			add(help, side, GRID_TEXT, lines[i].keys, lines[i].help);
}

/* What the user bound says what it does now, at the end of the shorter side. */
static void add_bound(struct help *help)
{
	size_t count;
	const struct keys_binding *bound = keys_bound(&count);
	char name[KEYS_NAME_BYTES];

	if (count)
		add(help, 0, GRID_HEADING, "YOUR KEYS", NULL);
	for (size_t i = 0; i < count; i++) {
		keys_name(bound[i].key, name);
		add(help, 0, GRID_TEXT, name, keys_help(bound[i].action));
	}
}

static const char *const glyphs[] = {
	"CELLS   = CPU code   # kernel   > copy in   < copy out   ^ set or device copy",
	"        ~ waiting in sync   . GPU idle   - blocked   / waits for a core",
	"        ? unmonitored   ! lost   ' unknown   : not read or not committed yet",
	"        % mixed: no context has half of the cell",
	"LABELS  > cursor row  ! lost records  ? partly unmonitored  + pinned  * match",
};

static void help_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	static struct help help;
	int sides = 2, rows, glyph_count = (int)(sizeof(glyphs) / sizeof(glyphs[0])), row;

	memset(&help, 0, sizeof(help));
	add_section(&help, 0, KEYS_MOVE);
	add_section(&help, 0, KEYS_GO);
	add_bound(&help);
	add_section(&help, sides - 1, KEYS_LOOK);
	add_section(&help, sides - 1, KEYS_KEEP);
	rows = help.count[0] > help.count[1] ? help.count[0] : help.count[1];
	if (session->help_top > rows + glyph_count - area.rows)
		session->help_top = rows + glyph_count - area.rows;
	if (session->help_top < 0)
		session->help_top = 0;
	for (int i = session->help_top; i < rows + glyph_count && i - session->help_top < area.rows; i++) {
		row = area.row + i - session->help_top;
		if (i >= rows) {
			grid_text(grid, row, area.column, area.columns, glyphs[i - rows], GRID_TEXT);
			continue;
		}
		for (int side = 0; side < sides; side++)
			grid_text(grid, row, area.column + side * HELP_COLUMN,
				area.columns - side * HELP_COLUMN, help.lines[i][side], help.style[i][side]);
	}
}

static bool help_act(struct session *session, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_DOWN:
		session->help_top++;
		return true;
	case KEYS_DO_UP:
		session->help_top--;
		return true;
	case KEYS_DO_PIN: /* the space bar pages */
	case KEYS_DO_SCROLL_DOWN:
		session->help_top += 10;
		return true;
	case KEYS_DO_SCROLL_UP:
		session->help_top -= 10;
		return true;
	case KEYS_DO_HELP:
	case KEYS_DO_QUIT:
	case KEYS_DO_CANCEL:
	case KEYS_DO_TIMELINE:
		session->full = session->before_help;
		session->focus = session->full ? session->full : &view_timeline;
		return true;
	default:
		return true; /* what cannot be seen must not be changed */
	}
}

const struct view view_help = {
	.name = "Help", .draw = help_draw, .act = help_act, .hints = "j/k scroll  Space next page  q close"};
