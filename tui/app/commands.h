/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - runs the commands of the prompt.
 */
#ifndef TUI_COMMANDS_H
#define TUI_COMMANDS_H

#include "tui/session/session.h"

/* "NAME VALUE" or "NAME = VALUE", which is changed; says what is wrong. */
void commands_do(struct session *session, char *line);
/* The command of that name. */
void commands_run(struct session *session, const char *name, const char *value);

/* What the help says about a command, by its place; false behind the last one. SESSION_USAGE. */
bool commands_line(size_t at, char *usage, const char **help);
/* One option of the selector, bound to the run; NULL after saying what is wrong. select_free() ends it. */
struct select *commands_bind(struct session *session, const char *name, const char *value);
/* Only these streams have rows; "": all. */
void commands_set_streams(struct session *session, const char *value);

#endif
