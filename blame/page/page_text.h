/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_text.h - what both pages, of GPUs and of threads, say in both their forms, for people and as rows for
 * scripts: sentences, what to look at next, and the columns of the rows.
 *
 * Pages stand on a terminal: narrower ones get shorter names and bars, and sentences are broken between
 * words. What goes to a file or a pipe is as wide as it likes.
 *
 *   |  1 name, or a text with its bar                | 44.14 ms    37.3 % |   8.265 ms at 11.03 s
 *   |<---------------- page_width_left() ---------------->|<--- PAGE_NUMBERS -->|<-- page_width_fits_gap()
 */
#ifndef BLAME_PAGE_TEXT_H
#define BLAME_PAGE_TEXT_H

#include "blame/gpu/gpu_pending.h"
#include "blame/page/answer.h"
#include "blame/page/page.h"
#include "timeline/report/program.h"

/* Definitions. */
#define PAGE_SHARED                                                                                    \
	"Active threads share an idle interval equally; a synchronization is activity while no work\n" \
	"of its process runs or is queued (since its launch, " GPU_PENDING_TEXT "). It ends\n"         \
	"with the call: up to a thread's next sample its caller is at work"
#define PAGE_SCRIPT \
	"Causes are functions of scripts, with all that they call (--by function: the innermost of all)"
#define PAGE_UNUSED "GPUs count from their first use, when the process made its first context for one"

#define PAGE_TEXT_MAX 160
/* Why much of a flight recording is unknown. */
#define PAGE_THINNED "records older than what hpct-record --keep kept were dropped"

/* Why no thread worked. */
void page_nobody(struct program_call *call, const struct page *page, char text[PAGE_TEXT_MAX]);

/* For people, in `width` columns. Shortens long keys, template arguments first. */
void page_key_print(const char *key, int width);

/* For people, on a line of its own. Shortens a long path: first template arguments, then frames between its
 * root, which identifies the thread, and its end, which distinguishes paths; keeps Python's innermost
 * function. */
void page_path_print(const char *path);

/* Kernels that faulted, each with the path of its launch: for people, ahead of all that the page says, and as
 * rows. */
void page_faults_print(struct program_call *call, const struct findings *findings);
void page_rows_faults(struct report *report, struct program_call *call, const struct findings *findings);

/* A command, and what it shows. */
struct page_hint {
	const char *command, *why;
};
#define PAGE_HINTS 12
/* Returns their number; texts are in the call's arena. */
size_t page_hints(struct program_call *call, const struct ask *ask, const struct page *page,
	struct page_hint hints[PAGE_HINTS]);
/* "PROGRAM RUN ANSWER OPTIONS". */
struct page_hint page_hint_of(struct program_call *call, const char *program, const char *answer,
	const char *options, const char *why);
/* The page's options as a command line, each after a space: of hpct-blame's own options these ("group busy
 * waits"), of the selector's these (NULL: all). In the call's arena. */
const char *page_options(
	struct program_call *call, const struct ask *ask, const char *own, const char *selector);
void page_hints_print(const struct page_hint *hints, size_t count);

/* Adds a hint (1) if Python's interpreter was recorded without names of Python functions; else 0. */
size_t page_hint_python(const struct run *run, struct page_hint *hint);

/* A row for scripts: "section key time_ns percent path gap_begin_ns gap_ns count text". */
struct page_row {
	const char *section, *key;
	uint64_t time_ns, whole_ns; /* no per cent without whole_ns */
	const char *path;	    /* may be NULL, like the text */
	const struct gap *gap;
	uint64_t count;
	bool has_time, has_count;
	const char *text;
};
int page_rows_open(struct report **report, const struct program_call *call, struct error *error);
void page_row_put(struct report *report, const struct program_call *call, const struct page_row *row);
/* First row: the window, and the number of processes or threads. */
void page_rows_window(struct report *report, const struct program_call *call, uint64_t count);
/* Where the time of the whole went. */
void page_rows_parts(struct report *report, const struct program_call *call, const char *section,
	const struct page_part *parts, size_t count, uint64_t whole_ns);
void page_rows_coverage(
	struct report *report, const struct program_call *call, const struct coverage *coverage);
void page_rows_hints(
	struct report *report, const struct program_call *call, const struct page_hint *hints, size_t count);
/* On one line. */
void page_rows_definition(struct report *report, struct program_call *call, const char *text);

/* ---- width ---- */

/* Columns for texts, left of a time and its share; PAGE_WIDTH_PART of them for the label of a bar. */
int page_width_left(void);
#define PAGE_WIDTH_PART 48
/* A part's bar, as wide as it may be; the time and share at the right of a row. */
void page_bar_print(uint64_t part_ns, uint64_t whole_ns);
void page_time_print(uint64_t time_ns, double percent);
/* The line above such rows; `last` stands above their times. */
void page_head_print(const char *head, const char *last, const char *behind);
/* True when a gap fits right of the share. */
bool page_width_fits_gap(void);

/* True when each line of the text fits. */
bool page_width_fits(const char *text);
/* Prints the lines; a wrapped line continues after `hang` spaces. */
void page_width_say(const char *text, int hang);

#endif
