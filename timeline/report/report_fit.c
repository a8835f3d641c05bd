/* SPDX-License-Identifier: Apache-2.0 */
/* report_fit.c - see report_fit.h. */
#include "timeline/report/report_fit.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char gap[] = "...";

#define GAP_WIDTH (sizeof gap - 1)
#define FOLDED_LEAST 44u /* of a text, where a row takes several lines anyway */

size_t report_fit_terminal(FILE *out)
{
	struct winsize size;

	return isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &size) ? size.ws_col : 0;
}

void report_fit(size_t *widths, const bool *are_texts, const size_t *least, size_t count, size_t terminal)
{
	size_t total = count ? 2 * (count - 1) : 0;

	for (size_t i = 0; i < count; i++)
		total += widths[i];
	while (terminal && total > terminal) {
		size_t widest = count, excess = total - terminal, spare;

		for (size_t i = 0; i < count; i++)
			if (are_texts[i] && widths[i] > least[i] &&
				(widest == count || widths[i] > widths[widest]))
				widest = i;
		if (widest == count)
			return;
		spare = widths[widest] - least[widest];
		spare = spare < excess ? spare : excess;
		widths[widest] -= spare;
		total -= spare;
	}
}

/* How many columns a line has room for, one at least, where texts take so much of what they want. */
static size_t line_count(
	const size_t *wanted, const bool *are_texts, size_t text_most, size_t count, size_t room)
{
	size_t columns = 0, width = 0;

	for (; columns < count; columns++) {
		bool is_cut = are_texts[columns] && wanted[columns] > text_most;

		width += (columns ? 2 : 0) + (is_cut ? text_most : wanted[columns]);
		if (columns && width > room)
			break;
	}
	return columns;
}

bool report_fit_fold(size_t *widths, const size_t *wanted, const bool *are_texts, const size_t *least,
	bool *begins, size_t count, size_t terminal)
{
	size_t first = 0, room = terminal, columns;

	if (!terminal || line_count(widths, are_texts, SIZE_MAX, count, terminal) == count)
		return false;
	for (; first < count; first += columns) {
		columns = line_count(wanted + first, are_texts + first, FOLDED_LEAST, count - first, room);
		memcpy(widths + first, wanted + first, columns * sizeof *widths);
		report_fit(widths + first, are_texts + first, least + first, columns, room);
		begins[first] = first > 0;
		room = terminal > REPORT_FIT_HANG ? terminal - REPORT_FIT_HANG : 1;
	}
	return true;
}

static bool begins_character(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

size_t report_fit_width(const char *bytes, size_t size)
{
	size_t width = 0;

	for (size_t i = 0; i < size; i++)
		width += begins_character(bytes[i]);
	return width;
}

/* Where the character of that number begins. */
static size_t place_of(const char *bytes, size_t size, size_t number)
{
	size_t at = 0;

	for (; at < size; at++)
		if (begins_character(bytes[at]) && !number--)
			break;
	return at;
}

void report_fit_put(struct store_bytes *to, const char *bytes, size_t size, size_t width)
{
	size_t whole = report_fit_width(bytes, size), front, back;

	if (whole <= width || width <= GAP_WIDTH) {
		store_bytes_put(to, bytes, size);
		return;
	}
	front = place_of(bytes, size, (width - GAP_WIDTH + 1) / 2);
	back = place_of(bytes, size, whole - (width - GAP_WIDTH) / 2);
	store_bytes_put(to, bytes, front);
	store_bytes_put(to, gap, GAP_WIDTH);
	store_bytes_put(to, bytes + back, size - back);
}

static size_t count_of(const char *text, const char *end, const char *set, bool is_in)
{
	const char *at = text;

	while (at < end && (strchr(set, *at) != NULL) == is_in)
		at++;
	return (size_t)(at - text);
}

void report_fit_words(FILE *out, const char *text, size_t size, size_t hang, size_t terminal)
{
	const char *end = text + size;
	size_t spaces = count_of(text, end, " \n", true), at = 0;
	bool is_first = true;

	for (text += spaces; text < end; text += spaces) {
		size_t bytes = count_of(text, end, " \n", false), room = report_fit_width(text, bytes);

		if (!is_first && at + spaces + room > terminal) {
			putc('\n', out);
			at = 0;
			spaces = hang;
		}
		fprintf(out, "%*s", (int)spaces, "");
		fwrite(text, 1, bytes, out);
		at += spaces + room;
		is_first = false;
		text += bytes;
		spaces = count_of(text, end, " \n", true);
	}
	putc('\n', out);
}

#define SAY_HANG 2

static void say_line(const char *text, size_t size, size_t terminal)
{
	if (terminal && report_fit_width(text, size) > terminal)
		report_fit_words(stdout, text, size, SAY_HANG, terminal);
	else
		printf("%.*s\n", (int)size, text);
}

void report_fit_say(const char *format, ...)
{
	size_t terminal = report_fit_terminal(stdout);
	char *text;
	va_list arguments;
	int bytes;

	va_start(arguments, format);
	bytes = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (bytes < 0)
		return;
	for (const char *at = text, *end; at; at = *end ? end + 1 : NULL) {
		end = at + strcspn(at, "\n");
		say_line(at, (size_t)(end - at), terminal);
	}
	free(text);
}
