/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prompt_keys.c - does what the text of a prompt says: `:` commands, `/` find, `g` go to a time, `&` filter,
 * and the letter of a mark. prompt.c edits the text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/select/bookmark.h"
#include "tui/app/actions.h"
#include "tui/app/commands.h"
#include "tui/code/code_move.h"
#include "tui/models/flame_page.h"
#include "tui/models/profile_page.h"
#include "tui/views/views.h"

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
		if (bookmark_save(session->run, name, *mark, *mark, &error))
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

static void finish(struct session *session)
{
	enum prompt prompt = session->prompt;

	session->prompt = PROMPT_NONE;
	switch (prompt) {
	case PROMPT_COMMAND:
		prompt_keep(session);
		commands_do(session, session->input);
		break;
	case PROMPT_FIND:
		if (session->input[0])
			strcpy(session->find, session->input);
		if (session->full == &view_help)
			view_help_find(session, false);
		else if (session->full == &view_profile)
			profile_page_find(session, false);
		else if (session->full == &view_flame)
			flame_page_find(session, false);
		else if (session->focus == &view_code)
			code_move_find(session, false);
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

void prompt_keys_take(struct session *session, uint32_t key)
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
	} else {
		prompt_edit(session, key);
	}
}
