/* SPDX-License-Identifier: Apache-2.0 */
/* report_fit.c - see report_fit.h. */
#include "timeline/report/report_fit.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/report/terminal.h"

static const char gap[] = "...";

#define GAP_WIDTH (sizeof gap - 1)

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

/* Of the columns that stay, the one to go first: empty ones, then what the caller can spare, then from the
 * right. SIZE_MAX: none may. */
static size_t next_to_go(const struct report_fit_column *columns, size_t count)
{
	size_t worst = SIZE_MAX, worst_worth = REPORT_FIT_KEEP;

	for (size_t i = count; i-- > 1;) {
		size_t worth = columns[i].is_empty ? 0 : columns[i].worth;

		if (!columns[i].is_gone && worth < worst_worth) {
			worst = i;
			worst_worth = worth;
		}
	}
	return worst;
}

/* The least that the columns which stay take, with two spaces between. */
static size_t least_total(const struct report_fit_column *columns, size_t count)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++) {
		size_t least = columns[i].least;

		if (columns[i].is_gone)
			continue;
		total += (total ? 2 : 0) +
			 (columns[i].is_text && columns[i].width > least ? least : columns[i].width);
	}
	return total;
}

size_t report_fit_drop(struct report_fit_column *columns, size_t count, size_t terminal)
{
	size_t gone = 0;

	while (terminal && least_total(columns, count) > terminal) {
		size_t next = next_to_go(columns, count);

		if (next == SIZE_MAX)
			break;
		columns[next].is_gone = true;
		gone++;
	}
	return gone;
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
	size_t terminal = terminal_columns(stdout);
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
