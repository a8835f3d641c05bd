/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.c - cells in memory. Clips all drawing and handles wide characters, so that views need not.
 */
#include "tui/screen/grid.h"

#include <stdlib.h>
#include <string.h>

#include "tui/screen/text.h"

#define GRID_CHANGE_BYTES 17 /* measured with ncurses: 16 to 19 */
#define GRID_SKIP_BYTES 6u   /* of a movement over blanks */

int grid_init(struct grid *grid, int rows, int columns, bool is_ascii)
{
	*grid = (struct grid){.rows = rows, .columns = columns, .is_ascii = is_ascii};
	grid->cells = calloc((size_t)rows * (size_t)columns + 1, sizeof(*grid->cells));
	if (!grid->cells)
		return -1;
	grid_clear(grid);
	return 0;
}

void grid_fini(struct grid *grid)
{
	free(grid->cells);
	*grid = (struct grid){0};
}

void grid_clear(struct grid *grid)
{
	grid_fill(grid, (struct grid_area){0, 0, grid->rows, grid->columns}, ' ', GRID_TEXT);
}

static struct grid_cell *cell_at(struct grid *grid, int row, int column)
{
	if (row < 0 || row >= grid->rows || column < 0 || column >= grid->columns)
		return NULL;
	return &grid->cells[(size_t)row * (size_t)grid->columns + (size_t)column];
}

static void set_cell(struct grid *grid, int row, int column, uint32_t rune, enum grid_style style)
{
	struct grid_cell *cell = cell_at(grid, row, column);

	if (!cell)
		return;
	if (cell->rune == 0 && column > 0) /* half of a wide character must not stay behind */
		cell[-1].rune = ' ';
	if (column + 1 < grid->columns && cell[1].rune == 0)
		cell[1].rune = ' ';
	*cell = (struct grid_cell){.rune = rune, .style = (uint8_t)style};
}

void grid_put(struct grid *grid, int row, int column, uint32_t rune, enum grid_style style)
{
	if (grid->is_ascii)
		rune = text_rune_ascii(rune);
	set_cell(grid, row, column, rune, style);
	if (text_rune_cells(rune) != 2)
		return;
	if (column + 1 < grid->columns)
		set_cell(grid, row, column + 1, ' ', style), cell_at(grid, row, column + 1)->rune = 0;
	else
		set_cell(grid, row, column, ' ', style);
}

int grid_text(struct grid *grid, int row, int column, int width, const char *text, enum grid_style style)
{
	int end = column + width;
	uint32_t rune;

	while (*text) {
		text += text_rune(text, &rune);
		if (grid->is_ascii && rune == 0x2026) { /* an ellipsis is two cells there, and counted so */
			if (column < end)
				grid_put(grid, row, column++, '.', style);
			rune = '.';
		}
		if (column + text_rune_cells(rune) > end)
			break;
		grid_put(grid, row, column, rune, style);
		column += text_rune_cells(rune);
	}
	return column;
}

void grid_text_right(
	struct grid *grid, int row, int column, int width, const char *text, enum grid_style style)
{
	int cells = text_cells(text);

	if (cells > width)
		grid_text(grid, row, column, width, text, style);
	else
		grid_text(grid, row, column + width - cells, cells, text, style);
}

void grid_mark(struct grid *grid, int row, int column, int width, unsigned attributes)
{
	for (int i = 0; i < width; i++) {
		struct grid_cell *cell = cell_at(grid, row, column + i);
		if (cell)
			cell->attributes |= (uint8_t)attributes;
	}
}

void grid_fill(struct grid *grid, struct grid_area area, uint32_t rune, enum grid_style style)
{
	for (int row = 0; row < area.rows; row++)
		for (int column = 0; column < area.columns; column++)
			set_cell(grid, area.row + row, area.column + column, rune, style);
}

/* A blank that a terminal shows whatever its style of text is. */
static bool is_blank(const struct grid_cell *cell)
{
	return cell->rune == ' ' && !cell->attributes &&
	       (cell->style < GRID_MIXED || (cell->style >= GRID_INK && cell->style < GRID_USER));
}

/* A row's blanks are skipped by a movement of the cursor, or cleared at once. */
static size_t row_bytes(
	const struct grid *grid, struct grid_area area, int row, const struct grid_cell **last)
{
	size_t bytes = 0, blanks = 0;

	for (int column = 0; column < area.columns; column++) {
		const struct grid_cell *cell =
			cell_at((struct grid *)(uintptr_t)grid, area.row + row, area.column + column);
		if (!cell)
			continue;
		if (is_blank(cell)) {
			bytes += blanks++ < GRID_SKIP_BYTES;
			continue;
		}
		blanks = 0;
		if (!*last || (*last)->style != cell->style || (*last)->attributes != cell->attributes)
			bytes += GRID_CHANGE_BYTES;
		bytes += cell->rune < 0x80 ? 1 : 3;
		*last = cell;
	}
	return bytes;
}

size_t grid_bytes(const struct grid *grid, struct grid_area area)
{
	const struct grid_cell *last = NULL;
	size_t bytes = 0;

	for (int row = 0; row < area.rows; row++)
		bytes += row_bytes(grid, area, row, &last);
	return bytes;
}

void grid_print(const struct grid *grid, FILE *out)
{
	for (int row = 0; row < grid->rows; row++) {
		const struct grid_cell *cells = &grid->cells[(size_t)row * (size_t)grid->columns];
		int columns = grid->columns;
		char bytes[8];

		while (columns > 0 && cells[columns - 1].rune == ' ')
			columns--;
		for (int column = 0; column < columns; column++)
			if (cells[column].rune)
				fwrite(bytes, 1, text_encode(bytes, cells[column].rune), out);
		fputc('\n', out);
	}
}
