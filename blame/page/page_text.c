/* SPDX-License-Identifier: Apache-2.0 */
/* page_text.c - see page_text.h. */
#include "blame/page/page_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blame/page/answer.h"
#include "timeline/report/report_fit.h"
#include "timeline/report/terminal.h"

#define LEFT 76
#define LEFT_LEAST 52 /* a part's text, and a bar of four */
#define NUMBERS 21
#define GAP 23
#define PATH 100
#define PATH_LEAST 40
#define PATH_INDENT 7

/* Of a file as of a terminal that has room for all. */
static int columns(void)
{
	size_t width = terminal_columns(stdout);

	return width && width < 10000 ? (int)width : 10000;
}

static int between(int value, int least, int most)
{
	if (value > most)
		return most;
	return value < least ? least : value;
}

int page_width_left(void)
{
	return between(columns() - NUMBERS, LEFT_LEAST, LEFT);
}

void page_bar_print(uint64_t part_ns, uint64_t whole_ns)
{
	int bar = page_width_left() - PAGE_WIDTH_PART,
	    width = (int)((double)part_ns * bar / (double)whole_ns + 0.5);

	fputs(terminal_style(stdout, TERMINAL_HEAD), stdout);
	for (int i = 0; i < bar; i++)
		putchar(i < width ? '#' : ' ');
	fputs(terminal_style(stdout, TERMINAL_PLAIN), stdout);
}

void page_time_print(uint64_t time_ns, double percent)
{
	char text[REPORT_HUMAN_MAX];

	report_human_duration(text, time_ns);
	printf(" %10s %s%7.1f %%%s", text, terminal_style(stdout, terminal_style_share(percent)), percent,
		terminal_style(stdout, TERMINAL_PLAIN));
}

void page_head_print(const char *head, const char *last, const char *behind)
{
	printf("\n%s%-*s %10s %9s%s%s\n", terminal_style(stdout, TERMINAL_HEAD), page_width_left(), head,
		last, "share", behind, terminal_style(stdout, TERMINAL_PLAIN));
}

bool page_width_fits_gap(void)
{
	return columns() >= LEFT + NUMBERS + GAP;
}

/* Columns for a call path below its row. */
static int page_width_path(void)
{
	return between(columns() - PATH_INDENT, PATH_LEAST, PATH);
}

bool page_width_fits(const char *text)
{
	int width = columns();

	for (; *text; text += strcspn(text, "\n") + (strchr(text, '\n') != NULL))
		if (report_fit_width(text, strcspn(text, "\n")) > (size_t)width)
			return false;
	return true;
}

void page_width_say(const char *text, int hang)
{
	if (!text || page_width_fits(text))
		puts(text ? text : "");
	else
		report_fit_words(stdout, text, strlen(text), (size_t)hang, (size_t)columns());
}

void page_nobody(struct program_call *call, const struct page *page, char text[PAGE_TEXT_MAX])
{
	const struct last_arrival_party *last = page->late.held_ns ? &page->late.parties[0] : NULL;

	if (last)
		snprintf(text, PAGE_TEXT_MAX, "%s was last at %llu of %llu collective calls",
			answer_party_name(call->run, last->stream, &call->arena),
			(unsigned long long)last->last, (unsigned long long)page->late.occasions);
	else if (!page->threads)
		snprintf(text, PAGE_TEXT_MAX, "no CPU thread is among the streams");
	else if (page->idle.no_core_ns * 2 > page->idle.all_idle_ns)
		snprintf(text, PAGE_TEXT_MAX, "a thread that could work waits for a core");
	else if (page->waited.count && page->waited.rows[0].time_ns >= page->idle.unexplained_ns)
		snprintf(text, PAGE_TEXT_MAX, "threads wait in %s", page->waited.rows[0].key);
	else
		snprintf(text, PAGE_TEXT_MAX, "what the threads did is not known");
}

/* What is left at least of a path's end beside a function of Python's. */
#define PATH_END(width) ((width)*3 / 10)

/* Whether a name's template arguments begin here: not at "<thread root>", nor at "operator<". */
static bool opens_arguments(const char *text, size_t at)
{
	return text[at] == '<' && at > 0 && (isalnum((unsigned char)text[at - 1]) || text[at - 1] == '_') &&
	       (at < 8 || strncmp(text + at - 8, "operator", 8) != 0);
}

/* Without what stands in template arguments, in place: "function_ref<>::callback_fn<>". */
static void collapse(char *text)
{
	size_t kept = 0, depth = 0;

	for (size_t i = 0; text[i]; i++) {
		bool opens = opens_arguments(text, i) || (depth && text[i] == '<');

		if (depth && text[i] == '>' && text[i - 1] != '-')
			depth--;
		if (!depth)
			text[kept++] = text[i];
		depth += opens;
	}
	text[kept] = '\0';
}

/* "py::NAME:/FOLDERS/FILE" -> "py::NAME:...FOLDERS/FILE", in place: its end tells more than its begin. */
static void cut_folders(char *text, size_t width)
{
	size_t bytes = strlen(text), name = 4 + strcspn(text + 4, ":") + 1;
	size_t gone = bytes > width ? bytes - width + 3 : 0;

	if (!gone || strncmp(text, "py::", 4) != 0 || name + gone > bytes)
		return;
	memcpy(text + name, "...", 3);
	memmove(text + name + 3, text + name + gone, bytes - name - gone + 1);
}

void page_key_print(const char *key, int width)
{
	char *text = strlen(key) > (size_t)width ? strdup(key) : NULL;

	if (text) {
		collapse(text);
		cut_folders(text, (size_t)width);
	}
	printf("%-*.*s", width, width, text ? text : key);
	free(text);
}

/* The innermost function of Python's, which maps for perf call "py::NAME:FILE". Its bytes in the path, 0:
 * there is none; *file: its file's name begins so far into it, and *folders so far ahead of that. */
static size_t python_find(const char *path, size_t *at, size_t *folders, size_t *file)
{
	const char *last = NULL, *found = path, *slash;
	size_t bytes;

	while ((found = strstr(found, ";py::")))
		last = ++found;
	if (!last)
		return 0;
	*at = (size_t)(last - path);
	bytes = strcspn(last, ";");
	*folders = 4 + strcspn(last + 4, ":;") + 1;
	if (*folders > bytes) /* C++ may have a namespace py, too: no file */
		*folders = bytes;
	*file = *folders;
	for (slash = last + *folders; *folders < bytes && slash < last + bytes; slash++)
		if (*slash == '/')
			*file = (size_t)(slash - last) + 1;
	return bytes;
}

/* "ROOT;...;PYTHON;...END": keeps the frames that identify the thread and the code, drops those in between.
 */
static void path_shorten(const char *text, size_t length, size_t width)
{
	size_t root = strcspn(text, ";"), room = width - root - 4, at, folders, file;
	size_t bytes = python_find(text, &at, &folders, &file), shown = bytes - (bytes ? file - folders : 0);
	bool has_python = bytes && at + bytes < length - room && shown + 5 + PATH_END(width) <= room;
	const char *end;

	if (has_python)
		room -= shown + 5;
	end = text + length - room;
	while (((unsigned char)*end & 0xc0) == 0x80)
		end++;
	printf("       %.*s;...", (int)root, text);
	if (has_python)
		printf(";%.*s%.*s;...", (int)folders, text + at, (int)(bytes - file), text + at + file);
	printf("%s\n", end);
}

void page_path_print(const char *path)
{
	char *text = path && *path ? strdup(path) : NULL;
	size_t length = text ? strlen(text) : 0, width = (size_t)page_width_path();

	if (!length) {
		free(text);
		return;
	}
	if (length > width)
		collapse(text);
	length = strlen(text);
	if (length <= width || strcspn(text, ";") + 5 > width)
		printf("       %.*s\n", (int)(length <= width ? length : width), text);
	else
		path_shorten(text, length, width);
	free(text);
}

/* ---- rows for scripts ---- */

int page_rows_open(struct report **report, const struct program_call *call, struct error *error)
{
	static const struct report_column columns[] = {{"section", REPORT_TEXT}, {"key", REPORT_COMPOSED},
		{"time_ns", REPORT_NUMBER}, {"percent", REPORT_PERCENT}, {"path", REPORT_COMPOSED},
		{"gap_begin_ns", REPORT_NUMBER}, {"gap_ns", REPORT_NUMBER}, {"count", REPORT_NUMBER},
		{"text", REPORT_TEXT}};

	return report_open(
		report, stdout, call->format, "hpct-blame", columns, sizeof columns / sizeof *columns, error);
}

static void put_number(struct report *report, bool is_there, uint64_t value)
{
	if (is_there)
		report_number(report, value);
	else
		report_none(report);
}

void page_row_put(struct report *report, const struct program_call *call, const struct page_row *row)
{
	const struct gap *gap = row->gap;

	report_string(report, row->section);
	report_string(report, row->key);
	put_number(report, row->has_time, row->time_ns);
	if (row->whole_ns)
		report_real(report, 100.0 * (double)row->time_ns / (double)row->whole_ns);
	else
		report_none(report);
	report_string(report, row->path);
	put_number(report, gap, gap ? gap->begin_ns - run_origin_ns(call->run) : 0);
	put_number(report, gap, gap ? gap->end_ns - gap->begin_ns : 0);
	put_number(report, row->has_count, row->count);
	report_string(report, row->text);
	report_row(report);
}

void page_rows_window(struct report *report, const struct program_call *call, uint64_t count)
{
	page_row_put(report, call,
		&(struct page_row){.section = "window",
			.key = select_has_time(call->select) ? "window" : "whole run",
			.time_ns = select_end_ns(call->select) - select_begin_ns(call->select),
			.has_time = true,
			.has_count = true,
			.count = count,
			.text = run_path(call->run)});
}

void page_rows_parts(struct report *report, const struct program_call *call, const char *section,
	const struct page_part *parts, size_t count, uint64_t whole_ns)
{
	for (size_t i = 0; i < count; i++)
		page_row_put(report, call,
			&(struct page_row){.section = section,
				.key = parts[i].key,
				.time_ns = parts[i].time_ns,
				.has_time = true,
				.whole_ns = whole_ns,
				.text = parts[i].text});
}

static void put_count(struct report *report, const struct program_call *call, const char *key, uint64_t count)
{
	page_row_put(report, call,
		&(struct page_row){.section = "coverage", .key = key, .has_count = true, .count = count});
}

void page_rows_coverage(
	struct report *report, const struct program_call *call, const struct coverage *coverage)
{
	page_row_put(report, call,
		&(struct page_row){.section = "coverage",
			.key = "streams",
			.time_ns = coverage->monitored_ns,
			.has_time = true,
			.whole_ns = coverage->lived_ns,
			.has_count = true,
			.count = coverage->streams});
	put_count(report, call, "lost", coverage->lost);
	put_count(report, call, "partial_stacks", coverage->partial);
	put_count(report, call, "stacks", coverage->samples);
}

void page_rows_hints(
	struct report *report, const struct program_call *call, const struct page_hint *hints, size_t count)
{
	for (size_t i = 0; i < count; i++)
		page_row_put(report, call,
			&(struct page_row){.section = "next", .key = hints[i].command, .text = hints[i].why});
}

void page_rows_definition(struct report *report, struct program_call *call, const char *text)
{
	char *line = arena_printf(&call->arena, "%s", text);

	for (char *at = line; at && *at; at++)
		if (*at == '\n')
			*at = ' ';
	page_row_put(report, call, &(struct page_row){.section = "definition", .text = line});
}
