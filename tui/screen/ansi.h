/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ansi.h - a picture as text with the colours that a terminal would show: for a report, a recording, a test.
 * Only the sequences that every terminal since ECMA-48 knows, and those of 256 colours.
 */
#ifndef TUI_ANSI_H
#define TUI_ANSI_H

#include <stdio.h>

#include "tui/screen/palette.h"

/* Each line starts and ends with the terminal's own colours. Blank ends of lines are cut unless they are
 * painted. */
void ansi_print(const struct grid *grid, const struct palette *palette, FILE *out);

#endif
