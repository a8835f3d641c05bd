/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_profile.c - the profile as a tree with metrics: top-down, bottom-up or flat; of the window and all
 * rows, or of the whole run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/path.h"
#include "timeline/report/report.h"
#include "tui/models/plot.h"
#include "tui/models/profile_page.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/views/views.h"

#define PROFILE_COLUMN 22    /* cells of a metric */
#define PROFILE_SCOPE_MIN 30 /* cells that the names keep */

/* Places of the columns. */
struct table {
	size_t columns[OUTLINE_COLUMNS];
	size_t count;
	int scope; /* cells of the names */
};

static struct table lay_table(struct profile_page *page, int width)
{
	struct table table = {.scope = width};
	size_t visible[OUTLINE_COLUMNS], count = outline_shown(&page->outline, visible), at = 0;
	int names = page->name_cells ? page->name_cells : PROFILE_SCOPE_MIN;
	size_t room = width > names ? (size_t)(width - names) / PROFILE_COLUMN : 0;

	if (page->seen_sort != page->outline.sort || page->seen >= page->outline.column_count)
		page->seen = page->seen_sort = page->outline.sort;
	for (size_t i = 0; i < count; i++)
		if (visible[i] == page->seen)
			at = i;
	if (at < page->first_column)
		page->first_column = at;
	if (room && at >= page->first_column + room)
		page->first_column = at - room + 1;
	for (size_t i = page->first_column; i < count && table.count < room; i++)
		table.columns[table.count++] = visible[i];
	table.scope = width - (int)table.count * PROFILE_COLUMN;
	if (page->name_cells && page->name_cells < table.scope)
		table.scope = page->name_cells;
	return table;
}

/* ---- one line ---- */

static void draw_scope(const struct profile_page *page, struct grid *grid, int row,
	const struct outline_line *line, int width)
{
	const struct outline *outline = &page->outline;
	int indent = 1 + 2 * (int)line->level, most = width / 2;
	char text[LABEL_BYTES], depth[16];

	if (indent > most) {
		snprintf(depth, sizeof(depth), "%u:", line->level);
		indent = most;
		grid_text(grid, row, indent - (int)strlen(depth), (int)strlen(depth), depth, GRID_GREY);
	}
	if (outline_has_children(outline, line->row))
		grid_put(grid, row, indent, outline_is_open(outline, line->row) ? 0x25be : 0x25b8, GRID_TEXT);
	profile_page_row_name(&outline->profile.rows[line->row], text, width - indent - 3, grid->is_ascii);
	grid_text(grid, row, indent + 2, width - indent - 3, text, GRID_TEXT);
	if (outline_is_hot(outline, line->row)) {
		grid_put(grid, row, 0, '*', GRID_HEADING);
		grid_mark(grid, row, indent + 2, text_cells(text), GRID_BOLD);
	}
}

/* It was looked at when it was given (profile_set_format). */
static void put_formatted(char *out, size_t size_bytes, const char *format, double value)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(out, size_bytes, format, value);
#pragma GCC diagnostic pop
}

static void draw_value(const struct outline *outline, struct grid *grid, int row, int at, size_t column,
	uint32_t profile_row)
{
	const struct outline_column *c = &outline->columns[column];
	double value = outline_value(outline, profile_row, column);
	/* exclusive values are shares of the same whole as inclusive ones */
	double root = outline_value(outline, 0, c->kind == OUTLINE_EXCLUSIVE ? column - 1 : column);
	char text[FORMAT_NUMBER_BYTES + 1];

	if (isnan(value) || value == 0)
		return;
	if (c->format[0]) {
		put_formatted(text, sizeof(text), c->format, value);
	} else if (c->is_time) {
		/* differences stand in the unit of what they are of */
		double whole = c->has_percent ? root : outline_value(outline, 0, 0);
		text[0] = '-';
		format_number_in(
			text + (value < 0), (uint64_t)fabs(value), format_number_unit_for((uint64_t)whole));
	} else if (c->is_bytes) {
		text[0] = '-';
		report_human_size(text + (value < 0), (uint64_t)fabs(value));
	} else if (fabs(value) < 1e7 && value == floor(value))
		snprintf(text, sizeof(text), "%.0f", value);
	else
		snprintf(text, sizeof(text), "%.4g", value);
	grid_text_right(grid, row, at, PROFILE_COLUMN - 6, text, GRID_TEXT);
	if (!c->has_percent || root == 0 || isnan(root))
		return;
	snprintf(text, sizeof(text), "%5.1f", value / root * 100);
	grid_text_right(grid, row, at + PROFILE_COLUMN - 6, 6, text, GRID_GREY);
}

static void draw_heading(
	const struct profile_page *page, struct grid *grid, int row, const struct table *table)
{
	grid_text(grid, row, 0, table->scope, "scope", GRID_HEADING);
	for (size_t i = 0; i < table->count; i++) {
		const struct outline_column *c = &page->outline.columns[table->columns[i]];
		char text[LABEL_BYTES + 32], name[LABEL_BYTES], number[16];
		bool is_sorted = table->columns[i] == page->outline.sort;
		int cells = snprintf(number, sizeof(number), "$%zu ", table->columns[i]);

		label_stream(name, outline_title(c), PROFILE_COLUMN - 3 - cells, grid->is_ascii);
		snprintf(text, sizeof(text), "%s%s%s", number, name,
			is_sorted ? page->outline.is_ascending ? " ^" : " v" : "");
		grid_text_right(grid, row, table->scope + (int)i * PROFILE_COLUMN, PROFILE_COLUMN, text,
			GRID_HEADING);
	}
}

static size_t scroll(struct profile_page *page, size_t line, size_t room)
{
	if (line < page->first)
		page->first = line;
	if (room && line >= page->first + room)
		page->first = line - room + 1;
	if (page->first + room > page->outline.line_count)
		page->first = page->outline.line_count > room ? page->outline.line_count - room : 0;
	return page->first;
}

static void draw_tree(struct profile_page *page, struct grid *grid, struct grid_area area)
{
	struct table table = lay_table(page, area.columns);
	size_t cursor = profile_page_line(page), room = area.rows > 1 ? (size_t)area.rows - 1 : 0;
	size_t first = scroll(page, cursor, room);

	draw_heading(page, grid, area.row, &table);
	for (size_t i = first; i < page->outline.line_count && i < first + room; i++) {
		const struct outline_line *line = &page->outline.lines[i];
		int row = area.row + 1 + (int)(i - first);

		draw_scope(page, grid, row, line, table.scope);
		for (size_t c = 0; c < table.count; c++)
			draw_value(&page->outline, grid, row, table.scope + (int)c * PROFILE_COLUMN,
				table.columns[c], line->row);
		if (i == cursor)
			grid_put(grid, row, 0, '>', GRID_HEADING);
	}
}

/* Legend of the marks, and the full name of the cursor's scope. */
static void draw_foot(const struct profile_page *page, struct grid *grid, int row)
{
	uint32_t at = outline_find_hash(&page->outline, page->cursor);
	char text[LABEL_BYTES + 16], name[LABEL_BYTES];
	const struct profile_row *r;

	snprintf(text, sizeof(text),
		page->outline.hot_count ? "* hot path: each child has at least %.0f %% of its parent's %s"
					: "P hot path (%.0f %%)  [I] inlined  (I) inclusive  (E) exclusive",
		page->hot_share * 100, page->outline.columns[page->outline.sort].name);
	grid_text(grid, row, 0, grid->columns, text, GRID_GREY);
	if (at == UINT32_MAX)
		return;
	r = &page->outline.profile.rows[at];
	text_clean(name, sizeof(name), r->name, grid->is_ascii);
	snprintf(text, sizeof(text), "full name: %s", name);
	grid_text(grid, row + 1, 0, grid->columns, text, GRID_TEXT);
}

static void profile_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct profile_page *page = profile_page_of(session);
	int source;

	if (!page || area.rows < 4)
		return;
	if (!profile_page_take(session, page)) {
		char text[LABEL_BYTES];
		text_clean(text, sizeof(text), page->trouble, grid->is_ascii);
		grid_text(grid, area.row + 1, 2, area.columns - 2, text, GRID_TEXT);
		return;
	}
	if (page->plot) {
		view_plot_draw(session, page, grid, area);
		return;
	}
	source = page->has_source && area.rows >= 12 ? area.rows / 3 : 0;
	draw_tree(page, grid, (struct grid_area){area.row, 0, area.rows - 2 - source, area.columns});
	if (source) {
		int row = area.row + area.rows - 2 - source;
		for (int i = 0; i < area.columns; i++)
			grid_put(grid, row, i, 0x2500, GRID_GREY);
		grid_text(grid, row, 2, area.columns - 2, "[7 Source]", GRID_TEXT);
		view_source_draw_at(
			session, grid, (struct grid_area){row + 1, 0, source - 1, area.columns}, true);
	}
	draw_foot(page, grid, area.row + area.rows - 2);
}

/* ---- title and status ---- */

static void profile_title(struct session *session, char *out, size_t size_bytes)
{
	struct profile_page *page = profile_page_of(session);
	bool is_pairs = session->only && !profile_page_is_merged(session);
	size_t used = 0;

	out[0] = '\0';
	if (!page)
		return;
	for (int kind = 0; kind < PROFILE_VIEW_COUNT; kind++)
		used += (size_t)snprintf(out + used, size_bytes - used,
			(int)page->kind == kind ? "[%s] " : "%s ",
			profile_view_name((enum profile_view)kind));
	snprintf(out + used, size_bytes - used, " %s%s%s%s",
		profile_page_is_merged(session) ? "A and B, " : "",
		page->is_whole ? "whole run"
		: is_pairs     ? "rows on screen"
			       : "all rows",
		page->threads[0] ? ", streams " : "", page->threads);
}

static bool profile_status(struct session *session, char *out, size_t size_bytes)
{
	struct profile_page *page = profile_page_of(session);
	uint32_t at = page ? outline_find_hash(&page->outline, page->cursor) : UINT32_MAX;
	char name[LABEL_BYTES], place[LABEL_BYTES] = "", value[FORMAT_NUMBER_BYTES] = "",
				share[FORMAT_NUMBER_BYTES] = "";
	const struct profile_row *row;
	double number, root;

	if (at == UINT32_MAX || page->trouble[0])
		return false;
	if (page->plot) {
		view_plot_status(session, page, out, size_bytes);
		return true;
	}
	row = &page->outline.profile.rows[at];
	profile_page_row_name(row, name, 40, session->looks.is_ascii);
	if (row->file[0] && row->kind != PROFILE_LINE && row->kind != PROFILE_LOOP)
		label_file(place, path_base(row->file), (int)row->line, 32, session->looks.is_ascii);
	else if (row->kind == PROFILE_FUNCTION)
		label_file(place, path_base(row->module), 0, 32, session->looks.is_ascii);
	number = page->outline.column_count ? outline_value(&page->outline, at, page->outline.sort) : 0;
	root = page->outline.column_count
		       ? outline_value(&page->outline, 0,
				 page->outline.sort - (page->outline.columns[page->outline.sort].kind ==
							      OUTLINE_EXCLUSIVE))
		       : 0;
	if (page->outline.columns[page->outline.sort].is_time && number > 0) {
		format_number_short(value, (uint64_t)number);
		format_number_share(share, (uint64_t)number, (uint64_t)root, 1);
	}
	snprintf(out, size_bytes, "%.200s  %.200s  %s %s", name, place, value, share);
	return true;
}

static const struct view_key profile_keys[] = {
	{"j k", "the next line, the one before; J K the next on its level"},
	{"l h", "open a line or go down; close it or go to its parent"}, {"c", "open or close it"},
	{"P", "hot path: down by the largest child (:hot 50%)"}, {"b", "top-down, bottom-up, flat"},
	{"< >  r", "the column to sort by; the other way round"},
	{"+ -", "flat: show what is in a scope in its place, and back"},
	{"z u", "only this subtree, and back"},
	{"0", "the whole run and all streams, or the window and its rows"},
	{"|", "hide a column; $N of :metric :columns :move is in its heading"},
	{"G", "plot over the streams: as they are, sorted, a histogram"},
	{"&", "take functions out (:hide); x not here"}, {"7", "source of the line"},
	{"Enter", "where on the screen it has most time"}, {"/ n N", "find a name"},
	{"y Y", "copy the line; the command that prints the same"},
	{"Tab", "two runs: both in one tree, or A alone"}, {NULL, NULL}};

const struct view view_profile = {.name = "Profile",
	.key = '6',
	.is_whole = true,
	.streams = VIEW_PAIRS_IF_MERGED,
	.draw = profile_draw,
	.act = view_profile_act,
	.put_title = profile_title,
	.put_status = profile_status,
	.own_keys = profile_keys,
	.hints = "j/k line  l/h open/close  P hot path  b tree kind  < > sort  | columns  G plot  z u zoom  "
		 "& hide  0 run  Tab A/B"};
