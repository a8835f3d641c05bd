/* SPDX-License-Identifier: Apache-2.0 */
/* report_fit.c - see report_fit.h. */
#include "timeline/report_fit.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char gap[] = "...";

#define GAP_WIDTH (sizeof gap - 1)

size_t report_fit_terminal(FILE *out)
{
	struct winsize size;

	return isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &size) ? size.ws_col : 0;
}

static size_t least_of(const size_t *least, size_t column)
{
	return least && least[column] > REPORT_FIT_LEAST ? least[column] : REPORT_FIT_LEAST;
}

void report_fit(size_t *widths, const bool *are_texts, const size_t *least, size_t count, size_t terminal)
{
	size_t total = count ? 2 * (count - 1) : 0;

	for (size_t i = 0; i < count; i++)
		total += widths[i];
	while (terminal && total > terminal) {
		size_t widest = count, excess = total - terminal, spare;

		for (size_t i = 0; i < count; i++)
			if (are_texts[i] && widths[i] > least_of(least, i) &&
				(widest == count || widths[i] > widths[widest]))
				widest = i;
		if (widest == count)
			return;
		spare = widths[widest] - least_of(least, widest);
		spare = spare < excess ? spare : excess;
		widths[widest] -= spare;
		total -= spare;
	}
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
