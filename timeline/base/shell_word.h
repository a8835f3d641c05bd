/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_word.h - quotes a text for a command line that is shown to be copied into a shell: names of traced
 * programs may hold anything.
 */
#ifndef TIMELINE_SHELL_WORD_H
#define TIMELINE_SHELL_WORD_H

#include <stddef.h>

/* Writes the text as one word of a shell: as it is, if no shell reads more than the text from it; else in
 * quotes; with escapes ($'...': bash, ksh, zsh, busybox) where it has bytes that terminals obey or that are
 * not UTF-8. Too long a text is cut, and its quotes are closed. size_bytes: at least 8. Returns `out`. */
const char *shell_word(char *out, size_t size_bytes, const char *text);
/* The same, in quotes at any rate. */
const char *shell_word_quoted(char *out, size_t size_bytes, const char *text);

#endif
