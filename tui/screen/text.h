/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - characters and their width on a terminal: UTF-8 in and out, cells instead of bytes, and
 * the one gate through which names from traced programs pass before they are drawn.
 *
 * Widths come from the C library, so LC_CTYPE must be set; in a locale that is not UTF-8 only ASCII counts
 * as printable.
 */
#ifndef TUI_TEXT_H
#define TUI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The next character of NUL-terminated UTF-8; the bytes it took, at least 1. Malformed bytes come out one by
 * one as U+FFFD. */
size_t text_rune(const char *text, uint32_t *rune);
/* Writes up to 4 bytes, without NUL; their number. */
size_t text_encode(char *bytes, uint32_t rune);
/* Cells that a character takes: 1 or 2; 0 for what cannot be drawn (control, combining, unassigned). */
int text_rune_cells(uint32_t rune);
/* The nearest ASCII character: eighths, folds, lines, cursor mark. */
uint32_t text_rune_ascii(uint32_t rune);

/* Cells that clean text takes. */
int text_cells(const char *text);
/* Bytes of its longest beginning, or end, of at most `cells` cells. */
size_t text_head(const char *text, int cells);
size_t text_tail(const char *text, int cells);

/* Raw bytes made safe to draw: control, malformed and zero-width ones become \xHH, and with `is_ascii` all
 * that is not ASCII. Cut at a character's border to fit `size_bytes`, NUL included. */
void text_clean(char *out, size_t size_bytes, const char *raw, bool is_ascii);

#endif
