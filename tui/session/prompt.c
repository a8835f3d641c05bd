/* SPDX-License-Identifier: Apache-2.0 */
/* prompt.c - see prompt.h. */
#include "tui/session/prompt.h"

#include <stdio.h>
#include <string.h>

#include "tui/screen/text.h"
#include "tui/session/session.h"

void prompt_open(struct session *session, enum prompt prompt)
{
	session->prompt = prompt;
	session->typed_at = -1;
	session->input[0] = '\0';
	session->input_bytes = 0;
	if (prompt == PROMPT_FILTER) {
		strcpy(session->input, session->filter);
		session->input_bytes = strlen(session->input);
	}
}

void prompt_draw(const struct session *session, struct grid *grid, int row)
{
	static const char *const heads[] = {"", ":", "/", "go to (1.2s, 50%, -1s, 14:32:05): ",
		"streams (kind=gpu & rank=0-3): ", "mark a..z: ", "to mark a..z: "};
	char text[SESSION_TEXT + 64];
	int end;

	text_clean(text, sizeof(text), session->input, grid->is_ascii);
	end = grid_text(grid, row, 0, grid->columns, heads[session->prompt], GRID_HEADING);
	end = grid_text(grid, row, end, grid->columns - end - 1,
		text + strlen(text) - text_tail(text, grid->columns - end - 1), GRID_TEXT);
	grid_put(grid, row, end, ' ', GRID_TEXT);
	grid_mark(grid, row, end, 1, GRID_REVERSE);
}

/* ---- editing ---- */

/* The arrows bring back earlier commands. */
void prompt_keep(struct session *session)
{
	if (!session->input[0] || strcmp(session->input, session->typed[0]) == 0)
		return;
	memmove(session->typed[1], session->typed[0], sizeof(session->typed) - sizeof(session->typed[0]));
	strcpy(session->typed[0], session->input);
}

static void recall(struct session *session, int by)
{
	int at = session->typed_at + by;

	if (session->prompt != PROMPT_COMMAND || at < -1 || at >= SESSION_TYPED ||
		(at >= 0 && !session->typed[at][0]))
		return;
	session->typed_at = at;
	strcpy(session->input, at < 0 ? "" : session->typed[at]);
	session->input_bytes = strlen(session->input);
}

static void erase(struct session *session)
{
	size_t size = session->input_bytes;

	if (size == 0) {
		session->prompt = PROMPT_NONE;
		return;
	}
	do
		size--;
	while (size && (session->input[size] & 0xc0) == 0x80);
	session->input_bytes = size;
	session->input[size] = '\0';
}

static void type(struct session *session, uint32_t key)
{
	char bytes[8];
	size_t size;

	if (key < 0x20 || key >= KEYS_LEFT)
		return;
	size = text_encode(bytes, key);
	if (session->input_bytes + size >= sizeof(session->input))
		return;
	memcpy(session->input + session->input_bytes, bytes, size);
	session->input_bytes += size;
	session->input[session->input_bytes] = '\0';
}

void prompt_type(struct session *session, const char *text)
{
	uint32_t key;

	while (*text) {
		text += text_rune(text, &key);
		type(session, key);
	}
}

void prompt_edit(struct session *session, uint32_t key)
{
	if (key == KEYS_UP || key == KEYS_DOWN) {
		recall(session, key == KEYS_UP ? 1 : -1);
	} else if (key == KEYS_BACKSPACE || key == KEYS_DELETE) {
		erase(session);
	} else if (key == ('U' & 31)) {
		session->input_bytes = 0;
		session->input[0] = '\0';
	} else {
		type(session, key);
	}
}
