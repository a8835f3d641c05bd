/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screenshot.h - what the screen shows as a file: plain text, text with colours (ansi.h) or SVG (svg.h). The
 * same grid, so that a picture in a report is the one that was looked at.
 */
#ifndef TUI_SCREENSHOT_H
#define TUI_SCREENSHOT_H

#include <stdio.h>

#include "tui/session/session.h"

enum picture_format { PICTURE_TEXT, PICTURE_ANSI, PICTURE_SVG, PICTURE_FORMATS };

/* "text", "ansi", "svg"; -1: none of them. */
int picture_format_find(const char *name);
/* With the user's colours of the session. */
void picture_print(const struct session *session, const struct grid *grid, enum picture_format format,
	int colours, FILE *out);
/* `:picture FILE`: what is on the screen; .svg and .ansi (.ans) by its name, else text. */
void picture_save(struct session *session, const char *path);

#endif
