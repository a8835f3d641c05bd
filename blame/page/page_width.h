/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_width.h - how the pages stand on a terminal: narrower ones get shorter names and bars, and sentences
 * are broken between words. What goes to a file or a pipe is as wide as it likes.
 *
 *   |  1 name, or a text with its bar                | 44.14 ms    37.3 % |   8.265 ms at 11.03 s
 *   |<---------------- page_width_left() ---------------->|<--- PAGE_NUMBERS -->|<-- page_width_fits_gap()
 * -->
 */
#ifndef BLAME_PAGE_WIDTH_H
#define BLAME_PAGE_WIDTH_H

#include <stdbool.h>

/* Columns for texts, ahead of a time and its share; of these the first for what a bar stands for. */
int page_width_left(void);
#define PAGE_WIDTH_PART 48
/* Whether a gap fits behind the share. */
bool page_width_fits_gap(void);
/* Columns for a call path below its row. */
int page_width_path(void);

/* Whether each of its lines does. */
bool page_width_fits(const char *text);
/* The line or lines; one that does not fit goes on behind `hang` spaces. */
void page_width_say(const char *text, int hang);

#endif
