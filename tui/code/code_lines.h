/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_lines.h - the samples of a kernel by line of one source file: sums of the instructions that the
 * binary's line table puts on it.
 */
#ifndef TUI_CODE_LINES_H
#define TUI_CODE_LINES_H

#include "blame/stalls/kernel_listing.h"

struct code_line {
	uint32_t line, count; /* count: instructions */
	uint32_t hottest;     /* instruction of the listing, with most samples of the line */
	double all, by[STALL_COUNT];
};

struct code_lines {
	uint32_t file;		/* of the listing; LISTING_NO_FILE: none */
	struct code_line *list; /* those with instructions, by line */
	uint32_t count;
	double most; /* of one line */
};

/* Sums up unless it is that file already. False: no memory. An all-zero struct has nothing to free. */
bool code_lines_take(struct code_lines *lines, const struct kernel_listing *listing, uint32_t file);
void code_lines_fini(struct code_lines *lines);
/* NULL: no instruction is of that line. */
const struct code_line *code_lines_find(const struct code_lines *lines, uint32_t line);

#endif
