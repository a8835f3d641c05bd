/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct.h - the description of a terminal that takes 24-bit colours, where its own terminfo entry knows 256:
 * the same entry, but for how a colour is set. ncurses takes it from TERMINFO as hexadecimal text (term(5)).
 */
#ifndef TUI_DIRECT_H
#define TUI_DIRECT_H

#include <stdbool.h>

/* The environment says that the terminal takes 24-bit colours: COLORTERM is truecolor or 24bit. Not in GNU
 * screen, which passes that variable on and does not know them. */
bool direct_is_said(const char *colorterm, const char *term, const char *tmux);

/* "hex:..." of the terminal of that name, with colours of palette.h's PALETTE_DIRECT; the caller frees it.
 * NULL: it is not known, has fewer than 256 colours, or no memory. Not while ncurses has a terminal open. */
char *direct_terminfo(const char *term);

#endif
