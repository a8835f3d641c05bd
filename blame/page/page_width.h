/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_width.h - fits the pages to a terminal: narrow ones get shorter names and bars, and wrapped
 * sentences. Output to files and pipes has full width.
 *
 *   |  1 name, or a text with its bar                | 44.14 ms    37.3 % |   8.265 ms at 11.03 s
 *   |<---------- page_width_left() ----------------->|<--- PAGE_NUMBERS -->|<- page_width_fits_gap() ->
 */
#ifndef BLAME_PAGE_WIDTH_H
#define BLAME_PAGE_WIDTH_H

#include <stdbool.h>

/* Columns for texts, left of a time and its share; PAGE_WIDTH_PART of them for the label of a bar. */
int page_width_left(void);
#define PAGE_WIDTH_PART 48
/* True when a gap fits right of the share. */
bool page_width_fits_gap(void);
/* Columns for a call path below its row. */
int page_width_path(void);

/* True when each line of the text fits. */
bool page_width_fits(const char *text);
/* Prints the lines; a wrapped line continues after `hang` spaces. */
void page_width_say(const char *text, int hang);

#endif
