/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_fit.h - fits tables to a terminal: a row that is too wide gets its longest texts shortened in the
 * middle, where paths and templates are least informative; if that is not enough, columns are left out.
 * Output to files and pipes stays as it is.
 */
#ifndef TIMELINE_REPORT_FIT_H
#define TIMELINE_REPORT_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "store/base/bytes.h"

#define REPORT_FIT_LEAST 28u /* fewest characters kept of a text */

/* Reduces the widest text columns until `count` columns, with two spaces between, fit `terminal` (0: no
 * limit), or none can be reduced. No column falls below its `least`. */
void report_fit(size_t *widths, const bool *are_texts, const size_t *least, size_t count, size_t terminal);

/* A column as a terminal's width sees it. `worth`: the least goes first, of equal ones the last; nobody drops
 * the first column, nor what is worth REPORT_FIT_KEEP. */
#define REPORT_FIT_KEEP 3u
struct report_fit_column {
	size_t width, least; /* a text may be shortened to `least` */
	unsigned worth;
	bool is_text, is_empty, is_gone;
};

/* Drops columns until what is left fits `terminal` (0: no limit), texts at their least. How many it dropped.
 */
size_t report_fit_drop(struct report_fit_column *columns, size_t count, size_t terminal);

/* Number of UTF-8 characters. */
size_t report_fit_width(const char *bytes, size_t size);

/* Appends the text, shortened to `width` characters. */
void report_fit_put(struct store_bytes *to, const char *bytes, size_t size, size_t width);

/* Writes the text as lines of at most `terminal` characters, wrapped between words; all but the first begin
 * with `hang` spaces. */
void report_fit_words(FILE *out, const char *text, size_t size, size_t hang, size_t terminal);

/* Prints a sentence, or lines of them, and a newline on stdout, wrapped like report_fit_words() on a narrow
 * terminal. */
void report_fit_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
