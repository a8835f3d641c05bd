/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_gaps.c - the gaps of the GPUs on the screen, largest first, each with its cause; on the whole screen
 * also their number and time by size.
 */
#include <string.h>

#include "tui/models/blame_page.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/views/views.h"

#define GAPS_DECADES 6
#define GAPS_QUEUE 33 /* column of the queue */

/* ---- the list ---- */

/* Cells of the queue's name. Ranks have queues of equal names, so the rank is added where there is room. */
static int queue_cells(const struct grid *grid)
{
	return grid->columns >= 100 ? 20 : 10;
}

static void put_queue(const struct session *session, uint32_t stream, char *out, int cells)
{
	const struct store_stream *s = &run_stream(session->run, stream)->s;
	const char *label = rows_stream_label(&session->rows, stream);

	if (session->rows.rank_count && s->rank >= 0 && cells >= 20)
		snprintf(out, LABEL_BYTES, "rank %d %.200s", s->rank, label);
	else
		snprintf(out, LABEL_BYTES, "%.200s", label);
}

static void draw_gap(
	struct session *session, struct grid *grid, int row, size_t number, const struct gap *gap)
{
	uint32_t node = rows_node_of(&session->rows, gap->stream), function = UINT32_MAX;
	int queue = queue_cells(grid), code = GAPS_QUEUE + queue + 10;
	char text[LABEL_BYTES], name[LABEL_BYTES], time[FORMAT_NUMBER_BYTES];
	bool is_shorter;

	snprintf(text, sizeof(text), "%zu", number + 1);
	grid_text_right(grid, row, 1, 4, text, GRID_GREY);
	format_number_short(text, gap->end_ns - gap->begin_ns);
	grid_text_right(grid, row, 5, 11, text, GRID_TEXT);
	ruler_time(time, gap->begin_ns, 100000, session->zero);
	grid_text(grid, row, 18, 14, time, GRID_TEXT);
	if (node != UINT32_MAX) {
		put_queue(session, gap->stream, name, queue);
		label_stream(text, name, queue, grid->is_ascii);
		grid_text(grid, row, GAPS_QUEUE, queue, text, GRID_TEXT);
	}
	grid_text(grid, row, GAPS_QUEUE + queue + 1, 8, gap_cause_name(gap->cause), GRID_TEXT);
	if (gap->context)
		function = frame_function(&session->frame, gap->context, &is_shorter);
	if (function == UINT32_MAX)
		snprintf(text, sizeof(text), "%s", gap_cause_text(gap->cause));
	else
		label_fit(text, run_function(session->run, function)->name, grid->columns - code, LABEL_TABLE,
			grid->is_ascii);
	grid_text(
		grid, row, code, grid->columns - code, text, function == UINT32_MAX ? GRID_GREY : GRID_TEXT);
}

static void draw_list(struct session *session, struct blame_page *page, struct grid *grid, int row, int end)
{
	size_t count, room = end > row + 1 ? (size_t)(end - row - 1) : 0;
	const struct gap *list = gaps_list(page->gaps, &count);
	char text[96], depth[SESSION_DEPTH];
	int code;

	session_depth_text(session, depth);
	snprintf(text, sizeof(text), "code at depth %s", depth);
	grid_text(grid, row, 4, 50, "#        gap  at", GRID_HEADING);
	grid_text(grid, row, GAPS_QUEUE, queue_cells(grid), "gpu", GRID_HEADING);
	grid_text(grid, row, GAPS_QUEUE + queue_cells(grid) + 1, 8, "cause", GRID_HEADING);
	code = GAPS_QUEUE + queue_cells(grid) + 10;
	grid_text(grid, row++, code, grid->columns - code, text, GRID_HEADING);
	if (page->gap_line >= count)
		page->gap_line = count ? (uint32_t)count - 1 : 0;
	if (page->gap_line < page->gap_first)
		page->gap_first = page->gap_line;
	if (room && page->gap_line >= page->gap_first + room)
		page->gap_first = page->gap_line - (uint32_t)room + 1;
	for (size_t i = page->gap_first; i < count && i < page->gap_first + room; i++, row++) {
		draw_gap(session, grid, row, i, &list[i]);
		if (i == page->gap_line && session->focus == &view_gaps)
			grid_put(grid, row, 0, '>', GRID_HEADING);
	}
	if (count == 0)
		grid_text(grid, row, 4, grid->columns - 4,
			"No gap is that long here; :min lists shorter ones.", GRID_GREY);
}

/* ---- by size ---- */

/* Classes of powers of two, put together by decades: a class belongs to the decade it begins in. */
static void draw_sizes(const struct blame_page *page, struct grid *grid, int row)
{
	static const char *const names[GAPS_DECADES] = {
		"< 10 us", "10-100 us", "0.1-1 ms", "1-10 ms", "10-100 ms", "> 100 ms"};
	const struct gap_class *classes = gaps_classes(page->gaps);
	struct gap_class decades[GAPS_DECADES] = {{0}};
	uint64_t most_ns = 1;
	char text[64];

	for (int i = 0; i < GAP_CLASSES; i++) {
		double begin_ns = (double)((uint64_t)1 << i);
		int decade = begin_ns < 1e4   ? 0
			     : begin_ns < 1e5 ? 1
			     : begin_ns < 1e6 ? 2
			     : begin_ns < 1e7 ? 3
			     : begin_ns < 1e8 ? 4
					      : 5;
		decades[decade].count += classes[i].count;
		decades[decade].time_ns += classes[i].time_ns;
	}
	for (int i = 0; i < GAPS_DECADES; i++)
		most_ns = decades[i].time_ns > most_ns ? decades[i].time_ns : most_ns;
	for (int i = 0; i < GAPS_DECADES; i++, row++) {
		int filled = (int)((double)decades[i].time_ns / (double)most_ns * (grid->columns - 46));
		grid_text(grid, row, 2, 12, names[i], GRID_TEXT);
		snprintf(text, sizeof(text), "%llu gap%s", (unsigned long long)decades[i].count,
			decades[i].count == 1 ? " " : "s");
		grid_text_right(grid, row, 14, 14, text, GRID_TEXT);
		format_number_short(text, decades[i].time_ns);
		grid_text_right(grid, row, 28, 12, text, GRID_TEXT);
		for (int k = 0; k < filled; k++)
			grid_put(grid, row, 42 + k, grid->is_ascii ? '*' : 0x2588, GRID_HEADING);
	}
}

static void gaps_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct blame_page *page = blame_page_of(session);
	int end = area.row + area.rows;

	if (!page || area.rows < 3)
		return;
	if (session->is_unread || !blame_page_take_gaps(session, page)) {
		grid_text(grid, area.row, 2, area.columns - 2,
			session->is_unread ? "reading ..." : page->trouble, GRID_GREY);
		return;
	}
	if (area.rows >= 16) {
		end -= GAPS_DECADES + 1;
		for (int i = 0; i < grid->columns; i++)
			grid_put(grid, end, i, 0x2500, GRID_GREY);
		grid_text(grid, end, 2, grid->columns - 2, " how many gaps, how much time, by size about ",
			GRID_GREY);
		draw_sizes(page, grid, end + 1);
	}
	draw_list(session, page, grid, area.row, end);
}

/* ---- keys ---- */

static bool gaps_act(struct session *session, enum keys_action action)
{
	struct blame_page *page = blame_page_of(session);
	size_t count = 0;
	const struct gap *list = page && page->gaps ? gaps_list(page->gaps, &count) : NULL;

	if (!page)
		return false;
	switch (action) {
	case KEYS_DO_UP:
		page->gap_line -= page->gap_line > 0;
		return true;
	case KEYS_DO_DOWN:
		page->gap_line += page->gap_line + 1 < count;
		return true;
	case KEYS_DO_SCROLL_UP:
		page->gap_line -= page->gap_line < 10 ? page->gap_line : 10;
		return true;
	case KEYS_DO_SCROLL_DOWN:
		page->gap_line += 10;
		return true;
	case KEYS_DO_ENTER:
		if (page->gap_line < count)
			blame_page_go_to_gap(session, &list[page->gap_line]);
		return true;
	default:
		return false;
	}
}

static void gaps_title(struct session *session, char *out, size_t size_bytes)
{
	struct blame_page *page = blame_page_of(session);
	char least[FORMAT_NUMBER_BYTES], idle[FORMAT_NUMBER_BYTES];
	size_t count = 0;

	out[0] = '\0';
	if (!page || !page->gaps)
		return;
	gaps_list(page->gaps, &count);
	format_number_short(least, page->min_ns);
	format_number_short(idle, page->idle.idle_ns);
	snprintf(out, size_bytes, "GPU gaps >= %s: %zu of %s idle", least, count, idle);
}

static const struct view_key gaps_keys[] = {{"j k", "the next gap, the one before"},
	{"Enter", "the gap on the timeline"}, {":min 10us", "shorter ones are counted, not listed"},
	{NULL, NULL}};

const struct view view_gaps = {.name = "Gaps",
	.key = '5',
	.draw = gaps_draw,
	.act = gaps_act,
	.put_title = gaps_title,
	.own_keys = gaps_keys,
	.hints = "j/k gap  Enter show on timeline  :min 10us"};
