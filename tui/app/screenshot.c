/* SPDX-License-Identifier: Apache-2.0 */
/* screenshot.c - see screenshot.h. */
#include "tui/app/screenshot.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tui/app/app.h"
#include "tui/app/export.h"
#include "tui/app/legend.h"
#include "tui/app/session_read.h"
#include "tui/screen/ansi.h"
#include "tui/screen/svg.h"

#define SCREENSHOT_REFINE_MS 2000 /* what the picture can do without waits so long */

static const char *const names[SCREENSHOT_FORMATS] = {"text", "ansi", "svg", "html"};

int screenshot_format_find(const char *name)
{
	for (int i = 0; i < SCREENSHOT_FORMATS; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

/* Pictures have a legend below; the screen alone where memory is out. */
static void print_svg(
	struct session *session, const struct grid *grid, const struct palette *palette, FILE *out)
{
	struct grid with;

	if (session->layout.is_too_small || legend_add(&with, session, grid)) {
		svg_print(grid, palette, out);
		return;
	}
	svg_print(&with, palette, out);
	grid_fini(&with);
}

void screenshot_print(struct session *session, const struct grid *grid, enum screenshot_format format,
	int colours, FILE *out)
{
	struct palette palette;

	palette_set_theme((enum palette_theme)session->looks.theme);
	palette_init(&palette, colours);
	for (int i = 0; i < session->colours.user_count; i++)
		palette_set_user(&palette, i, session->colours.user[i]);
	if (format == SCREENSHOT_HTML)
		fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>hpct-view"
		      "</title></head>\n<body>\n",
			out);
	if (format == SCREENSHOT_SVG || format == SCREENSHOT_HTML)
		print_svg(session, grid, &palette, out);
	else if (format == SCREENSHOT_ANSI)
		ansi_print(grid, &palette, out);
	else
		grid_print(grid, out);
	if (format == SCREENSHOT_HTML)
		fputs("</body>\n</html>\n", out);
}

static enum screenshot_format format_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (dot && strcmp(dot, ".svg") == 0)
		return SCREENSHOT_SVG;
	if (dot && (strcmp(dot, ".html") == 0 || strcmp(dot, ".htm") == 0))
		return SCREENSHOT_HTML;
	return dot && (strcmp(dot, ".ansi") == 0 || strcmp(dot, ".ans") == 0) ? SCREENSHOT_ANSI
									      : SCREENSHOT_TEXT;
}

void screenshot_save(struct session *session, const char *path)
{
	enum screenshot_format format = format_of(path);
	struct grid grid;
	struct error error;
	FILE *out;
	int result, why;

	if (!*path) {
		session_say(session,
			":picture FILE.svg, FILE.html, FILE.ansi or FILE.txt keeps what is on the screen");
		return;
	}
	if (grid_init(&grid, session->layout.rows, session->layout.columns, session->looks.is_ascii)) {
		session_say(session, "no memory for a picture");
		return;
	}
	result = session_draw(session, &grid, 0, &error);
	if (!result && session_is_refining(session)) {
		session_refine(session, SCREENSHOT_REFINE_MS);
		result = session_draw(session, &grid, 0, &error);
	}
	out = result ? NULL : fopen(path, "wxe"); /* nothing is overwritten */
	if (out)
		screenshot_print(
			session, &grid, format, session->looks.colours ? session->looks.colours : 256, out);
	if (result)
		session_say(session, "%s", error.text);
	else if ((why = out ? export_close(out) : errno)) {
		export_say_unwritten(session, path, why);
		if (out) /* half a picture is none, and would be in the way of the next */
			unlink(path);
	} else
		session_say(session, "%s: the screen as %s", path, names[format]);
	grid_fini(&grid);
}
