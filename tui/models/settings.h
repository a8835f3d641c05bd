/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - the settings of the view, by name: `:set NAME VALUE` changes one for this session, the screen
 * of `:settings` for all later ones. A new setting is a line of the table in settings.c.
 */
#ifndef TUI_SETTINGS_H
#define TUI_SETTINGS_H

#include "tui/session/session.h"

#define SETTINGS_VALUE 16

size_t settings_count(void);
const char *settings_name(size_t setting);
const char *settings_help(size_t setting);
/* As settings_set() takes it. SETTINGS_VALUE. */
void settings_get(struct session *session, size_t setting, char *out);
/* "NAME" or "NAME VALUE", without a value "on"; false: wrong, and the message lists the possible values. */
bool settings_set(struct session *session, const char *line);
/* To the next of its usual values, or back. */
void settings_step(struct session *session, size_t setting, bool is_back);
/* The setting has its default value. */
bool settings_is_usual(struct session *session, size_t setting);
void settings_reset(struct session *session, size_t setting);

#endif
