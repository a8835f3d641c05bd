/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_page.h - the source and the instructions of one GPU kernel with their samples: the kernel under the
 * cursor of the timeline, or one that another view asked for. One cursor stands on an instruction and on its
 * line. view_code.c draws it, code_move.h moves in it.
 */
#ifndef TUI_CODE_PAGE_H
#define TUI_CODE_PAGE_H

#include "tui/code/code_lines.h"
#include "tui/models/source.h"
#include "tui/session/session.h"

#define CODE_TRAIL 32
#define CODE_SHARE_LEAST 0.05 /* of an instruction's stalls, that a cause explains to be shown */

enum code_side { CODE_INSTRUCTIONS, CODE_SOURCE };

struct code_place {
	char *kernel; /* NULL: none */
	uint32_t count, at;
	unsigned trail_count;
};

struct code_page {
	struct kernel_listing listing;
	struct code_lines lines; /* of `file` */
	uint64_t key;		 /* of the question that it answers */
	bool is_loaded;
	struct code_place shown; /* where the cursor was when a kernel was last shown */
	char *kernel;		 /* that is asked for; NULL: the one with most time */
	bool is_chosen;		 /* by another view: the timeline's cursor is not asked */
	const struct view *back; /* that asked; NULL: none */
	uint32_t at;		 /* instruction with the cursor */
	uint32_t file, line;	 /* with the cursor on the source's side; LISTING_NO_FILE: none, 0: none */
	bool has_source;	 /* one of the kernel's files was found */
	size_t searched;	 /* maps and directories when they were looked for */
	enum code_side side;
	int shift[2];		  /* by side: cells of text that are left of the screen */
	uint32_t top, source_top; /* row, and line, at the top of each side */
	int rows, source_rows;	  /* on the screen */
	uint32_t trail[CODE_TRAIL];
	unsigned trail_count;
	char trouble[1200]; /* why there is nothing to show; "" */
};

/* The page, made at the first call; NULL: memory is out. */
struct code_page *code_page_of(struct session *session);
void code_page_free(struct code_page *page);
/* The kernel under the cursor of the timeline has code to show: the run has samples of instructions. */
bool code_page_is_offered(struct session *session);
/* Opens the view on a kernel (NULL: that of the cursor); `back`: where q leads. */
void code_page_open(
	struct session *session, const struct view *view, const char *kernel, const struct view *back);
/* Reads the samples if the question has changed. False: nothing to show, `trouble` says why. */
bool code_page_take(struct session *session, struct code_page *page);

/* Puts the cursor on an instruction and its line. */
void code_page_set(struct code_page *page, uint32_t at);
/* Puts it on a line of the same file, and on its hottest instruction, if it has any. */
void code_page_set_line(struct code_page *page, uint32_t line);
/* One of the kernel's files is found, those with most samples first. Where all below a directory is searched,
 * only some are looked for. */
bool code_page_find_source(const struct code_page *page, struct source *source);
/* The text of the cursor's file; NULL: it was not found, or no line is known. */
struct source *code_page_source(struct session *session, struct code_page *page);
/* The sums of its lines. */
const struct code_lines *code_page_lines(struct code_page *page);

/* The most frequent reason but "issued"; STALL_NONE: it was never seen to wait. */
enum stall code_page_stall(const struct listing_instruction *of);

/* Rows of the instructions' side: functions have a heading where there are several. */
uint32_t code_page_row_count(const struct code_page *page);
uint32_t code_page_row_of(const struct code_page *page, uint32_t at);
/* The instruction of a row; UINT32_MAX, and *function: the heading of that one. */
uint32_t code_page_row_at(const struct code_page *page, uint32_t row, uint32_t *function);

#endif
