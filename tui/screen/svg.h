/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.h - prints a picture as SVG, for reports, slides and pages. The background is white; text stays text,
 * so that it can be searched and copied.
 */
#ifndef TUI_SVG_H
#define TUI_SVG_H

#include <stdio.h>

#include "tui/screen/palette.h"

/* Whether it all got into `out` tells ferror(). */
void svg_print(const struct grid *grid, const struct palette *palette, FILE *out);

#endif
