/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.c - see svg.h. A stretch of equal-looking cells becomes one rectangle, if it has a background, and one
 * text of exactly its width, so that columns align in any font.
 */
#include "tui/screen/svg.h"

#include "store/base/escape.h"
#include "tui/screen/text.h"

#define CELL_WIDTH 8
#define CELL_HEIGHT 17
#define BASE_LINE 13
#define INK 0x000000u /* the terminal's own */
#define PAPER 0xffffffu

struct look {
	uint32_t ink, ground; /* 0xRRGGBB */
	unsigned attributes;
};

static struct look look_of(const struct grid_cell *cell, const struct palette *palette)
{
	const struct palette_look *of = &palette->looks[cell->style];
	struct look look = {
		.ink = of->ink == PALETTE_DEFAULT ? INK : palette_colour_rgb(palette->colours, of->ink),
		.ground = of->ground == PALETTE_DEFAULT ? PAPER
							: palette_colour_rgb(palette->colours, of->ground),
		.attributes = cell->attributes ^ of->attributes};

	if (look.attributes & GRID_REVERSE) {
		uint32_t ink = look.ink;

		look.ink = look.ground;
		look.ground = ink;
	}
	look.attributes &= GRID_BOLD | GRID_UNDERLINE;
	return look;
}

static bool is_alike(const struct look *a, const struct look *b)
{
	return a->ink == b->ink && a->ground == b->ground && a->attributes == b->attributes;
}

static void put_rune(FILE *out, uint32_t rune)
{
	struct store_bytes escaped = {0};
	char bytes[8];

	if (!rune) /* the right half of a wide one */
		return;
	escape_xml(&escaped, bytes, text_encode(bytes, rune));
	fwrite(escaped.data, 1, escaped.size, out);
	store_bytes_fini(&escaped);
}

/* Cells [from, to) of a row. */
static void put_run(
	FILE *out, const struct grid_cell *cells, int row, int from, int to, const struct look *look)
{
	bool is_blank = true;

	for (int i = from; i < to; i++)
		is_blank = is_blank && (cells[i].rune == ' ' || cells[i].rune == 0);
	if (look->ground != PAPER)
		fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n",
			from * CELL_WIDTH, row * CELL_HEIGHT, (to - from) * CELL_WIDTH, CELL_HEIGHT,
			look->ground);
	if (is_blank && !(look->attributes & GRID_UNDERLINE))
		return;
	fprintf(out, "<text x=\"%d\" y=\"%d\" textLength=\"%d\"", from * CELL_WIDTH,
		row * CELL_HEIGHT + BASE_LINE, (to - from) * CELL_WIDTH);
	if (look->ink != INK)
		fprintf(out, " fill=\"#%06x\"", look->ink);
	if (look->attributes & GRID_BOLD)
		fputs(" font-weight=\"bold\"", out);
	if (look->attributes & GRID_UNDERLINE)
		fputs(" text-decoration=\"underline\"", out);
	putc('>', out);
	for (int i = from; i < to; i++)
		put_rune(out, cells[i].rune);
	fputs("</text>\n", out);
}

static void put_row(FILE *out, const struct grid *grid, const struct palette *palette, int row)
{
	const struct grid_cell *cells = &grid->cells[(size_t)row * (size_t)grid->columns];
	struct look look;

	for (int from = 0, to; from < grid->columns; from = to) {
		look = look_of(&cells[from], palette);
		for (to = from + 1; to < grid->columns; to++) {
			struct look next = look_of(&cells[to], palette);

			if (cells[to].rune && !is_alike(&look, &next))
				break;
		}
		put_run(out, cells, row, from, to, &look);
	}
}

void svg_print(const struct grid *grid, const struct palette *palette, FILE *out)
{
	int width = grid->columns * CELL_WIDTH, height = grid->rows * CELL_HEIGHT;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" "
		"font-size=\"13.3\" xml:space=\"preserve\" style=\"white-space:pre\">\n",
		width, height, width, height);
	fprintf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n", width, height, PAPER);
	for (int row = 0; row < grid->rows; row++)
		put_row(out, grid, palette, row);
	fputs("</svg>\n", out);
}
