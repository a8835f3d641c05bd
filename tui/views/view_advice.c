/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_advice.c - what would make the kernel under the cursor faster, where, and by how much; without a
 * kernel there, all of the window, by time. Enter shows the kernel's source and instructions (view_code.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/code/code_page.h"
#include "tui/models/advice_page.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/views/views.h"

static void draw_line(struct grid *grid, struct grid_area area, int row, const char *line)
{
	size_t size = strcspn(line, "\n");
	char raw[1024], text[2 * sizeof(raw)];
	bool is_head = size && (line[0] != ' ' || (line[3] >= '1' && line[3] <= '9'));

	snprintf(raw, sizeof(raw), "%.*s", (int)(size < sizeof(raw) - 1 ? size : sizeof(raw) - 1), line);
	text_clean(text, sizeof(text), raw, grid->is_ascii);
	grid_text(grid, area.row + row, area.column + 1, area.columns - 1, text,
		is_head ? GRID_HEADING : GRID_TEXT);
}

static void advice_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct advice_page *page = advice_page_of(session);

	if (!page || area.rows < 1)
		return;
	if (session->is_unread || !advice_page_take(session, page)) {
		grid_text(grid, area.row, area.column + 2, area.columns - 2,
			session->is_unread ? "reading ..." : page->trouble, GRID_GREY);
		return;
	}
	if (page->top + (uint32_t)area.rows > page->count)
		page->top = page->count > (uint32_t)area.rows ? page->count - (uint32_t)area.rows : 0;
	for (uint32_t i = 0; i < (uint32_t)area.rows && page->top + i < page->count; i++)
		draw_line(grid, area, (int)i, page->lines[page->top + i]);
}

static void scroll(struct advice_page *page, int by)
{
	page->top = by < 0 && page->top < (uint32_t)-by ? 0 : page->top + (uint32_t)by; /* kept when drawn */
}

/* Of the kernel that is read about. */
static void open_code(struct session *session, const struct advice_page *page)
{
	size_t size = page->text ? strlen(page->text) + 1 : 1;
	char *kernel = malloc(size);

	if (kernel && advice_page_top_kernel(page, kernel, size))
		code_page_open(session, &view_code, kernel, &view_advice);
	else
		session_say(session, "no kernel here has instructions to show");
	free(kernel);
}

static bool advice_act(struct session *session, enum keys_action action)
{
	struct advice_page *page = advice_page_of(session);

	if (!page)
		return false;
	switch (action) {
	case KEYS_DO_DOWN:
	case KEYS_DO_UP:
		scroll(page, action == KEYS_DO_DOWN ? 1 : -1);
		return true;
	case KEYS_DO_SCROLL_DOWN:
	case KEYS_DO_PIN: /* the space bar pages */
	case KEYS_DO_SCROLL_UP:
		scroll(page, action == KEYS_DO_SCROLL_UP ? -10 : 10);
		return true;
	case KEYS_DO_WINDOW_BEGIN:
		page->top = 0;
		return true;
	case KEYS_DO_WINDOW_END:
		page->top = page->count;
		return true;
	case KEYS_DO_GAP_BACK:
	case KEYS_DO_GAP_NEXT:
		if (!advice_page_step(page, action == KEYS_DO_GAP_BACK))
			session_say(session, "that was the %s piece of advice",
				action == KEYS_DO_GAP_BACK ? "first" : "last");
		return true;
	case KEYS_DO_ENTER:
		open_code(session, page);
		return true;
	case KEYS_DO_GROUP_BY:
		page->is_all = !page->is_all;
		return true;
	default:
		return false;
	}
}

static void advice_title(struct session *session, char *out, size_t size_bytes)
{
	const struct advice_page *page = advice_page_of(session);
	char kernel[LABEL_BYTES];

	label_fit(kernel, page ? page->kernel : "", 40, LABEL_TABLE, false);
	snprintf(out, size_bytes, "%s", kernel[0] ? kernel : "all kernels");
}

static const struct view_key advice_keys[] = {{"j k  Space", "a line; a page"},
	{"[ ]", "the piece of advice before, the next one"},
	{"Enter", "the kernel's source and instructions"}, {"b", "of all kernels, or of the cursor's"},
	{NULL, NULL}};

const struct view view_advice = {.name = "Advice",
	.key = 'V',
	.draw = advice_draw,
	.act = advice_act,
	.put_title = advice_title,
	.own_keys = advice_keys,
	.hints = "j/k scroll  ] next  Enter code  b all kernels  Tab timeline"};
