/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_flame.c - the flame graph of the window (flame_page.h): callers above, callees below, a box
 * as wide as its share of the metric. With a second run, or a window that was kept, the boxes are B's: orange
 * has more than in A, blue less, grey about the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/run/run_function.h"
#include "tui/code/code_page.h"
#include "tui/models/advice_page.h"
#include "tui/models/flame_page.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/views/views.h"

#define STYLE_MORE GRID_COPY_OUT		       /* orange */
#define STYLE_LESS ((enum grid_style)(GRID_BLOCK + 4)) /* blue, or cyan of 16 colours */

/* A search leaves the colour of what it found, as `*` on the timeline does. */
static enum grid_style style_of(
	const struct session *session, const struct flame_page *page, uint32_t box, const char *name)
{
	if (page->is_match)
		return page->is_match[box] ? session_style(session, EXTENT_WORK,
						     run_function_hash(name, strlen(name)), false)
					   : GRID_MIXED;
	if (page->before) {
		int change = flame_page_change(page, box);

		return change > 0 ? STYLE_MORE : change < 0 ? STYLE_LESS : GRID_MIXED;
	}
	if (session->lit != UINT32_MAX && strcmp(run_function(session->run, session->lit)->name, name) != 0)
		return GRID_MIXED;
	return session_style(session, EXTENT_WORK, run_function_hash(name, strlen(name)), false);
}

/* Without colours: '=' code, '+' more than before, '-' less. */
static uint32_t fill_of(const struct flame_page *page, uint32_t box)
{
	int change = page->before ? flame_page_change(page, box) : 0;

	return change > 0 ? '+' : change < 0 ? '-' : '=';
}

static void draw_box(struct session *session, const struct flame_page *page, struct grid *grid, int row,
	int column, const struct flame_span *span)
{
	const struct flame_box *box = &page->flame.boxes[span->box];
	enum grid_style style = style_of(session, page, span->box, box->name);
	int cells = (int)(span->last - span->first), at = column + (int)span->first;
	char name[LABEL_BYTES];

	for (int i = 0; i < cells; i++)
		grid_put(grid, row, at + i, session->looks.colours ? ' ' : fill_of(page, span->box), style);
	grid_put(grid, row, at, grid->is_ascii ? '|' : 0x258f, style);
	if (cells > 2) {
		label_fit(name, box->name, cells - 1, LABEL_TABLE, grid->is_ascii);
		grid_text(grid, row, at + 1, cells - 1, name, style);
	}
	if (span->box == page->cursor)
		grid_mark(grid, row, at, cells, GRID_REVERSE | GRID_BOLD);
}

/* The depths on the screen, so that the one with the cursor is among them. */
static void scroll(struct flame_page *page, uint32_t rows)
{
	uint32_t depth = page->flame.boxes[page->cursor].depth;

	if (depth < page->top)
		page->top = depth;
	if (depth >= page->top + rows)
		page->top = depth - rows + 1;
}

static void flame_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct flame_page *page = flame_page_of(session);
	uint32_t columns = (uint32_t)(area.columns > 4 ? area.columns - 4 : 0);
	struct flame_span *spans;

	if (!page || area.rows < 3 || !columns)
		return;
	if (!flame_page_take(session, page)) {
		grid_text(grid, area.row + 1, 2, area.columns - 2, page->trouble, GRID_TEXT);
		return;
	}
	spans = calloc((size_t)columns + 1, sizeof(*spans));
	scroll(page, (uint32_t)area.rows);
	for (int i = 0; spans && i < area.rows; i++) {
		uint32_t depth = page->top + (uint32_t)i;
		size_t count = flame_row(&page->flame, page->zoom, depth, columns, spans);

		for (size_t s = 0; s < count; s++)
			draw_box(session, page, grid, area.row + i, 2, &spans[s]);
	}
	free(spans);
}

static void put_gone(
	char *out, size_t size_bytes, const struct session *session, const struct flame_page *page)
{
	char gone[FORMAT_NUMBER_BYTES], window[96] = "", scale[32] = "";

	if (!session->compare)
		flame_page_put_kept(session, page, window, sizeof(window));
	if (page->scale < 0.9995 || page->scale > 1.0005)
		snprintf(scale, sizeof(scale), " x %.3g", page->scale);
	format_number_short(gone, page->gone);
	snprintf(out, size_bytes, ", B against A%s%s%s%s%s", *window ? " " : "", window, scale,
		page->gone ? ", gone " : "", page->gone ? gone : "");
}

static void flame_title(struct session *session, char *out, size_t size_bytes)
{
	const struct flame_page *page = flame_page_of(session);

	char share[FORMAT_NUMBER_BYTES], found[224] = "";

	if (!page)
		return;
	format_number_share(share, page->matched, page->flame.total, 1);
	if (page->is_match)
		snprintf(found, sizeof(found), ", found %s", share);
	else if (page->before)
		put_gone(found, sizeof(found), session, page);
	snprintf(out, size_bytes, "%s%s%s%s", flame_page_metric(page),
		page->is_bottom_up ? ", bottom-up"
		: page->before	   ? ""
				   : ", top-down",
		page->zoom ? ", zoomed in" : "", found);
}

/* "solve  B 1.86 s, A 1.24 s: x 1.50". */
static void put_change(
	char *out, size_t size_bytes, const struct flame_page *page, const char *name, const char *value)
{
	uint64_t before = page->before[page->cursor];
	char text[FORMAT_NUMBER_BYTES];

	format_number_short(text, before);
	if (before)
		snprintf(out, size_bytes, "%s  B %s, A %s: x %.2f", name, value, text,
			(double)page->flame.boxes[page->cursor].value / (double)before);
	else
		snprintf(out, size_bytes, "%s  B %s, not in A", name, value);
}

static bool flame_status(struct session *session, char *out, size_t size_bytes)
{
	const struct flame_page *page = flame_page_of(session);
	char name[LABEL_BYTES], share[FORMAT_NUMBER_BYTES], self[FORMAT_NUMBER_BYTES],
		value[FORMAT_NUMBER_BYTES];
	const struct flame_box *box;

	if (!page || page->trouble[0] || !page->flame.count)
		return false;
	box = &page->flame.boxes[page->cursor];
	label_fit(name, box->name, 48, LABEL_TABLE, session->looks.is_ascii);
	format_number_short(value, box->value);
	format_number_share(share, box->value, page->flame.total, 1);
	format_number_share(self, box->self, page->flame.total, 1);
	if (page->before)
		put_change(out, size_bytes, page, name, value);
	else
		snprintf(out, size_bytes, "%s  %s  %s, itself %s", name, value, share, self);
	return true;
}

/* ---- keys ---- */

static void zoom_out(struct flame_page *page)
{
	if (page->zoom)
		page->zoom = page->flame.boxes[page->zoom].parent;
}

/* Of a kernel's box: its source and instructions. */
static bool open_code(struct session *session, const struct flame_page *page)
{
	const struct flame_box *boxes = page->flame.boxes, *box;

	if (page->trouble[0] || page->before || !page->flame.count || !advice_page_is_offered(session))
		return false;
	box = &boxes[page->cursor];
	if (box->parent == UINT32_MAX ||
		strcmp(boxes[box->parent].name, store_frame_name(STORE_FRAME_GPU_KERNEL)) != 0)
		return false;
	code_page_open(session, &view_code, box->name, &view_flame);
	return true;
}

static bool flame_act(struct session *session, enum keys_action action)
{
	struct flame_page *page = flame_page_of(session);
	uint32_t columns = session->layout.full.columns > 4 ? (uint32_t)session->layout.full.columns - 4 : 1;

	if (!page)
		return false;
	switch (action) {
	case KEYS_DO_UP:
		flame_page_up(page);
		return true;
	case KEYS_DO_DOWN:
		flame_page_down(page);
		return true;
	case KEYS_DO_LEFT:
	case KEYS_DO_RIGHT:
		flame_page_beside(page, action == KEYS_DO_LEFT, columns);
		return true;
	case KEYS_DO_ENTER:
	case KEYS_DO_ZOOM_RANGE:
		page->zoom = page->cursor;
		return true;
	case KEYS_DO_UNDO:
		zoom_out(page);
		return true;
	case KEYS_DO_WINDOW_BEGIN:
		page->zoom = page->cursor = 0;
		page->is_match = NULL;
		return true;
	case KEYS_DO_MARK:
		flame_page_keep(session, page);
		return true;
	case KEYS_DO_GROUP_BY:
		flame_page_next_metric(page);
		return true;
	case KEYS_DO_ORDER:
		page->is_bottom_up = !page->is_bottom_up;
		return true;
	case KEYS_DO_SOURCE:
		return open_code(session, page);
	case KEYS_DO_FIND_NEXT:
	case KEYS_DO_FIND_BACK:
		flame_page_find(session, action == KEYS_DO_FIND_BACK);
		return true;
	default:
		return false;
	}
}

static const struct view_key flame_keys[] = {{"arrows hjkl", "the caller, a callee, the box beside it"},
	{"Enter  u", "zoom into the box; back out"}, {"Home", "the whole graph, in all its colours"},
	{"b", "on CPU, wall time, blocked, GPU kernels"},
	{"m", "this window is A: the graph of another one is held against it"},
	{"r", "from callers to callees, or the other way"},
	{"7", "of a GPU kernel: its source and instructions"},
	{"/ n N", "light up functions by name: the title says their share"}, {NULL, NULL}};

const struct view view_flame = {.name = "Flame graph",
	.key = 'G',
	.is_whole = true,
	.draw = flame_draw,
	.act = flame_act,
	.put_title = flame_title,
	.put_status = flame_status,
	.own_keys = flame_keys,
	.hints = "arrows move  Enter zoom  u out  b metric  r reversed  m against  / find  q back"};
