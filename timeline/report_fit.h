/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_fit.h - tables on a terminal: a row that is wider gets its longest texts shortened in the middle,
 * where paths and templates say least. What goes to a file or a pipe stays as long as it is.
 */
#ifndef TIMELINE_REPORT_FIT_H
#define TIMELINE_REPORT_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "store/bytes.h"

#define REPORT_FIT_LEAST 28u /* characters that are left of a text */

/* Characters in a line of the terminal that `out` is; 0: it is none, or does not say. */
size_t report_fit_terminal(FILE *out);

/* Takes from the widest of the widths that are texts, until `count` of them, two spaces between, are no wider
 * than `terminal` (0: as wide as they like), or nothing is left to take. None falls below REPORT_FIT_LEAST or
 * `least` (NULL: 0). */
void report_fit(size_t *widths, const bool *are_texts, const size_t *least, size_t count, size_t terminal);

/* Characters of UTF-8. */
size_t report_fit_width(const char *bytes, size_t size);

/* Appends the text in so many characters at most. */
void report_fit_put(struct store_bytes *to, const char *bytes, size_t size, size_t width);

/* Writes the text as lines of at most `terminal` characters, broken between words, each but the first behind
 * `hang` spaces. */
void report_fit_words(FILE *out, const char *text, size_t size, size_t hang, size_t terminal);

#endif
