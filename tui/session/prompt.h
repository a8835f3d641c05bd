/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prompt.h - the input line at the bottom of the screen: opens, edits and draws its text. prompt_keys.c does
 * what the text says when Enter ends it.
 */
#ifndef TUI_PROMPT_H
#define TUI_PROMPT_H

#include <stdint.h>

struct grid;
struct session;

enum prompt {
	PROMPT_NONE,
	PROMPT_COMMAND,
	PROMPT_FIND,
	PROMPT_GOTO,
	PROMPT_FILTER,
	PROMPT_MARK,
	PROMPT_GO_MARK
};

/* Opens an empty prompt; a filter prompt begins with the current filter. */
void prompt_open(struct session *session, enum prompt prompt);
/* Appends text to the open prompt, as if the user had typed it. */
void prompt_type(struct session *session, const char *text);
/* One key: a character, Backspace, Ctrl-U; the arrows bring back earlier commands. */
void prompt_edit(struct session *session, uint32_t key);
/* Adds the text to the earlier commands. */
void prompt_keep(struct session *session);
void prompt_draw(const struct session *session, struct grid *grid, int row);

#endif
