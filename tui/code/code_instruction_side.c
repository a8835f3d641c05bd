/* SPDX-License-Identifier: Apache-2.0 */
/* code_instruction_side.c - the side of code_sides.h that has instructions, with samples and arrows. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/code/code_arrows.h"
#include "tui/code/code_sides.h"
#include "tui/screen/text.h"

#define PERCENT_CELLS 7
#define REASON_CELLS 10
#define LINE_CELLS 6
#define ADDRESS_CELLS 6

/* Where things stand, from the left edge of the area; 0: not at all. */
struct columns {
	int percent, samples, bar, bar_cells, reason, line, address, arrows, text;
};

static struct columns columns_of(int width, bool is_alone)
{
	struct columns columns = {.percent = 1};
	int at = columns.percent + PERCENT_CELLS + 1;

	if (width >= CODE_SAMPLES_FROM) {
		columns.samples = at - 1;
		at += CODE_SAMPLES_CELLS;
	}
	columns.bar = at;
	columns.bar_cells = width >= 90 ? 12 : width >= 60 ? 8 : 6;
	at += columns.bar_cells + 1;
	if (width >= 76) {
		columns.reason = at;
		at += REASON_CELLS;
	}
	if (is_alone && width >= 76) {
		columns.line = at;
		at += LINE_CELLS;
	}
	columns.address = at;
	columns.arrows = at + ADDRESS_CELLS + 1;
	columns.text = columns.arrows + CODE_ARROWS_CELLS + 1;
	return columns;
}

static void put_reason(char *out, size_t size_bytes, const struct listing_instruction *of)
{
	unsigned most = STALL_NONE;

	out[0] = '\0';
	for (unsigned stall = 0; stall < STALL_COUNT; stall++)
		if (of->by[stall] > of->by[most])
			most = stall;
	if (of->all > 0 && most != STALL_NONE)
		snprintf(out, size_bytes, "%s %.0f%%", stall_name((enum stall)most),
			100 * of->by[most] / of->all);
}

/* Of the cursor's line. */
static bool is_linked(const struct code_page *page, const struct listing_instruction *of)
{
	return of->line && of->line == page->line && of->file == page->file;
}

static void draw_instruction(const struct code_page *page, struct grid *grid, int row, struct grid_area area,
	struct columns at, uint32_t number, const struct stall_order *order, double most)
{
	const struct listing_instruction *of = &page->listing.instructions[number];
	char text[LABEL_BYTES], percent[CODE_PERCENT];
	int left = area.column, end;

	code_percent(percent, page, of->all);
	grid_text_right(grid, row, left + at.percent, PERCENT_CELLS, percent, GRID_TEXT);
	code_samples(percent, page, of->all);
	if (at.samples)
		grid_text_right(grid, row, left + at.samples, CODE_SAMPLES_CELLS, percent, GRID_GREY);
	stall_bar_draw(grid, row, left + at.bar, at.bar_cells, of->by, order, most);
	put_reason(text, sizeof(text), of);
	if (at.reason)
		grid_text(grid, row, left + at.reason, REASON_CELLS - 1, text, GRID_TEXT);
	snprintf(text, sizeof(text), ":%u", of->line);
	if (at.line && of->line)
		grid_text_right(grid, row, left + at.line, LINE_CELLS, text, GRID_GREY);
	snprintf(text, sizeof(text), "%" PRIx64, of->address);
	grid_text_right(grid, row, left + at.address, ADDRESS_CELLS, text, GRID_GREY);
	text_clean(text, sizeof(text), of->text, grid->is_ascii);
	end = grid_text(grid, row, left + at.text, area.columns - at.text,
		text + text_head(text, page->shift[CODE_INSTRUCTIONS]), GRID_TEXT);
	if (is_linked(page, of)) {
		grid_put(grid, row, left, '*', GRID_HEADING);
		grid_mark(grid, row, left + at.text, area.columns - at.text, GRID_BOLD);
	}
	if (number == page->at) {
		grid_put(grid, row, left, '>', page->side == CODE_INSTRUCTIONS ? GRID_HEADING : GRID_TEXT);
		grid_mark(grid, row, left + at.text, end - left - at.text, GRID_BOLD | GRID_UNDERLINE);
	}
}

/* "calls scale(float)  32.10 %" */
static void draw_function(
	const struct code_page *page, struct grid *grid, int row, struct grid_area area, uint32_t number)
{
	const struct listing_function *of = &page->listing.functions[number];
	char name[LABEL_BYTES], text[LABEL_BYTES + 64], percent[CODE_PERCENT];
	int end;

	code_percent(percent, page, of->all);
	label_fit(name, of->name, area.columns - 20, LABEL_TABLE, grid->is_ascii);
	snprintf(text, sizeof(text), "%s%s", of->is_kernel ? "" : "calls ", name);
	end = grid_text(grid, row, area.column + 1, area.columns - 1, text, GRID_HEADING);
	if (percent[0]) {
		snprintf(text, sizeof(text), "%s %%", percent);
		grid_text(grid, row, end + 2, area.column + area.columns - end - 2, text, GRID_TEXT);
	}
}

static void draw_heading(
	const struct code_page *page, struct grid *grid, struct grid_area area, struct columns at)
{
	char text[LABEL_BYTES];
	int left = area.column;

	grid_text_right(grid, area.row, left + at.percent, PERCENT_CELLS, "percent", GRID_HEADING);
	if (at.samples)
		grid_text_right(
			grid, area.row, left + at.samples, CODE_SAMPLES_CELLS, "samples", GRID_HEADING);
	grid_text(grid, area.row, left + at.bar, at.bar_cells, "stalls", GRID_HEADING);
	if (at.reason)
		grid_text(grid, area.row, left + at.reason, REASON_CELLS, "stall", GRID_HEADING);
	if (at.line)
		grid_text_right(grid, area.row, left + at.line, LINE_CELLS, "line", GRID_HEADING);
	grid_text_right(grid, area.row, left + at.address, ADDRESS_CELLS, "at", GRID_HEADING);
	grid_text(grid, area.row, left + at.arrows, CODE_ARROWS_CELLS, "cause", GRID_HEADING);
	label_fit(text, page->listing.functions[0].name, area.columns - at.text, LABEL_TABLE, grid->is_ascii);
	grid_text(grid, area.row, left + at.text, area.columns - at.text, text, GRID_HEADING);
}

static double most_of(const struct kernel_listing *listing)
{
	double most = 0;

	for (uint32_t i = 0; i < listing->count; i++)
		most = listing->instructions[i].all > most ? listing->instructions[i].all : most;
	return most;
}

/* With the cause that explains most. */
static void turn_page(struct code_page *page, uint32_t count, int rows)
{
	const struct listing_instruction *of = &page->listing.instructions[page->at];
	uint32_t row = code_page_row_of(page, page->at);
	struct code_window window = {count, row, row, rows};

	if (of->source_count && page->listing.sources[of->first_source].share >= CODE_SHARE_LEAST)
		window.other = code_page_row_of(page, page->listing.sources[of->first_source].at);
	page->top = code_top(&window, page->top, page->rows);
	page->rows = rows;
}

void code_instructions_draw(struct code_page *page, struct grid *grid, struct grid_area area,
	const struct stall_order *order, bool is_alone)
{
	struct columns at = columns_of(area.columns, is_alone);
	struct grid_area list = {area.row + 1, area.column, area.rows - 1, area.columns};
	uint32_t count = code_page_row_count(page);
	double most = most_of(&page->listing);

	draw_heading(page, grid, area, at);
	turn_page(page, count, list.rows);
	for (int i = 0; i < list.rows && page->top + (uint32_t)i < count; i++) {
		uint32_t function, number = code_page_row_at(page, page->top + (uint32_t)i, &function);

		if (number == UINT32_MAX)
			draw_function(page, grid, list.row + i, area, function);
		else
			draw_instruction(page, grid, list.row + i, area, at, number, order, most);
	}
	code_arrows_draw(page, grid,
		(struct grid_area){list.row, area.column + at.arrows, list.rows, CODE_ARROWS_CELLS});
}
