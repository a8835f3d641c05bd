/* SPDX-License-Identifier: Apache-2.0 */
/* stall_bar.c - see stall_bar.h. */
#include "tui/code/stall_bar.h"

#include <stdio.h>
#include <string.h>

#define LEGEND_LEAST 0.0005 /* of the samples: less would read 0.0 % */

/* Work is green and what is ready grey, as far as the terminal can. Slots are far apart in the tiers of 16
 * and of 8 colours, too (palette.c), for the reasons that are met most. */
static const struct {
	char letter;
	unsigned char style; /* enum grid_style */
} looks[STALL_COUNT] = {[STALL_NONE] = {'#', GRID_BLOCK + 6},
	[STALL_IFET] = {'F', GRID_BLOCK + 4},
	[STALL_IDEP] = {'D', GRID_BLOCK + 1},
	[STALL_GMEM] = {'G', GRID_BLOCK + 0},
	[STALL_TMEM] = {'X', GRID_COPY_OUT},
	[STALL_SYNC] = {'S', GRID_BLOCK + 2},
	[STALL_CMEM] = {'C', GRID_BLOCK + 7},
	[STALL_PIPE] = {'P', GRID_BLOCK + 5},
	[STALL_MTHR] = {'T', GRID_BLOCK + 3},
	[STALL_NSEL] = {'N', GRID_MIXED},
	[STALL_OTH] = {'O', GRID_COPY_IN},
	[STALL_SLP] = {'Z', GRID_BLOCK + 8}};

/* What has less than half of a cell is a letter alone, so that blocks stand for many samples. */
static enum grid_style ink_of(unsigned stall)
{
	unsigned style = looks[stall].style;

	if (style >= GRID_BLOCK)
		return (enum grid_style)(style - GRID_BLOCK + GRID_INK);
	return style == GRID_MIXED ? GRID_GREY : GRID_WARNING;
}

void stall_order_take(struct stall_order *order, const double by[STALL_COUNT])
{
	for (unsigned stall = 0; stall < STALL_COUNT; stall++) {
		unsigned at = stall;

		for (; at > 0 && by[order->stalls[at - 1]] < by[stall]; at--)
			order->stalls[at] = order->stalls[at - 1];
		order->stalls[at] = (unsigned char)stall;
	}
}

static double sum_of(const double by[STALL_COUNT])
{
	double sum = 0;

	for (unsigned stall = 0; stall < STALL_COUNT; stall++)
		sum += by[stall];
	return sum;
}

void stall_bar_draw(struct grid *grid, int row, int column, int cells, const double by[STALL_COUNT],
	const struct stall_order *order, double most)
{
	double sum = sum_of(by), passed = 0;
	int length = most > 0 ? (int)(sum / most * cells + 0.5) : 0, at = 0;
	bool is_block = length > 0;

	if (sum <= 0 || cells <= 0)
		return;
	length = length < 1 ? 1 : length > cells ? cells : length;
	for (unsigned i = 0; i < STALL_COUNT; i++) {
		passed += by[order->stalls[i]];
		/* a cell has the reason that holds its middle */
		while (at < length && (at + 0.5) / length * sum <= passed) {
			unsigned stall = order->stalls[i];

			grid_put(grid, row, column + at, (unsigned char)looks[stall].letter,
				is_block ? looks[stall].style : ink_of(stall));
			at++;
		}
	}
}

const char *stall_bar_name(enum stall stall)
{
	return stall == STALL_NONE ? "issued" : stall_name(stall);
}

void stall_bar_legend(struct grid *grid, int row, int column, int cells, const double by[STALL_COUNT],
	const struct stall_order *order)
{
	double sum = sum_of(by);
	int at = column, end = column + cells;
	char text[48];

	for (unsigned i = 0; i < STALL_COUNT && sum > 0; i++) {
		unsigned stall = order->stalls[i];

		if (by[stall] < LEGEND_LEAST * sum)
			return;
		snprintf(text, sizeof(text), "%s %.1f %%", stall_bar_name(stall), 100 * by[stall] / sum);
		if (at + 2 + (int)strlen(text) > end)
			return;
		grid_put(grid, row, at, (unsigned char)looks[stall].letter, looks[stall].style);
		at = grid_text(grid, row, at + 2, end - at - 2, text, GRID_TEXT) + 2;
	}
}
