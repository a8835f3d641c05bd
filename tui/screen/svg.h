/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.h - a picture as SVG: for a report, a slide, a page. On white, as a terminal with a light background
 * shows it; text stays text, which can be found and copied.
 */
#ifndef TUI_SVG_H
#define TUI_SVG_H

#include <stdio.h>

#include "tui/screen/palette.h"

/* Whether it all got into `out` tells ferror(). */
void svg_print(const struct grid *grid, const struct palette *palette, FILE *out);

#endif
