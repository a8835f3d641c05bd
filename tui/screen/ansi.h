/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ansi.h - prints a picture as text with terminal colours, for reports, recordings and tests. Uses ECMA-48
 * sequences and those of 256 or 24-bit colours only.
 */
#ifndef TUI_ANSI_H
#define TUI_ANSI_H

#include <stdio.h>

#include "tui/screen/palette.h"

/* Each line starts and ends with the terminal's own colours. Blank ends of lines are cut unless they are
 * painted. */
void ansi_print(const struct grid *grid, const struct palette *palette, FILE *out);

#endif
