/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screenshot.h - writes the screen to a file: plain text, text with colours (ansi.h) or SVG (svg.h). All
 * formats print the grid that the terminal shows.
 */
#ifndef TUI_SCREENSHOT_H
#define TUI_SCREENSHOT_H

#include <stdio.h>

#include "tui/session/session.h"

enum screenshot_format {
	SCREENSHOT_TEXT,
	SCREENSHOT_ANSI,
	SCREENSHOT_SVG,
	SCREENSHOT_HTML,
	SCREENSHOT_FORMATS
};

/* "text", "ansi", "svg"; -1: none of them. */
int screenshot_format_find(const char *name);
/* With the user's colours of the session. */
void screenshot_print(struct session *session, const struct grid *grid, enum screenshot_format format,
	int colours, FILE *out);
/* `:picture FILE`: what is on the screen; .svg, .html and .ansi (.ans) by its name, else text. HTML holds the
 * SVG. */
void screenshot_save(struct session *session, const char *path);

#endif
