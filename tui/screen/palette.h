/* SPDX-License-Identifier: Apache-2.0 */
/*
 * palette.h - how each style of a cell looks on a terminal of 24-bit colours, 256, 16, 8 or none
 * (tui/SCREEN.md, "Colours"). Backgrounds are the terminal's own; blocks are the only painted ones, and text
 * on them is black or white.
 */
#ifndef TUI_PALETTE_H
#define TUI_PALETTE_H

#include <stdint.h>

#include "tui/screen/grid.h"

#define PALETTE_DEFAULT (-1) /* the terminal's own colour */
/* The tier of terminals that take any colour: its colours are 0 to 32767, five bits each of red, green and
 * blue, so that they fit where ncurses keeps those of a pair. */
#define PALETTE_DIRECT 32768

struct palette_look {
	int16_t ink, ground; /* colour index or PALETTE_DEFAULT */
	uint8_t attributes;  /* GRID_REVERSE where blocks have no colour */
	uint8_t _pad[3];
};

struct palette {
	int colours; /* PALETTE_DIRECT, 256, 16, 8 or 0: mono */
	struct palette_look looks[GRID_STYLE_COUNT];
};

/* How the colours are chosen: `auto` is readable on black and on white; `dark` and `light` are for one of
 * them; `contrast` has no pale text; `safe` has fewer, for colour-blind eyes. One for the whole program. */
enum palette_theme {
	PALETTE_AUTO,
	PALETTE_DARK,
	PALETTE_LIGHT,
	PALETTE_CONTRAST,
	PALETTE_SAFE,
	PALETTE_THEMES
};
/* Of palettes made from now on. */
void palette_set_theme(enum palette_theme wanted);
const char *palette_theme_name(enum palette_theme of);
int palette_theme_find(const char *name); /* -1: none */

/* Colours that functions have in that tier: slots apart by as many look alike. */
unsigned palette_slots(int colours);
/* Another slot for a function beside one of the slot `taken`, which looks different from it. */
unsigned palette_second_slot(uint64_t hash, unsigned taken, int colours);
/* Number of the terminal's pair for a style, from 1; styles that look alike in fewer colours share one. */
int palette_pair(const struct palette *palette, int style);

/* The richest tier that `colours` allows. */
int palette_tier(int colours);
/* Gives a colour index of the terminal to a user style; nothing where there are not so many colours. */
void palette_set_user(struct palette *palette, int user, int index);
/* Of that tier. */
void palette_init(struct palette *palette, int colours);

/* xterm's default colour of an index below 256: 0xRRGGBB. */
uint32_t palette_rgb(int index);
/* The nearest colour of PALETTE_DIRECT. */
int palette_direct(uint32_t rgb);
/* ... of a colour in a tier. */
uint32_t palette_colour_rgb(int colours, int colour);

/* Context colour of a function: the same in every view, window, depth, rank and run. */
unsigned palette_slot(uint64_t hash);

#endif
