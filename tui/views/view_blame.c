/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_blame.c - idle time of the GPUs of the processes on the screen, divided among the threads that worked
 * meanwhile; with `i` what their CPU threads wait in, for what and for whom, the kernels they wait for, who
 * came last where threads or ranks meet, and what the holders of locks did. Lines sum to the time above them.
 */
#include <string.h>

#include "tui/models/blame_page.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/views/views.h"

/* ---- where the window went ---- */

static void draw_bar(struct grid *grid, int row, const char *name, uint64_t part, uint64_t whole,
	struct format_number_unit unit)
{
	int cells = grid->columns >= 100 ? 40 : 12, at = 2 + 44, filled;
	char text[FORMAT_NUMBER_BYTES];

	grid_text(grid, row, 2, 43, name, GRID_TEXT);
	filled = whole ? (int)((double)part / (double)whole * cells + 0.5) : 0;
	for (int i = 0; i < filled; i++)
		grid_put(grid, row, at + i, grid->is_ascii ? '*' : 0x2588, GRID_HEADING);
	format_number_in(text, part, unit);
	grid_text_right(grid, row, at, cells + 12, part && filled + 12 > cells + 12 ? "" : text, GRID_TEXT);
	format_number_share(text, part, whole, 1);
	grid_text_right(grid, row, at + cells + 12, 9, text, GRID_TEXT);
}

static int draw_parts(const struct blame_page *page, struct grid *grid, int row)
{
	const struct idle *idle = &page->idle;
	struct format_number_unit unit = format_number_unit_for(idle->window_ns);

	grid_text(grid, row++, 0, grid->columns,
		"Where the time of the GPUs went (processes with a GPU x window)", GRID_HEADING);
	draw_bar(grid, row++, "kernels compute", idle->kernel_ns, idle->window_ns, unit);
	draw_bar(grid, row++, "only kernels that communicate", idle->comm_ns, idle->window_ns, unit);
	draw_bar(grid, row++, "only copies and sets", idle->copy_ns, idle->window_ns, unit);
	draw_bar(grid, row++, "idle while CPU code of the process runs", idle->blamed_ns, idle->window_ns,
		unit);
	draw_bar(grid, row++,
		idle->unexplained_ns * 2 > idle->all_idle_ns ? "idle, and no thread is known to work"
							     : "idle, every thread of the process waits",
		idle->all_idle_ns, idle->window_ns, unit);
	draw_bar(grid, row++, "not known: lost or unmonitored", idle->unknown_ns, idle->window_ns, unit);
	return row + 1;
}

/* ---- causes ---- */

/* ';' between frames reads as '/'. */
static void put_key(char *out, const char *key, enum row_key_by by, int cells, bool is_ascii)
{
	char raw[LABEL_BYTES];
	size_t used = 0;

	for (; *key && used + 2 < sizeof(raw); key++) {
		bool is_between = (by == ROW_KEY_PATH || by == ROW_KEY_INLINE) && *key == ';' &&
				  (used == 0 || raw[used - 1] != '\\');
		raw[used++] = is_between ? '/' : *key;
	}
	raw[used] = '\0';
	if (by == ROW_KEY_FUNCTION || by == ROW_KEY_SCRIPT)
		label_fit(out, raw, cells, LABEL_TABLE, is_ascii);
	else
		label_stream(out, raw, cells, is_ascii);
}

static void draw_line(struct grid *grid, int row, int key_cells, const char *key, uint64_t time_ns,
	uint64_t total_ns, struct format_number_unit unit)
{
	char text[FORMAT_NUMBER_BYTES];

	grid_text(grid, row, 4, key_cells, key, GRID_TEXT);
	format_number_in(text, time_ns, unit);
	grid_text_right(grid, row, 4 + key_cells, 12, text, GRID_TEXT);
	format_number_share(text, time_ns, total_ns, 1);
	grid_text_right(grid, row, 16 + key_cells, 9, text, GRID_TEXT);
}

static uint32_t scroll(struct blame_page *page, uint32_t room)
{
	uint32_t count = (uint32_t)page->rows.count;

	if (page->line >= count)
		page->line = count ? count - 1 : 0;
	if (page->line < page->first)
		page->first = page->line;
	if (page->line >= page->first + room)
		page->first = page->line - room + 1;
	return page->first;
}

/* Its rows are streams, and no key of code. */
static bool is_of_streams(const struct blame_page *page)
{
	return page->of == BLAME_CAUSES || page->of == BLAME_LATE;
}

/* Wide enough for what is shown, as far as there is room; on all but wide screens the same for all. */
static int key_width(const struct blame_page *page, uint32_t first, uint32_t room, const struct grid *grid)
{
	int most = grid->columns - 30 < 120 ? grid->columns - 30 : 120, widest = most < 72 ? most : 72;
	char text[LABEL_BYTES];

	for (uint32_t i = first; i < page->rows.count && i < first + room && widest < most; i++) {
		text_clean(text, sizeof(text), page->rows.rows[i].key, grid->is_ascii);
		widest = text_cells(text) > widest ? text_cells(text) : widest;
	}
	return widest < most ? widest : most;
}

static void draw_causes(struct session *session, struct blame_page *page, struct grid *grid, int row, int end)
{
	static const char *const heads[] = {"blamed CPU code", "what threads wait in",
		"what and whom threads wait for", "kernels waited for", "who came last",
		"what the holders of locks did"};
	static const char *const rests[] = {
		"<nobody active>", "<unknown wait>", "", "<no kernel>", "<not told>", "<unknown holder>"};
	struct format_number_unit unit = format_number_unit_for(page->whole_ns);
	int key_cells;
	uint32_t room, first;
	enum row_key_by by = is_of_streams(page) ? ROW_KEY_MODULE : page->by;
	char depth[SESSION_DEPTH];
	char text[LABEL_BYTES];

	session_depth_text(session, depth);
	room = end - row > 3 ? (uint32_t)(end - row - 3) : 1;
	first = scroll(page, room);
	key_cells = key_width(page, first, room, grid);
	if (page->of == BLAME_CAUSES)
		snprintf(text, sizeof(text), "%s", heads[page->of]);
	else if (page->of == BLAME_LATE)
		snprintf(
			text, sizeof(text), "%s at barriers, collective calls and messages", heads[page->of]);
	else
		snprintf(text, sizeof(text), "%s by %s at depth %s", heads[page->of],
			blame_page_name_by(page->by), depth);
	grid_text(grid, row, 4, key_cells, text, GRID_HEADING);
	grid_text_right(
		grid, row, 4 + key_cells, 12, page->of == BLAME_GPU_IDLE ? "blame" : "time", GRID_HEADING);
	if (!page->rows.count && !page->rest_ns && page->of >= BLAME_LATE) {
		grid_text(grid, row + 1, 4, grid->columns - 4,
			page->of == BLAME_LATE ? "No two threads or ranks met here, or the records do not "
						 "tell who came last."
					       : "No thread waited for a lock here, as far as libc tells.",
			GRID_GREY);
		return;
	}
	grid_text_right(grid, row++, 16 + key_cells, 9, "share", GRID_HEADING);
	for (uint32_t i = first; i < page->rows.count && i < first + room; i++, row++) {
		put_key(text, page->rows.rows[i].key, by, key_cells, grid->is_ascii);
		draw_line(grid, row, key_cells, text, page->rows.rows[i].time_ns, page->whole_ns, unit);
		if (i == page->line && session->focus == &view_blame)
			grid_put(grid, row, 2, '>', GRID_HEADING);
	}
	if (row < end && (page->rest_ns || page->of == BLAME_GPU_IDLE || page->of == BLAME_WAITED))
		draw_line(grid, row++, key_cells, rests[page->of], page->rest_ns, page->whole_ns, unit);
	if (row < end) {
		snprintf(text, sizeof(text), "sum of these and %zu more",
			page->rows.count > room ? page->rows.count - room : 0);
		draw_line(grid, row, key_cells, page->rows.count > room ? text : "sum", page->whole_ns,
			page->whole_ns, unit);
	}
}

/* The key line is the timeline's as long as the pane has not the focus; these two keys work all the same. */
static void draw_hint(struct grid *grid, int row, int behind)
{
	static const char hint[] = "i: for whom, who came last ...  b: by function ...";
	int cells = (int)sizeof(hint) - 1;

	if (behind + 2 + cells <= grid->columns)
		grid_text(grid, row, grid->columns - cells, cells, hint, GRID_GREY);
}

static void draw_head(const struct blame_page *page, struct grid *grid, int row)
{
	uint64_t known_ns, unknown_ns;
	char text[LABEL_BYTES], idle_text[FORMAT_NUMBER_BYTES], known[FORMAT_NUMBER_BYTES],
		share[FORMAT_NUMBER_BYTES], unknown[FORMAT_NUMBER_BYTES];

	if (page->of >= BLAME_LATE || page->of == BLAME_CAUSES) {
		format_number_short(idle_text, page->whole_ns);
		snprintf(text, sizeof(text),
			page->of == BLAME_LATE	   ? "%s of waiting for those who came last, together"
			: page->of == BLAME_CAUSES ? "CPU threads wait: %s, also for a core, together"
						   : "CPU threads wait for locks: %s, together",
			idle_text);
		draw_hint(grid, row, grid_text(grid, row, 0, grid->columns, text, GRID_TEXT));
		return;
	}
	switch (page->of) {
	case BLAME_WAITING:
		unknown_ns = page->threads.unknown_ns;
		known_ns = page->threads.window_ns - page->threads.absent_ns - unknown_ns;
		break;
	case BLAME_WAITED:
		known_ns = page->wait.monitored_ns;
		unknown_ns = page->wait.window_ns - known_ns;
		break;
	default:
		unknown_ns = page->idle.unknown_ns;
		known_ns = page->idle.window_ns - unknown_ns;
	}
	format_number_short(idle_text, page->whole_ns);
	format_number_short(known, known_ns);
	format_number_share(share, page->whole_ns, known_ns, 1);
	format_number_short(unknown, unknown_ns);
	snprintf(text, sizeof(text), "%s: %s of %s known (%s); %s not known",
		page->of == BLAME_GPU_IDLE  ? "GPU idle"
		: page->of == BLAME_WAITING ? "CPU threads wait"
					    : "CPU threads synchronize",
		idle_text, known, share, unknown);
	draw_hint(grid, row, grid_text(grid, row, 0, grid->columns, text, GRID_TEXT));
}

static void blame_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct blame_page *page = blame_page_of(session);
	int row = area.row, end = area.row + area.rows;

	if (!page || area.rows < 3)
		return;
	if (session->is_unread || !blame_page_take(session, page)) {
		grid_text(grid, row, 2, area.columns - 2, session->is_unread ? "reading ..." : page->trouble,
			GRID_GREY);
		return;
	}
	if (area.rows >= 20 && page->of == BLAME_GPU_IDLE)
		row = draw_parts(page, grid, row);
	draw_head(page, grid, row++);
	if (area.rows >= 10)
		row++;
	draw_causes(session, page, grid, row, end);
}

/* ---- keys ---- */

/* The largest gap that the line's function is charged with most of. */
static void go_to_cause(struct session *session, struct blame_page *page)
{
	uint32_t wanted, function;
	bool is_shorter;
	size_t count;
	const struct gap *list;

	if (is_of_streams(page) && page->line < page->rows.count) {
		if (page->row_streams[page->line] == CAUSE_NOBODY)
			session_say(session, "no record tells who that was, or nobody was");
		else if (session_go_to(session, page->row_streams[page->line], session->state.cursor_ns))
			session_go_home(session);
		return;
	}
	if (page->of != BLAME_GPU_IDLE) {
		session_say(session, "gaps are of GPUs: i goes there; / finds a function on the timeline");
		return;
	}
	if (!blame_page_take_gaps(session, page) || !page->gaps || page->line >= page->rows.count)
		return;
	list = gaps_list(page->gaps, &count);
	wanted = frame_function(&session->frame, page->rows.rows[page->line].context, &is_shorter);
	for (size_t i = 0; i < count; i++) {
		function = list[i].context ? frame_function(&session->frame, list[i].context, &is_shorter)
					   : UINT32_MAX;
		if (function != wanted || function == UINT32_MAX)
			continue;
		blame_page_go_to_gap(session, &list[i]);
		return;
	}
	session_say(session, "it has no gap of its own here: others had the larger part of each");
}

static bool blame_act(struct session *session, enum keys_action action)
{
	struct blame_page *page = blame_page_of(session);

	if (!page)
		return false;
	switch (action) {
	case KEYS_DO_UP:
		page->line -= page->line > 0;
		return true;
	case KEYS_DO_DOWN:
		page->line += page->line + 1 < page->rows.count;
		return true;
	case KEYS_DO_GROUP_BY:
		page->by = (enum row_key_by)((page->by + 1) % (ROW_KEY_SCRIPT + 1));
		page->line = page->first = 0;
		return true;
	case KEYS_DO_IDLE_OF:
		blame_page_next_of(session, page);
		return true;
	case KEYS_DO_ENTER:
		go_to_cause(session, page);
		return true;
	default:
		return false;
	}
}

static const struct view_key blame_keys[] = {{"j k", "the next line, the one before"},
	{"b", "by function, path, module, line ..."},
	{"i", "idle GPUs; what threads wait in, for whom; kernels; latecomers; lock holders"},
	{"Enter", "the largest gap that the line causes; the row of who is waited for, or came last"},
	{NULL, NULL}};

const struct view view_blame = {.name = "Blame",
	.key = '2',
	.draw = blame_draw,
	.act = blame_act,
	.own_keys = blame_keys,
	.hints = "j/k line  Enter largest gap  b by function/path/line  i next question"};
