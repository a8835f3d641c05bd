/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ansi.c - see ansi.h. A sequence is written only where the look changes.
 */
#include "tui/screen/ansi.h"

#include "tui/screen/text.h"

/* `base`: 30 for ink, 40 for the ground. */
static void put_colour(FILE *out, int base, int index, int colours)
{
	if (index == PALETTE_DEFAULT)
		return;
	if (colours == PALETTE_DIRECT) {
		uint32_t rgb = palette_colour_rgb(colours, index);

		fprintf(out, ";%d;2;%u;%u;%u", base + 8, rgb >> 16, rgb >> 8 & 255, rgb & 255);
	} else if (colours == 256)
		fprintf(out, ";%d;5;%d", base + 8, index);
	else
		fprintf(out, ";%d", index < 8 ? base + index : base + 60 + index - 8);
}

static unsigned attributes_of(const struct grid_cell *cell, const struct palette *palette)
{
	return cell->attributes ^ palette->looks[cell->style].attributes;
}

static void put_look(FILE *out, const struct grid_cell *cell, const struct palette *palette)
{
	const struct palette_look *look = &palette->looks[cell->style];
	unsigned attributes = attributes_of(cell, palette);

	fputs("\033[0", out);
	if (attributes & GRID_BOLD)
		fputs(";1", out);
	if (attributes & GRID_UNDERLINE)
		fputs(";4", out);
	if (attributes & GRID_REVERSE)
		fputs(";7", out);
	put_colour(out, 30, look->ink, palette->colours);
	put_colour(out, 40, look->ground, palette->colours);
	putc('m', out);
}

static bool is_plain(const struct grid_cell *cell, const struct palette *palette)
{
	const struct palette_look *look = &palette->looks[cell->style];

	return look->ink == PALETTE_DEFAULT && look->ground == PALETTE_DEFAULT &&
	       !attributes_of(cell, palette);
}

static bool is_alike(const struct grid_cell *a, const struct grid_cell *b, const struct palette *palette)
{
	const struct palette_look *x = &palette->looks[a->style], *y = &palette->looks[b->style];

	return x->ink == y->ink && x->ground == y->ground &&
	       attributes_of(a, palette) == attributes_of(b, palette);
}

static bool is_blank(const struct grid_cell *cell, const struct palette *palette)
{
	return cell->rune == ' ' && palette->looks[cell->style].ground == PALETTE_DEFAULT &&
	       !(attributes_of(cell, palette) & (GRID_REVERSE | GRID_UNDERLINE));
}

static void print_line(const struct grid_cell *cells, int columns, const struct palette *palette, FILE *out)
{
	static const struct grid_cell text = {.style = GRID_TEXT};
	const struct grid_cell *look = &text;
	char bytes[8];

	while (columns > 0 && is_blank(&cells[columns - 1], palette))
		columns--;
	for (int column = 0; column < columns; column++) {
		const struct grid_cell *cell = &cells[column];
		if (!cell->rune) /* the right half of a wide one */
			continue;
		if (!is_alike(look, cell, palette))
			put_look(out, cell, palette);
		look = cell;
		fwrite(bytes, 1, text_encode(bytes, cell->rune), out);
	}
	if (!is_plain(look, palette))
		fputs("\033[0m", out);
	putc('\n', out);
}

void ansi_print(const struct grid *grid, const struct palette *palette, FILE *out)
{
	for (int row = 0; row < grid->rows; row++)
		print_line(&grid->cells[(size_t)row * (size_t)grid->columns], grid->columns, palette, out);
}
