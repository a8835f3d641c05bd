/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_help.c - the help: keys of the view that it was opened in, keys of all views, glyphs, commands and
 * colours, made from the tables of keys and commands. The keys of all views fit on 80x24 in two columns.
 */
#include <stdio.h>
#include <string.h>

#include "tui/screen/pattern.h"
#include "tui/session/session.h"
#include "tui/views/views.h"

#define HELP_ROWS 192
#define HELP_COLUMN 39
#define HELP_TWO 76 /* columns for two sides */
#define HELP_BYTES 128

struct help {
	char lines[HELP_ROWS][2][HELP_BYTES]; /* the right one "": the left one has the whole line */
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
		snprintf(help->lines[row][side], HELP_BYTES, " %-11s  %s", keys, text);
	else
		snprintf(help->lines[row][side], HELP_BYTES, "%s", keys);
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

/* The user's bindings with their actions, at the end of the shorter side. */
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

static void add_wide(struct help *help, enum grid_style style, const char *keys, const char *text)
{
	int rows = help->count[0] > help->count[1] ? help->count[0] : help->count[1];

	help->count[0] = rows;
	add(help, 0, style, keys, text);
	help->count[1] = help->count[0];
}

/* The own keys of the view in which the help was opened. */
static void add_own(struct help *help, const struct view *view)
{
	char text[HELP_BYTES];

	if (!view || !view->own_keys)
		return;
	snprintf(text, sizeof(text), "HERE, IN: %s", view->name);
	add_wide(help, GRID_HEADING, text, NULL);
	for (const struct view_key *key = view->own_keys; key->keys; key++)
		add_wide(help, GRID_TEXT, key->keys, key->help);
}

/* By task: the keys, and what one wants to know. Most wanted first; 80x24 shows them on one screen. */
static const struct view_key tasks[] = {
	{"1  b  < >", "see what takes the time here, by function, line, stream"},
	{"3", "see all streams at a glance, and how even they are"},
	{"w s  a d", "look closer (the wheel, too), or before and after"},
	{"v .. z", "look at a stretch of time alone (drag does, too)"},
	{"e E  + -", "see callees, callers; a taller row; = chooses"},
	{"4  G", "see one thread's path over time; a flame graph"},
	{"2  i", "know what threads wait for, or who keeps the GPU idle"},
	{"] [  { }", "go to the next wait or gap; to a larger or smaller one"},
	{"!  b", "list the longest waits and gaps, each a jump; blame of one alone"},
	{"Enter  BS", "go from a wait to who ended it, a kernel to its launch; back"},
	{"/ n", "find a function or a stream"},
	{"6  P  7", "know which call paths are hot; source (of kernels: stalls)"},
	{"c  x  &", "see fewer rows: fold a group, hide a row, filter streams"},
	{"9  R", "know what changed: open a second run with R, or hpct-view A B"},
	{"8", "know how the run was recorded, and what was lost"},
	{"Y  y", "take it with me: the command for it; the whole name"},
	{"u  0  q", "undo; the whole run again; back, then leave"},
	{NULL, NULL},
};

static const char *const glyphs[] = {
	"CELLS   = CPU code   # kernel   > copy in   < copy out   ^ set or device copy",
	"        ~ waiting in sync   . GPU idle   - blocked   / preempted: waits for a core",
	"        ? unmonitored   ! lost   ' unknown   : not read or not committed yet",
	"        % mixed: no context has half of the cell   blank: not started, or ended",
	"LABELS  > cursor row  ! lost records  ? partly unmonitored  + pinned  * match  ~ about",
};

static void add_commands(struct help *help, const struct session *session)
{
	char usage[SESSION_USAGE], text[HELP_BYTES];
	const char *what;

	add_wide(help, GRID_HEADING, "COMMANDS, after :", NULL);
	for (size_t i = 0; session->list_commands && session->list_commands(i, usage, &what); i++) {
		snprintf(text, sizeof(text), " %-25s %s", usage, what);
		add_wide(help, GRID_TEXT, text, NULL);
	}
}

static const struct help *make(const struct session *session)
{
	static struct help help;
	int side = session->layout.columns >= HELP_TWO ? 1 : 0;

	memset(&help, 0, sizeof(help));
	add_own(&help, session->help_of);
	add_wide(&help, GRID_HEADING, "I WANT TO ...", NULL);
	for (const struct view_key *task = tasks; task->keys; task++)
		add_wide(&help, GRID_TEXT, task->keys, task->help);
	add_wide(&help, GRID_TEXT, "", NULL);
	add_wide(&help, GRID_HEADING, "ALL KEYS", NULL);
	add_section(&help, 0, KEYS_MOVE);
	add_section(&help, 0, KEYS_GO);
	add_bound(&help);
	add_section(&help, side, KEYS_LOOK);
	add_section(&help, side, KEYS_KEEP);
	for (size_t i = 0; i < sizeof(glyphs) / sizeof(glyphs[0]); i++)
		add_wide(&help, GRID_TEXT, glyphs[i], NULL);
	add_commands(&help, session);
	return &help;
}

/* The colours of functions as this terminal shows them. */
static void draw_blocks(const struct session *session, struct grid *grid, int row)
{
	int at = 10;

	grid_text(grid, row, 0, 10, "COLOURS", GRID_HEADING);
	for (int slot = 0; slot < GRID_CONTEXTS && at + 4 < grid->columns; slot++, at += 4) {
		char text[8];
		snprintf(text, sizeof(text), " %2d ", slot);
		grid_text(grid, row, at, 4, text, (enum grid_style)(GRID_BLOCK + slot));
	}
	grid_text(grid, row, at + 1, grid->columns - at - 1, session->looks.colours ? "of functions" : "",
		GRID_GREY);
}

static void help_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	const struct help *help = make(session);
	int count = help->count[1], rows = count + (session->looks.colours != 0);

	if (session->help_top > rows - area.rows)
		session->help_top = rows - area.rows;
	if (session->help_top < 0)
		session->help_top = 0;
	for (int i = session->help_top; i < rows && i - session->help_top < area.rows; i++) {
		int row = area.row + i - session->help_top;
		if (i == count) {
			draw_blocks(session, grid, row);
			continue;
		}
		for (int side = 0; side < 2; side++)
			if (help->lines[i][side][0])
				grid_text(grid, row, area.column + side * HELP_COLUMN,
					area.columns - side * HELP_COLUMN, help->lines[i][side],
					help->style[i][side]);
		if (i && i == session->help_line)
			grid_mark(grid, row, area.column, area.columns, GRID_BOLD);
	}
}

void view_help_open(struct session *session, const char *heading)
{
	const struct help *help;

	if (session->full != &view_help) {
		session->before_help = session->full;
		session->help_of = session->focus;
	}
	session->full = session->focus = &view_help;
	session->help_top = session->help_line = 0;
	help = make(session);
	for (int i = 0; heading && i < help->count[0]; i++)
		if (strncmp(help->lines[i][0], heading, strlen(heading)) == 0)
			session->help_top = i;
}

void view_help_find(struct session *session, bool is_back)
{
	const struct help *help = make(session);
	struct pattern pattern;

	if (!session->find[0] || !pattern_init(&pattern, session->find)) {
		session_say(session, "'%.80s' is nothing to look for", session->find);
		return;
	}
	for (int i = session->help_line + (is_back ? -1 : 1); i >= 0 && i < help->count[0];
		i += is_back ? -1 : 1) {
		if (!pattern_match(&pattern, help->lines[i][0]) &&
			!pattern_match(&pattern, help->lines[i][1]))
			continue;
		session->help_line = i;
		if (i < session->help_top || i >= session->help_top + session->layout.full.rows)
			session->help_top = i;
		pattern_fini(&pattern);
		return;
	}
	pattern_fini(&pattern);
	session_say(session, "'%.80s' is not %s", session->find, is_back ? "above" : "below");
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
		session->help_top += session->layout.full.rows > 1 ? session->layout.full.rows - 1 : 1;
		return true;
	case KEYS_DO_SCROLL_UP:
		session->help_top -= session->layout.full.rows > 1 ? session->layout.full.rows - 1 : 1;
		return true;
	case KEYS_DO_WINDOW_BEGIN:
		session->help_top = 0;
		return true;
	case KEYS_DO_WINDOW_END:
		session->help_top = HELP_ROWS;
		return true;
	case KEYS_DO_FIND_NEXT:
	case KEYS_DO_FIND_BACK:
		view_help_find(session, action == KEYS_DO_FIND_BACK);
		return true;
	case KEYS_DO_FIND: /* the session's own */
	case KEYS_DO_COMMAND:
		return false;
	case KEYS_DO_HELP:
	case KEYS_DO_QUIT:
	case KEYS_DO_CANCEL:
	case KEYS_DO_TIMELINE:
		session->full = session->before_help;
		session->focus = session->help_of ? session->help_of : &view_timeline;
		return true;
	default:
		return true; /* what cannot be seen must not be changed */
	}
}

const struct view view_help = {.name = "Help",
	.is_help = true,
	.draw = help_draw,
	.act = help_act,
	.hints = "j/k scroll  Space next page  / find  q close"};
