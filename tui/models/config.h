/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - the user's files in $XDG_CONFIG_HOME/hpct (or ~/.config/hpct), one entry per line:
 *
 *   keys      KEY AS        KEY does what AS did: "<C-d> <PageDown>"
 *   filters   KIND GLOB     self, below or all: removed from paths (frame_filter.h); "off KIND GLOB"
 *   settings  NAME VALUE    as `:set` takes them (settings.h)
 *   colours   GLOB WHAT     WHAT: context 0..23, none, or a colour index 0..255; the first match wins
 *
 * Lines that begin with '#' are comments.
 */
#ifndef TUI_CONFIG_H
#define TUI_CONFIG_H

#include "tui/session/session.h"

#define CONFIG_PATH 4096

/* Reads the files that are there; the session says what is wrong in them. */
void config_read(struct session *session);
/* Path of a file of the user's, CONFIG_PATH; with its directories when they are wanted. False: HOME is not
 * set. */
bool config_path(char *path, const char *name, bool makes_parents);
/* Writes what was chosen about the view, for every one that is opened from now on. */
void config_keep_settings(struct session *session);
/* One line of `colours`; false: not understood. */
bool config_colour(struct session *session, const char *line);
/* One line of `filters`. */
bool config_filter(struct session *session, const char *line);
/* Writes the session's filters there, for every view that is opened from now on; says where. */
void config_keep_filters(struct session *session);
/* One line of `keys`. */
bool config_key(const char *line);

#endif
