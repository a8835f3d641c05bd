/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - the commands of the prompt.
 */
#ifndef TUI_COMMANDS_H
#define TUI_COMMANDS_H

#include "tui/session.h"

/* "NAME VALUE" or "NAME = VALUE", which is changed; says what is wrong. */
void commands_do(struct session *session, char *line);
/* One option of the selector, bound to the run; NULL after saying what is wrong. select_free() ends it. */
struct select *commands_bind(struct session *session, const char *name, const char *value);
/* Only these streams have rows; "": all. */
void commands_set_streams(struct session *session, const char *value);

#endif
