/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h - what a report may do where standard output is a terminal and the user chose no --format:
 * colours, the terminal's width, a pager for what is longer than the screen.
 *
 *   program_main -> terminal_begin -> (the report is kept) -> terminal_end: at once, or through the pager
 *
 * What is kept is standard output's buffer: stdout is then a stream of its own, whose first write out of a
 * full buffer starts the pager, so that a report of any length needs no memory. One terminal a process, one
 * thread.
 */
#ifndef TIMELINE_TERMINAL_H
#define TIMELINE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum terminal_style { TERMINAL_PLAIN, TERMINAL_HEAD, TERMINAL_LARGE, TERMINAL_MIDDLE, TERMINAL_FAINT };

/* Before anything is written; may replace stdout. No-op if standard output is no terminal. `pages`: a pager
 * may be used: HPCT_PAGER, PAGER, or `less -FRX`; none if that is empty or "cat", or TERM is dumb. */
void terminal_begin(bool pages);
/* From now on standard output is as a pipe: whole texts, no colours. */
void terminal_refuse(void);

/* No pager: what follows the report is not to be lost by who leaves it early. */
void terminal_stay(void);

/* terminal_begin() found a terminal. */
bool terminal_is_ours(void);

/* Characters per line of the terminal `out`, also when a pager stands between; 0: no terminal,
 * unknown, or refused. */
size_t terminal_columns(FILE *out);

/* The bytes that switch `out` to a style; "" where it has no colours: not ours, NO_COLOR, TERM is dumb. */
const char *terminal_style(FILE *out, enum terminal_style style);
/* The style of a share: what is large is to be seen first. */
enum terminal_style terminal_style_share(double percent);

/* What is written to `out` is kept until terminal_end(): who flushes it would show it without the pager. */
bool terminal_keeps(FILE *out);

/* Writes what is kept, and waits for the pager's end. Errors stay in stdout, for program_standard_flush(). */
void terminal_end(void);

/* For tests: lines on a terminal of so many columns; a style takes no room. */
size_t terminal_lines(const char *text, size_t size, size_t columns);

#endif
