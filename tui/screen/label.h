/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label.h - long names made short enough for their place (tui/SCREEN.md, "Names"). Pure functions from text
 * and a width in cells to text; nothing here knows runs or screens.
 *
 * Names go in as they are in the run, of any bytes, and come out printable (text_clean). Results are UTF-8,
 * NUL-terminated, and at most `cells` wide; an ellipsis is one cell, two where the label is ASCII.
 */
#ifndef TUI_LABEL_H
#define TUI_LABEL_H

#include <stdbool.h>
#include <stddef.h>

/* Enough bytes for a label of any screen width. */
#define LABEL_BYTES 2048

enum label_place {
	LABEL_TABLE, /* every step: template arguments as long as they fit */
	LABEL_CELL,  /* on the timeline: the qualified name without arguments if it fits, else its own name */
	LABEL_STACK  /* own name with <...> first, so that a source position finds room */
};

/* `out` has LABEL_BYTES. */
void label_fit(char *out, const char *name, int cells, enum label_place place, bool is_ascii);

/* Names of streams: they keep their end, a number before all. Files too: whole directories go first. */
void label_stream(char *out, const char *name, int cells, bool is_ascii);
/* A program and what it works on: the program gives way first, "cc1p foo.cc". */
void label_program(char *out, const char *name, int cells, bool is_ascii);
void label_file(char *out, const char *path, int line, int cells, bool is_ascii);

/* A path of `count` frames from the root, the frame `at` in brackets: frames in its middle give way first,
 * never the bracketed one. */
void label_path(char *out, const char *const *frames, size_t count, size_t at, int cells, bool is_ascii);

#endif
