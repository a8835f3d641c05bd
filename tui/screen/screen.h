/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.h - the terminal: shows grids, hands out keys, and leaves everything as it was. The sole user of
 * ncurses, which sends only what differs from what the terminal shows already.
 *
 * One terminal per process, one thread. Signals that end the program (INT, TERM, HUP, QUIT) are seen as
 * SCREEN_SIGNAL, so that the terminal is restored before the program dies by them.
 */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include "store/base/error.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"

#define SCREEN_SIGNAL 0x120000u /* from screen_key: a signal asks the program to end */

/* ---- mouse ---- */

enum mouse_kind { MOUSE_CLICK, MOUSE_DOUBLE, MOUSE_DRAG, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };

struct mouse_event {
	enum mouse_kind kind;
	int row, column;
	int from_row, from_column; /* of a drag: where the button went down */
};

/* ---- terminal ---- */

/* Takes the terminal over. `colours`: at most so many, -1: what it has. */
int screen_open(int colours, struct error *error);
/* Gives it back. May be called when it is not open. */
void screen_close(void);
/* The signal behind SCREEN_SIGNAL: after screen_close, dies by it. */
void screen_die(void);

int screen_colours(void); /* PALETTE_DIRECT, 256, 16, 8 or 0 */
/* Puts the user's colours in force: indices of the terminal's. */
void screen_set_users(const int *indices, int count);
/* Limits the colours from now on (0: the limit of screen_open, -1: none); returns how many remain. */
int screen_set_colours(int most);
/* A palette_theme; call screen_set_colours() next. */
void screen_set_theme(int theme);
/* Whether the terminal reports the mouse. */
void screen_set_mouse(bool is_on);
/* The mouse event, after KEYS_MOUSE. */
struct mouse_event screen_mouse(void);
void screen_size(int *rows, int *columns);

/* Shows the grid; with `is_anew` the terminal is cleared first. */
void screen_show(const struct grid *grid, bool is_anew);
/* Shows an area of it alone, in a picture of the same size that is shown. */
void screen_show_area(const struct grid *grid, struct grid_area area);
/* Puts text on the status line of what is shown, until the next picture. */
void screen_status(const char *text);
/* The next key, KEYS_NONE after `timeout_ms` (-1: waits for ever, 0: what is there). */
uint32_t screen_key(int timeout_ms);
/* A key is there to be read. */
bool screen_has_key(void);

#endif
