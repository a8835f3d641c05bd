/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.h - the screen as views know it: a rectangle of cells, each one character with a style. Views
 * draw into a grid and never learn whether a terminal (screen.h) or a text file (grid_print) shows it.
 *
 * Columns and rows count from 0 at the top left. Whatever lies outside the grid is cut, never an error.
 */
#ifndef TUI_GRID_H
#define TUI_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define GRID_USERS 8
#define GRID_CONTEXTS 24 /* colours of contexts, see palette.c */

/* What a cell is for; palette.h says how it looks on this terminal. */
enum grid_style {
	GRID_TEXT,
	GRID_GREY,    /* idle, blocked, unmonitored, the key line */
	GRID_HEADING, /* headings, cursor mark, matches, viewport */
	GRID_WARNING, /* waiting in sync */
	GRID_ERROR,   /* lost */
	GRID_MIXED,
	GRID_COPY_IN,
	GRID_COPY_OUT,
	GRID_BLOCK,			       /* + context slot: a block of that colour */
	GRID_INK = GRID_BLOCK + GRID_CONTEXTS, /* + context slot: the colour as text */
	GRID_USER = GRID_INK + GRID_CONTEXTS,  /* + number: colours that the user chose, block and text */
	GRID_USER_INK = GRID_USER + GRID_USERS,
	GRID_STYLE_COUNT = GRID_USER_INK + GRID_USERS
};

#define GRID_REVERSE 1u
#define GRID_BOLD 2u
#define GRID_UNDERLINE 4u

struct grid_cell {
	uint32_t rune; /* 0: the right half of a wide character */
	uint8_t style; /* enum grid_style */
	uint8_t attributes;
	uint8_t _pad[2];
};

struct grid {
	int rows, columns;
	bool is_ascii;		 /* every character that is not ASCII is replaced before it gets in */
	struct grid_cell *cells; /* rows x columns */
};

/* A part of the screen that one view owns. */
struct grid_area {
	int row, column, rows, columns;
};

/* All blank. -1 when memory is out. */
int grid_init(struct grid *grid, int rows, int columns, bool is_ascii);
void grid_fini(struct grid *grid);
void grid_clear(struct grid *grid);

/* One character. */
void grid_put(struct grid *grid, int row, int column, uint32_t rune, enum grid_style style);
/* UTF-8 text, cut after `width` cells; the column behind its last cell. */
int grid_text(struct grid *grid, int row, int column, int width, const char *text, enum grid_style style);
/* The same right-aligned in `width` cells. */
void grid_text_right(
	struct grid *grid, int row, int column, int width, const char *text, enum grid_style style);
/* Adds attributes to the cells that are there. */
void grid_mark(struct grid *grid, int row, int column, int width, unsigned attributes);
void grid_fill(struct grid *grid, struct grid_area area, uint32_t rune, enum grid_style style);

/* About how many bytes a terminal of 256 colours gets when the area is drawn anew: changes of style cost
 * most. */
size_t grid_bytes(const struct grid *grid, struct grid_area area);

/* The grid as lines of text without attributes, trailing blanks cut. */
void grid_print(const struct grid *grid, FILE *out);

#endif
