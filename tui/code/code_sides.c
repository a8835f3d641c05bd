/* SPDX-License-Identifier: Apache-2.0 */
/* code_sides.c - see code_sides.h: what both sides share. */
#include "tui/code/code_sides.h"

#include <stdio.h>

void code_percent(char out[CODE_PERCENT], const struct code_page *page, double part)
{
	double percent = page->listing.all > 0 ? 100 * part / page->listing.all : 0;

	out[0] = '\0';
	if (part > 0)
		snprintf(out, CODE_PERCENT, percent < 0.005 ? "<0.01" : "%.2f", percent);
}

void code_samples(char out[CODE_PERCENT], const struct code_page *page, double part)
{
	double count = part / (page->listing.period ? (double)page->listing.period : 1);

	out[0] = '\0';
	if (part > 0)
		snprintf(out, CODE_PERCENT, count < 1e9 ? "%.0f" : "%.3g", count);
}

/* The cursor's row in the middle, or the middle between both. */
static uint32_t turned(const struct code_window *window, uint32_t room)
{
	uint32_t low = window->cursor < window->other ? window->cursor : window->other,
		 high = window->cursor < window->other ? window->other : window->cursor, above;

	if (high - low >= room)
		low = high = window->cursor;
	above = (room - 1 - (high - low)) / 2; /* rows */
	return low > above ? low - above : 0;
}

uint32_t code_top(const struct code_window *window, uint32_t top, int rows)
{
	uint32_t room = window->rows > 0 ? (uint32_t)window->rows : 1, edge = room > 8 ? 2 : 0;

	if (rows != window->rows || window->cursor < top + (top ? edge : 0) ||
		window->cursor + edge >= top + room)
		top = turned(window, room);
	if (top + room > window->count)
		top = window->count > room ? window->count - room : 0;
	return top;
}
