/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_info.c - the description of the run: the text of hpct-info, and its streams.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/stats/info.h"
#include "tui/screen/text.h"
#include "tui/session/session.h"
#include "tui/views/views.h"

/* The text is made once; the caller's session keeps it. */
static char *take_text(struct session *session)
{
	struct select *select = NULL;
	struct error error;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int result = out ? select_new(&select, &error) : -1;

	if (!out)
		return NULL;
	if (!result)
		result = select_bind(select, session->run, &error);
	if (!result)
		result = info_print(session->run, select, REPORT_TABLE, out, &error);
	if (!result) {
		fputc('\n', out);
		result = info_print_streams(session->run, select, REPORT_TABLE, out, &error);
	}
	if (result)
		fprintf(out, "%s\n", error.text);
	if (select)
		select_free(select);
	fclose(out);
	return text;
}

static uint32_t count_lines(const char *text)
{
	uint32_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

static void info_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	uint32_t room = area.rows > 0 ? (uint32_t)area.rows : 0, count, line = 0;
	const char *at;

	if (!session->info)
		session->info = take_text(session);
	if (!session->info)
		return;
	count = count_lines(session->info);
	if (session->info_top + room > count)
		session->info_top = count > room ? count - room : 0;
	for (at = session->info; *at; line++) {
		size_t size = strcspn(at, "\n");
		char raw[1024], text[2048];
		if (line >= session->info_top && line < session->info_top + room) {
			snprintf(raw, sizeof(raw), "%.*s", (int)(size < 1000 ? size : 1000), at);
			text_clean(text, sizeof(text), raw, grid->is_ascii);
			grid_text(grid, area.row + (int)(line - session->info_top), 1, area.columns - 1, text,
				GRID_TEXT);
		}
		at += size + (at[size] == '\n');
	}
}

static bool info_act(struct session *session, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_DOWN:
		session->info_top++;
		return true;
	case KEYS_DO_UP:
		session->info_top -= session->info_top > 0;
		return true;
	case KEYS_DO_SCROLL_DOWN:
	case KEYS_DO_PIN: /* the space bar pages */
		session->info_top += 10;
		return true;
	case KEYS_DO_SCROLL_UP:
		session->info_top -= session->info_top < 10 ? session->info_top : 10;
		return true;
	default:
		return false;
	}
}

const struct view view_info = {.name = "Info",
	.key = '8',
	.draw = info_draw,
	.act = info_act,
	.hints = "j/k scroll  Space next page"};
