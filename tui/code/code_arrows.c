/* SPDX-License-Identifier: Apache-2.0 */
/* code_arrows.c - see code_arrows.h. */
#include "tui/code/code_arrows.h"

#include <stdio.h>

#define SHARE_CELLS 4

struct arrows {
	struct grid *grid;
	struct grid_area area;
	uint32_t top, use;	  /* rows of the list */
	uint32_t low, high;	  /* all that is connected */
	double above, below, own; /* shares of causes beyond the edges, and of the instruction itself */
	enum grid_style style;
};

static bool is_shown(const struct arrows *arrows, uint32_t row)
{
	return row >= arrows->top && row - arrows->top < (uint32_t)arrows->area.rows;
}

static int line_of(const struct arrows *arrows, uint32_t row)
{
	return arrows->area.row + (int)(row - arrows->top);
}

/* A line goes on up, down, or both. */
static uint32_t corner(const struct arrows *arrows, uint32_t row)
{
	if (arrows->grid->is_ascii)
		return '+';
	if (row > arrows->low && row < arrows->high)
		return 0x251c;
	return row > arrows->low ? 0x2514 : 0x250c;
}

static void put_share(const struct arrows *arrows, uint32_t row, double share)
{
	char text[16];

	snprintf(text, sizeof(text), "%.0f%%", 100 * share);
	grid_text_right(
		arrows->grid, line_of(arrows, row), arrows->area.column, SHARE_CELLS, text, arrows->style);
}

static void put_end(const struct arrows *arrows, uint32_t row, uint32_t head)
{
	int line = line_of(arrows, row), column = arrows->area.column + SHARE_CELLS;

	grid_put(arrows->grid, line, column, corner(arrows, row), arrows->style);
	grid_put(arrows->grid, line, column + 1, head, arrows->style);
}

static void draw_line(const struct arrows *arrows)
{
	for (int i = 0; i < arrows->area.rows; i++) {
		uint32_t row = arrows->top + (uint32_t)i;

		if (row > arrows->low && row < arrows->high)
			grid_put(arrows->grid, arrows->area.row + i, arrows->area.column + SHARE_CELLS,
				arrows->grid->is_ascii ? '|' : 0x2502, arrows->style);
	}
}

static void take_cause(struct arrows *arrows, uint32_t row, double share)
{
	if (row == arrows->use)
		arrows->own += share;
	else if (row < arrows->top)
		arrows->above += share;
	else if (!is_shown(arrows, row))
		arrows->below += share;
	arrows->low = row < arrows->low ? row : arrows->low;
	arrows->high = row > arrows->high ? row : arrows->high;
}

/* At an edge that is the end of an arrow itself, its own share stands. */
static void draw_edges(const struct arrows *arrows)
{
	uint32_t last = arrows->top + (uint32_t)arrows->area.rows - 1;
	int column = arrows->area.column + SHARE_CELLS + 1;

	if (arrows->above > 0) {
		put_share(arrows, arrows->top, arrows->above);
		grid_put(arrows->grid, line_of(arrows, arrows->top), column, '^', arrows->style);
	}
	if (arrows->below > 0) {
		put_share(arrows, last, arrows->below);
		grid_put(arrows->grid, line_of(arrows, last), column, 'v', arrows->style);
	}
}

static void draw_use(const struct arrows *arrows)
{
	if (!is_shown(arrows, arrows->use))
		return;
	if (arrows->low < arrows->high)
		put_end(arrows, arrows->use, arrows->grid->is_ascii ? '-' : 0x2500);
	if (arrows->own > 0) {
		put_share(arrows, arrows->use, arrows->own);
		grid_put(arrows->grid, line_of(arrows, arrows->use), arrows->area.column + SHARE_CELLS + 1,
			'o', arrows->style);
	}
}

void code_arrows_draw(const struct code_page *page, struct grid *grid, struct grid_area area)
{
	const struct listing_instruction *of = &page->listing.instructions[page->at];
	const struct listing_source *sources = &page->listing.sources[of->first_source];
	uint32_t use = code_page_row_of(page, page->at);
	struct arrows arrows = {.grid = grid,
		.area = area,
		.top = page->top,
		.use = use,
		.low = use,
		.high = use,
		.style = GRID_HEADING};

	if (area.rows < 1 || !of->source_count)
		return;
	if (sources->is_feeding) /* the instruction itself does not wait */
		arrows.style = GRID_GREY;
	for (uint32_t i = 0; i < of->source_count; i++)
		if (sources[i].share >= CODE_SHARE_LEAST)
			take_cause(&arrows, code_page_row_of(page, sources[i].at), sources[i].share);
	draw_line(&arrows);
	draw_edges(&arrows);
	draw_use(&arrows);
	for (uint32_t i = 0; i < of->source_count; i++) {
		uint32_t row = code_page_row_of(page, sources[i].at);

		if (sources[i].share < CODE_SHARE_LEAST || row == use || !is_shown(&arrows, row))
			continue;
		put_share(&arrows, row, sources[i].share);
		put_end(&arrows, row, grid->is_ascii ? '>' : 0x25b8);
	}
}
