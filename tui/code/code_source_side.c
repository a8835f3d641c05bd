/* SPDX-License-Identifier: Apache-2.0 */
/* code_source_side.c - the side of code_sides.h that has source lines, with the samples of each. */
#include <stdio.h>
#include <string.h>

#include "tui/code/code_sides.h"
#include "tui/screen/text.h"

#define LINE_CELLS 6
#define PERCENT_CELLS 7

/* Where things stand, from the left edge of the area. */
struct columns {
	int percent, samples, bar, bar_cells, text; /* samples: 0: not at all */
	unsigned tab; /* cells: deep lines would have no text in a narrow area */
};

static struct columns columns_of(int width)
{
	struct columns columns = {
		.percent = 1 + LINE_CELLS, .tab = width >= 90 ? SOURCE_TAB : SOURCE_TAB / 2};

	columns.bar = columns.percent + PERCENT_CELLS + 1;
	if (width >= CODE_SAMPLES_FROM) {
		columns.samples = columns.bar - 1;
		columns.bar += CODE_SAMPLES_CELLS;
	}
	columns.bar_cells = width >= 90 ? 12 : width >= 70 ? 10 : width >= 50 ? 6 : 4;
	columns.text = columns.bar + columns.bar_cells + 1;
	return columns;
}

static void draw_line(const struct code_page *page, const struct source *source, struct grid *grid, int row,
	struct grid_area area, uint32_t line, const struct stall_order *order)
{
	struct columns at = columns_of(area.columns);
	const struct code_line *of = code_lines_find(&page->lines, line);
	char text[LABEL_BYTES], percent[CODE_PERCENT];
	int left = area.column;
	bool is_cursor = line == page->line;

	snprintf(text, sizeof(text), "%u", line);
	grid_text_right(grid, row, left + 1, LINE_CELLS - 1, text, GRID_GREY);
	if (of) {
		code_percent(percent, page, of->all);
		grid_text_right(grid, row, left + at.percent, PERCENT_CELLS, percent, GRID_TEXT);
		code_samples(percent, page, of->all);
		if (at.samples)
			grid_text_right(grid, row, left + at.samples, CODE_SAMPLES_CELLS, percent, GRID_GREY);
		stall_bar_draw(grid, row, left + at.bar, at.bar_cells, of->by, order, page->lines.most);
	}
	source_line_text(source, line, at.tab, text, grid->is_ascii);
	grid_text(grid, row, left + at.text, area.columns - at.text,
		text + text_head(text, page->shift[CODE_SOURCE]), of ? GRID_TEXT : GRID_GREY);
	if (!is_cursor)
		return;
	grid_put(grid, row, left, '>', page->side == CODE_SOURCE ? GRID_HEADING : GRID_TEXT);
	grid_mark(grid, row, left + at.text, area.columns - at.text, GRID_BOLD);
}

/* The sentence over as many rows as it needs. */
static void draw_sentence(struct grid *grid, struct grid_area area, const char *raw)
{
	char text[LABEL_BYTES];
	const char *at = text;

	text_clean(text, sizeof(text), raw, grid->is_ascii);
	for (int row = 0; row < area.rows && *at; row++) {
		grid_text(grid, area.row + row, area.column + 1, area.columns - 2, at, GRID_TEXT);
		at += text_head(at, area.columns - 2);
	}
}

static void draw_nowhere(const struct code_page *page, struct grid *grid, struct grid_area area)
{
	char text[LABEL_BYTES];

	if (page->file == LISTING_NO_FILE)
		snprintf(text, sizeof(text),
			"The kernel's code has no lines: -lineinfo (nvcc), -gline-tables-only (clang) adds "
			"them, and changes no instruction.");
	else
		snprintf(text, sizeof(text), "No source for %.900s: :map OLD NEW tells where it is.",
			page->listing.files[page->file].path);
	draw_sentence(grid, area, text);
}

static void draw_heading(
	const struct source *source, struct grid *grid, struct grid_area area, uint32_t beyond)
{
	struct columns at = columns_of(area.columns);
	char text[LABEL_BYTES];
	int end = area.column + at.text;

	grid_text_right(grid, area.row, area.column + at.percent, PERCENT_CELLS, "percent", GRID_HEADING);
	if (at.samples)
		grid_text_right(grid, area.row, area.column + at.samples, CODE_SAMPLES_CELLS, "samples",
			GRID_HEADING);
	grid_text(grid, area.row, area.column + at.bar, at.bar_cells, "stalls", GRID_HEADING);
	label_file(text, source->file.found, 0, area.columns - at.text, grid->is_ascii);
	end = grid_text(grid, area.row, end, area.columns - at.text, text, GRID_HEADING);
	if (beyond > source->file.line_count)
		grid_text(grid, area.row, end + 1, area.column + area.columns - end - 1,
			"(too short: not what was compiled)", GRID_WARNING);
}

static void turn_page(struct code_page *page, uint32_t count, int rows)
{
	struct code_window window = {count, page->line - 1, page->line - 1, rows};

	page->source_top = code_top(&window, page->source_top, page->source_rows);
	page->source_rows = rows;
}

void code_source_draw(struct session *session, struct code_page *page, struct grid *grid,
	struct grid_area area, const struct stall_order *order)
{
	const struct source *source = code_page_source(session, page);
	const struct code_lines *lines = code_page_lines(page);
	struct grid_area list = {area.row + 1, area.column, area.rows - 1, area.columns};

	if (!source) {
		draw_nowhere(page, grid, area);
		return;
	}
	draw_heading(source, grid, area, lines && lines->count ? lines->list[lines->count - 1].line : 0);
	if (page->line && page->line <= source->file.line_count)
		turn_page(page, source->file.line_count, list.rows);
	if (page->source_top >= source->file.line_count)
		page->source_top = 0;
	for (int i = 0; lines && i < list.rows; i++) {
		uint32_t line = page->source_top + (uint32_t)i + 1;

		if (line <= source->file.line_count)
			draw_line(page, source, grid, list.row + i, area, line, order);
	}
}
