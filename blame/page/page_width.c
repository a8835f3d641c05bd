/* SPDX-License-Identifier: Apache-2.0 */
/* page_width.c - see page_width.h. */
#include "blame/page/page_width.h"

#include <stdio.h>
#include <string.h>

#include "timeline/report/report_fit.h"

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
	size_t width = report_fit_terminal(stdout);

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

bool page_width_fits_gap(void)
{
	return columns() >= LEFT + NUMBERS + GAP;
}

int page_width_path(void)
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
