/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_settings.c - the screen of `:settings`: all settings of the view, kept for every run when changed;
 * below them the user's other files, and the commands that do the same for one session.
 */
#include <string.h>

#include "tui/models/config.h"
#include "tui/models/profile_page.h"
#include "tui/models/settings.h"
#include "tui/screen/text.h"
#include "tui/views/views.h"

#define VALUE_AT 12
#define HELP_AT 22

static void draw_line(struct session *session, struct grid *grid, int row, size_t at)
{
	char value[SETTINGS_VALUE];

	settings_get(session, at, value);
	if (at == session->setting)
		grid_put(grid, row, 0, '>', GRID_HEADING);
	grid_text(grid, row, 2, VALUE_AT - 3, settings_name(at), GRID_TEXT);
	grid_text(grid, row, VALUE_AT, HELP_AT - VALUE_AT - 1, value, GRID_HEADING);
	grid_text(grid, row, HELP_AT, grid->columns - HELP_AT, settings_help(at), GRID_GREY);
}

static void draw_file(struct grid *grid, int row, const char *name, size_t count, const char *help)
{
	char text[32];

	snprintf(text, sizeof(text), "%zu", count);
	grid_text(grid, row, 2, VALUE_AT - 3, name, GRID_TEXT);
	grid_text(grid, row, VALUE_AT, HELP_AT - VALUE_AT - 1, text, GRID_TEXT);
	grid_text(grid, row, HELP_AT, grid->columns - HELP_AT, help, GRID_GREY);
}

static int draw_files(struct session *session, struct grid *grid, int row, int end)
{
	size_t keys;
	const struct {
		const char *name, *help;
		size_t count;
	} files[] = {
		{"keys", "of another meaning; :bind KEY AS for this view alone", (keys_bound(&keys), keys)},
		{"colours", "name patterns; :colour GLOB WHAT for this view alone", session->colours.count},
		{"filters", "functions taken out; :hide KIND GLOB, :hide keep",
			session->profile ? session->profile->filter_count : 0}};
	char path[CONFIG_PATH], text[CONFIG_PATH + 64];

	if (!config_path(path, "", false))
		snprintf(path, sizeof(path), "$HOME/.config/hpct/");
	snprintf(text, sizeof(text), "Kept in %ssettings; files beside it, a line each:", path);
	text_clean(path, sizeof(path), text, grid->is_ascii);
	if (row < end)
		grid_text(grid, row++, 0, grid->columns, path, GRID_HEADING);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && row < end; i++)
		draw_file(grid, row++, files[i].name, files[i].count, files[i].help);
	return row;
}

static void settings_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	int row = area.row, end = area.row + area.rows;
	size_t count = settings_count(), room = area.rows > 1 ? (size_t)area.rows - 1 : 1, first = 0;

	if (session->setting >= count)
		session->setting = count - 1;
	if (session->setting >= room)
		first = session->setting - room + 1;
	grid_text(grid, row, 2, VALUE_AT - 3, "setting", GRID_HEADING);
	grid_text(grid, row, VALUE_AT, 8, "value", GRID_HEADING);
	row++;
	for (size_t at = first; at < count && row < end; at++)
		draw_line(session, grid, row++, at);
	draw_files(session, grid, row + 1, end);
}

/* ---- keys ---- */

static bool settings_act(struct session *session, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_UP:
		session->setting -= session->setting > 0;
		return true;
	case KEYS_DO_DOWN:
		session->setting += session->setting + 1 < settings_count();
		return true;
	case KEYS_DO_ENTER:
	case KEYS_DO_PIN: /* the space bar */
	case KEYS_DO_RIGHT:
	case KEYS_DO_LEFT:
		settings_step(session, session->setting, action == KEYS_DO_LEFT);
		config_keep_settings(session);
		return true;
	case KEYS_DO_HIDE:
		settings_reset(session, session->setting);
		config_keep_settings(session);
		return true;
	default:
		return false;
	}
}

static bool settings_status(struct session *session, char *out, size_t size_bytes)
{
	snprintf(out, size_bytes, "%s", settings_help(session->setting));
	return true;
}

static const struct view_key settings_keys[] = {{"j k", "the next setting, the one before"},
	{"l h", "another value; it is kept for every run"}, {"x", "the usual value"}, {NULL, NULL}};

const struct view view_settings = {.name = "Settings",
	.draw = settings_draw,
	.act = settings_act,
	.put_status = settings_status,
	.is_whole = true,
	.own_keys = settings_keys,
	.hints = "j/k setting  h/l another value  x the usual one"};
