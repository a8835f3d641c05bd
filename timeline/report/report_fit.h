/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_fit.h - tables on a terminal: a row that is wider gets its longest texts shortened in the middle,
 * where paths and templates say least; where that is not enough it takes several lines. What goes to a file
 * or a pipe stays as long as it is.
 */
#ifndef TIMELINE_REPORT_FIT_H
#define TIMELINE_REPORT_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "store/base/bytes.h"

#define REPORT_FIT_LEAST 28u /* characters that are left of a text */
#define REPORT_FIT_HANG 4u   /* spaces before the further lines of a row */

/* Characters in a line of the terminal that `out` is; 0: it is none, or does not say. */
size_t report_fit_terminal(FILE *out);

/* Takes from the widest of the widths that are texts, until `count` of them, two spaces between, are no wider
 * than `terminal` (0: as wide as they like), or nothing is left to take. None falls below its `least`. */
void report_fit(size_t *widths, const bool *are_texts, const size_t *least, size_t count, size_t terminal);

/* Of a row of columns that were fitted to these widths and are still too wide: begins[i] is set where a
 * further line begins, behind REPORT_FIT_HANG spaces, and the texts of each line are as wide as wanted if it
 * has room. False: the row is not too wide. */
bool report_fit_fold(size_t *widths, const size_t *wanted, const bool *are_texts, const size_t *least,
	bool *begins, size_t count, size_t terminal);

/* Characters of UTF-8. */
size_t report_fit_width(const char *bytes, size_t size);

/* Appends the text in so many characters at most. */
void report_fit_put(struct store_bytes *to, const char *bytes, size_t size, size_t width);

/* Writes the text as lines of at most `terminal` characters, broken between words, each but the first behind
 * `hang` spaces. */
void report_fit_words(FILE *out, const char *text, size_t size, size_t hang, size_t terminal);

/* A sentence, or lines of them, on standard output: a terminal that has no room for one gets it as
 * report_fit_words() breaks it. A newline follows. */
void report_fit_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
