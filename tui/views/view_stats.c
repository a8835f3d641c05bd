/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_stats.c - the table of stats_page.h: a line's key, time, share and records, and a bar of its share.
 */
#include <string.h>

#include "tui/models/stats_page.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/views/views.h"

/* The key in so many cells; what waits says so. */
static void put_key(struct session *session, char *out, const struct sums_line *sum, int cells, bool is_ascii)
{
	static const char waiting[] = "  (waiting)";
	char scratch[LABEL_BYTES];
	struct arena arena = {0};
	const char *raw = stats_page_key(session, sum, scratch, &arena);
	int room = cells - (sum->state == EXTENT_SYNC && sum->id != UINT64_MAX ? (int)strlen(waiting) : 0);

	if (!raw)
		raw = "";
	if (session->stats.by == STATS_PATH || session->stats.by == STATS_MODULE ||
		session->stats.by == STATS_LINE || session->stats.by == STATS_STREAM ||
		(session->stats.by >= STATS_LOOP && session->stats.by != STATS_SCRIPT))
		label_stream(out, raw, room, is_ascii);
	else
		label_fit(out, raw, room, LABEL_TABLE, is_ascii);
	if (room < cells)
		strcat(out, waiting);
	arena_fini(&arena);
}

/* ---- drawing ---- */

/* Columns of the table, by the width there is (mocks 1 and 2). */
struct table {
	int glyph, key, key_cells, time_end, share_end, records_end, bar, bar_cells;
};

static struct table lay_table(int columns)
{
	int key = columns >= 160 ? 64 : 40,
	    rest = columns - key - 80; /* beyond mock 1's width: longer bars */

	if (columns >= 120)
		return (struct table){
			2, 4, key, key + 15, key + 24, key + 33, key + 35, 38 + (rest > 0 ? rest : 0)};
	if (columns >= 100)
		return (struct table){
			2, 4, columns - 80, columns - 65, columns - 56, columns - 47, columns - 45, 38};
	return (struct table){0, 2, columns - 46, columns - 33, columns - 25, columns - 16, columns - 15, 15};
}

static void put_bar(struct grid *grid, int row, const struct table *table, uint64_t part, uint64_t whole,
	enum grid_style style)
{
	int eighths = whole ? (int)((double)part / (double)whole * table->bar_cells * 8 + 0.5) : 0;
	int at = table->bar;

	for (; eighths >= 8; eighths -= 8)
		grid_put(grid, row, at++, grid->is_ascii ? '*' : 0x2588, style);
	if (eighths)
		grid_put(grid, row, at,
			grid->is_ascii ? (eighths >= 4 ? '*' : ' ') : (uint32_t)(0x2590 - eighths), style);
}

static void draw_numbers(struct grid *grid, int row, const struct table *table, const struct sums_line *sum,
	uint64_t total_ns, struct format_number_unit unit)
{
	char text[FORMAT_NUMBER_BYTES];

	format_number_in(text, sum->time_ns, unit);
	grid_text_right(grid, row, table->key + table->key_cells,
		table->time_end - table->key - table->key_cells, text, GRID_TEXT);
	format_number_share(text, sum->time_ns, total_ns, 1);
	grid_text_right(grid, row, table->time_end, table->share_end - table->time_end, text, GRID_TEXT);
}

static void draw_line(struct session *session, struct grid *grid, int row, const struct table *table,
	const struct sums_line *sum, const struct stats_page *page, struct format_number_unit unit)
{
	char text[LABEL_BYTES];
	bool is_work = stats_page_is_work(sum);
	uint64_t hash = sum->function == UINT32_MAX ? 0 : run_function(session->run, sum->function)->hash;
	uint32_t glyph = (uint32_t)extent_state_glyph(sum->state);
	enum grid_style style = extent_state_is_busy(sum->state)
					? session_style(session, sum->state, hash, false)
				: sum->state == EXTENT_SYNC ? GRID_WARNING
				: sum->state == EXTENT_LOST ? GRID_ERROR
							    : GRID_GREY;

	grid_put(grid, row, table->glyph, glyph, style);
	put_key(session, text, sum, table->key_cells, grid->is_ascii);
	grid_text(grid, row, table->key, table->key_cells, text, GRID_TEXT);
	draw_numbers(grid, row, table, sum, page->lived_ns, unit);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)sum->records);
	grid_text_right(grid, row, table->share_end, table->records_end - table->share_end, text, GRID_TEXT);
	/* States often have most of the time: work is measured by the work there is. */
	if (is_work)
		put_bar(grid, row, table, sum->time_ns, page->work_ns, GRID_HEADING);
	else
		put_bar(grid, row, table, sum->time_ns, page->lived_ns, GRID_GREY);
}

static void draw_heading(struct session *session, struct grid *grid, int row, const struct table *table)
{
	static const char *const marks[3][3] = {{" v", "", ""}, {"", " v", ""}, {"", "", " v"}};
	bool is_wide = table->bar_cells > 20 && table->key_cells > 32;
	const char *const *mark = marks[session->stats.sort];
	char text[96], depth[SESSION_DEPTH];

	session_depth_text(session, depth);
	if (session->stats.by == STATS_FUNCTION)
		snprintf(text, sizeof(text), "context, depth %s%s", depth, is_wide ? " (or a state)" : "");
	else
		snprintf(text, sizeof(text), "%s%s", stats_by_name((enum stats_by)session->stats.by),
			is_wide ? " (or a state)" : "");
	strcat(text, mark[2]);
	grid_text(grid, row, table->key, table->key_cells, text, GRID_HEADING);
	grid_text_right(grid, row, table->time_end - 10, 7, "time", GRID_HEADING);
	grid_text_right(grid, row, table->share_end - 8, 7, "share", GRID_HEADING);
	snprintf(text, sizeof(text), "records%s", mark[1]);
	grid_text_right(grid, row, table->records_end - 9, 9, text, GRID_HEADING);
	if (is_wide)
		grid_text(grid, row, table->bar, 48, "share of all work; of a state: of all life",
			GRID_HEADING);
}

/* The rest in one line, and what all lines come to. */
static void draw_rest(struct session *session, struct grid *grid, int row, const struct table *table,
	const struct sums_line *rest, size_t rest_count, const struct stats_page *page,
	struct format_number_unit unit)
{
	char all[FORMAT_NUMBER_BYTES], window[FORMAT_NUMBER_BYTES], absent[FORMAT_NUMBER_BYTES], text[256],
		more[320];

	format_number_in(all, page->lived_ns, unit);
	format_number_in(absent, page->absent_ns, unit);
	format_number_in(window, session->frame.end_ns - session->frame.begin_ns, unit);
	snprintf(text, sizeof(text), "all lines: %s%s%s = %u stream%s x %s", all,
		page->absent_ns ? " + absent " : "", page->absent_ns ? absent : "", page->streams,
		page->streams == 1 ? "" : "s", window);
	if (table->bar + text_cells(text) > grid->columns) { /* no room beside the numbers */
		format_number_in(all, rest->time_ns, unit);
		snprintf(more, sizeof(more), "%zu more: %s; %s", rest_count, all, text);
		grid_text(grid, row, table->key, grid->columns - table->key, rest_count ? more : text,
			GRID_GREY);
		return;
	}
	grid_text(grid, row, table->bar, grid->columns - table->bar, text, GRID_GREY);
	if (!rest_count)
		return;
	snprintf(more, sizeof(more), "%zu more", rest_count);
	grid_text(grid, row, table->key, table->key_cells, more, GRID_GREY);
	draw_numbers(grid, row, table, rest, page->lived_ns, unit);
}

/* Lines [first, first + room) so that the line with the cursor is among them. */
static size_t scroll(struct session *session, size_t count, size_t room)
{
	struct session_stats *stats = &session->stats;

	if (stats->line >= count)
		stats->line = count ? (uint32_t)count - 1 : 0;
	if (stats->line < stats->first)
		stats->first = stats->line;
	if (room && stats->line >= stats->first + room)
		stats->first = stats->line - (uint32_t)room + 1;
	if (stats->first + room > count)
		stats->first = count > room ? (uint32_t)(count - room) : 0;
	return stats->first;
}

static void draw_table(
	struct session *session, struct grid *grid, struct grid_area area, const struct stats_page *page)
{
	const struct sums_line *lines = page->lines;
	struct table table = lay_table(area.columns);
	bool has_rest = area.rows >= 10;
	size_t count = page->lived_count, room = (size_t)(area.rows - 1 - has_rest);
	size_t first = scroll(session, count, room), shown = 0;
	struct sums_line rest = {0};
	struct format_number_unit unit;
	uint64_t most_ns = 0;

	for (size_t i = 0; i < count; i++)
		most_ns = lines[i].time_ns > most_ns ? lines[i].time_ns : most_ns;
	unit = format_number_unit_for(most_ns);
	draw_heading(session, grid, area.row, &table);
	for (size_t i = first; i < count && i < first + room; i++, shown++) {
		int row = area.row + 1 + (int)(i - first);
		draw_line(session, grid, row, &table, &lines[i], page, unit);
		if (session->focus == &view_stats && i == session->stats.line) {
			grid_put(grid, row, table.glyph ? 0 : table.glyph + 1, '>', GRID_HEADING);
			grid_mark(grid, row, table.key, table.key_cells, GRID_BOLD);
		}
	}
	for (size_t i = 0; i < count; i++)
		rest.time_ns += i < first || i >= first + shown ? lines[i].time_ns : 0;
	if (has_rest)
		draw_rest(session, grid, area.row + area.rows - 1, &table, &rest, count - shown, page, unit);
}

static void stats_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct stats_page page;

	if (area.rows < 2)
		return;
	if (session->is_unread) {
		grid_text(grid, area.row, area.column + 2, area.columns - 2, "reading ...", GRID_GREY);
		return;
	}
	if (!stats_page_take(session, &page))
		return;
	if (page.streams)
		draw_table(session, grid, area, &page);
	else
		grid_text(grid, area.row, area.column + 2, area.columns - 2, SESSION_NO_STREAM, GRID_GREY);
	stats_page_fini(&page);
}

/* ---- keys ---- */

static bool stats_act(struct session *session, enum keys_action action)
{
	struct session_stats *stats = &session->stats;

	switch (action) {
	case KEYS_DO_UP:
		stats->line -= stats->line > 0;
		return true;
	case KEYS_DO_DOWN:
		stats->line++; /* kept in the table when it is drawn */
		return true;
	case KEYS_DO_WINDOW_BEGIN:
		stats->line = 0;
		return true;
	case KEYS_DO_SCROLL_DOWN:
		stats->line += 10;
		return true;
	case KEYS_DO_SCROLL_UP:
		stats->line -= stats->line < 10 ? stats->line : 10;
		return true;
	case KEYS_DO_ENTER:
		stats_page_go(session);
		return true;
	default:
		return false;
	}
}

static const struct view_key stats_keys[] = {{"j k", "the next line, the one before"},
	{"b", "by function, path, module, line, stream, operation ..."},
	{"< >", "sort by time, records, name"}, {"Enter", "the longest place of the line on the screen"},
	{"Tab", "to the next pane"}, {NULL, NULL}};

const struct view view_stats = {.name = "Statistics",
	.key = '1',
	.draw = stats_draw,
	.act = stats_act,
	.own_keys = stats_keys,
	.hints = "j/k line  Enter its place  b group by  < > sort  Tab next pane"};
