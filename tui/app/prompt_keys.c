/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prompt_keys.c - the line that takes the place of the keys: `:` commands with the shared selector, `/` find,
 * `g` go to a time, `&` filter, and the letter of a mark.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/select/bookmark.h"
#include "tui/app/commands.h"
#include "tui/models/compare.h"
#include "tui/models/profile_page.h"
#include "tui/screen/text.h"

void prompt_open(struct session *session, enum session_prompt prompt)
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

/* ---- go to ---- */

static void go_to(struct session *session, const char *text)
{
	struct view_state_limits limits = session_limits(session);
	char range[SESSION_TEXT + 8], *end;
	struct select *select;
	double percent;

	if (!*text)
		return;
	percent = strtod(text, &end);
	if (end != text && strcmp(end, "%") == 0 && percent >= 0 && percent <= 100) {
		session_keep(session);
		view_state_go(&session->state, limits,
			limits.begin_ns +
				(uint64_t)((double)(limits.end_ns - limits.begin_ns) * percent / 100));
		return;
	}
	snprintf(range, sizeof(range), "%s%s..", text, end != text && !*end ? "s" : "");
	select = commands_bind(session, "time", range);
	if (!select)
		return;
	session_keep(session);
	view_state_go(&session->state, limits, select_begin_ns(select));
	select_free(select);
}

static void take_mark(struct session *session, uint32_t key, bool is_go)
{
	char name[2] = {(char)key, '\0'};
	struct error error;
	uint64_t *mark;

	if (key < 'a' || key > 'z') {
		session_say(session, "marks are the letters a to z");
		return;
	}
	mark = &session->marks[key - 'a'];
	if (!is_go) {
		*mark = frame_column_ns(&session->frame, session_column(session));
		if (mark_save(session->run, name, *mark, *mark, &error))
			session_say(session, "mark %c is here until the view is closed: %s", (char)key,
				error.text);
		else
			session_say(session, "mark %c is here; '%c comes back, --time @%c.. too", (char)key,
				(char)key, (char)key);
	} else if (*mark == UINT64_MAX) {
		session_say(session, "mark %c is not set", (char)key);
	} else {
		session_keep(session);
		view_state_go(&session->state, session_limits(session), *mark);
	}
}

/* ---- keys ---- */

/* What was typed before comes back with the arrows. */
static void keep_typed(struct session *session)
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

static void finish(struct session *session)
{
	enum session_prompt prompt = session->prompt;

	session->prompt = PROMPT_NONE;
	switch (prompt) {
	case PROMPT_COMMAND:
		keep_typed(session);
		commands_do(session, session->input);
		break;
	case PROMPT_FIND:
		if (session->input[0])
			strcpy(session->find, session->input);
		if (session->full == &view_help)
			view_help_find(session, false);
		else if (session->full == &view_profile)
			profile_page_find(session, false);
		else if (session->full == &view_both)
			view_both_find(session, false);
		else
			find_next_match(session, false);
		break;
	case PROMPT_GOTO:
		go_to(session, session->input);
		break;
	case PROMPT_FILTER:
		commands_set_streams(session, session->input);
		break;
	default:
		break;
	}
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

void prompt_key(struct session *session, uint32_t key)
{
	bool is_mark = session->prompt == PROMPT_MARK || session->prompt == PROMPT_GO_MARK;

	if (key == KEYS_RESIZE)
		return;
	if (key == KEYS_ESC) {
		session->prompt = PROMPT_NONE;
	} else if (is_mark) {
		bool is_go = session->prompt == PROMPT_GO_MARK;
		session->prompt = PROMPT_NONE;
		take_mark(session, key, is_go);
	} else if (key == KEYS_ENTER) {
		finish(session);
	} else if (key == KEYS_UP || key == KEYS_DOWN) {
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
