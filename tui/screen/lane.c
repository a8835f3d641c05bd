/* SPDX-License-Identifier: Apache-2.0 */
/* lane.c - see lane.h. */
#include "tui/screen/lane.h"

#include <math.h>
#include <string.h>

#define BLOCK 0x2580u /* plus eighths */
#define ABOVE_LEAST 0x2593u
#define BAND 0x2502u	 /* a thin line */
#define BAND_END 0x2577u /* in a cell's lower half alone */
#define BOUND 0x2504u
#define BRAILLE 0x2800u
#define DOTS 4	   /* of a line */
#define NARROW 0.2 /* of the most: values within that have a scale of their own */

/* 1, 2 or 5 times a power of ten (of 1024 for bytes), not below the value. */
static double round_up(double value, bool is_bytes)
{
	static const double steps[] = {1, 2, 5, 10};
	double unit = 1;

	if (!(value > 0))
		return 1;
	while (is_bytes && value / unit >= 1024)
		unit *= 1024;
	value /= unit;
	unit *= pow(10, floor(log10(value)));
	value /= pow(10, floor(log10(value)));
	for (unsigned i = 0; i < 4; i++)
		if (value <= steps[i] * (1 + 1e-9))
			return steps[i] * unit;
	return 10 * unit;
}

struct lane_scale lane_scale(const struct figure_column *columns, uint32_t count, const char *unit)
{
	struct lane_scale scale = {INFINITY, -INFINITY};

	for (uint32_t i = 0; i < count; i++) {
		if (!columns[i].is_there)
			continue;
		scale.least = columns[i].least < scale.least ? columns[i].least : scale.least;
		scale.most = columns[i].most > scale.most ? columns[i].most : scale.most;
	}
	if (!isfinite(scale.most))
		return (struct lane_scale){0, 1};
	if (!strcmp(unit, "%") && scale.most <= 100)
		return (struct lane_scale){0, 100};
	if (scale.most > 0 && scale.least > scale.most * (1 - NARROW) && scale.least < scale.most) {
		double margin = (scale.most - scale.least) / 2;

		return (struct lane_scale){scale.least - margin, scale.most + margin / 4};
	}
	return (struct lane_scale){scale.least < 0 ? scale.least : 0, round_up(scale.most, unit[0] == 'B')};
}

void lane_scale_join(struct lane_scale *scale, const struct lane_scale *other)
{
	scale->least = other->least < scale->least ? other->least : scale->least;
	scale->most = other->most > scale->most ? other->most : scale->most;
}

int lane_eighths(const struct lane_scale *scale, double value, int lines)
{
	double part = (value - scale->least) / (scale->most - scale->least);
	int all = lines * 8, eighths;

	if (part >= 1) /* far above a scale that the user chose, or at its end */
		return all;
	eighths = part > 0 ? (int)(part * all + 0.5) : 0;
	return eighths ? eighths : value > scale->least;
}

/* Of one column, from the lane's foot: how many eighths the least, the mean and the most fill. */
struct band {
	int least, mean, most;
};

/* What a line shows that begins `below` eighths above the foot; ' ': nothing. */
static uint32_t band_rune(const struct band *band, int below)
{
	int filled = band->mean - below;

	if (filled >= 8)
		return below >= band->least && band->least < band->mean ? ABOVE_LEAST : BLOCK + 8;
	if (filled > 0)
		return BLOCK + (uint32_t)filled;
	if (band->most <= below)
		return ' ';
	return band->most > below + 8 ? BAND : BAND_END;
}

/* The line that the bound lies in, from the top; negative: none. */
static int bound_line(const struct lane_scale *scale, const struct figure_condition *condition, int lines)
{
	double part;

	if (!condition || lines < 2)
		return -1;
	part = (condition->bound - scale->least) / (scale->most - scale->least);
	return part >= 0 && part < 1 ? lines - 1 - (int)(part * lines) : -1;
}

void lane_draw(struct grid *grid, int row, int column, int lines, int wide,
	const struct figure_column *columns, uint32_t count, const struct lane_scale *scale,
	const struct figure_condition *condition)
{
	const int bound = bound_line(scale, condition, lines);

	for (uint32_t i = 0; i < count; i++) {
		const bool is_met = condition && columns[i].is_there &&
				    figure_condition_holds(condition, columns[i].mean);
		const struct band band = {lane_eighths(scale, columns[i].least, lines),
			lane_eighths(scale, columns[i].mean, lines),
			lane_eighths(scale, columns[i].most, lines)};

		for (int line = 0; line < lines; line++) {
			const int below = (lines - 1 - line) * 8;
			uint32_t rune = columns[i].is_there ? band_rune(&band, below) : ' ';
			enum grid_style style = below >= band.mean ? GRID_GREY
						: is_met	   ? GRID_WARNING
								   : GRID_HEADING;

			if (rune == ' ' && line == bound) {
				rune = BOUND;
				style = GRID_GREY;
			}
			for (int cell = 0; rune != ' ' && cell < wide; cell++)
				grid_put(grid, row + line, column + (int)i * wide + cell, rune, style);
		}
	}
}

/* ---- as dots ---- */

/* The dot's bit in a cell: those of the three upper rows count down the left side, then the right one; the
 * lowest row came later. */
static uint32_t dot_bit(int side, int from_top)
{
	return from_top == 3 ? 0x40u << side : 1u << (from_top + 3 * side);
}

/* The dot, from the foot, that a part of the scale lies in. */
static int level(double part, int all)
{
	return part >= 1 ? all - 1 : part > 0 ? (int)(part * all) : 0;
}

/* The dots of one side of a cell whose lowest one is `below` dots above the foot. */
static uint32_t dots_of(
	const struct lane_scale *scale, const struct figure_column *column, int lines, int side, int below)
{
	const int all = lines * DOTS;
	const double part = 1 / (scale->most - scale->least);
	int low, high;
	uint32_t dots = 0;

	if (!column->is_there)
		return 0;
	low = level((column->least - scale->least) * part, all);
	high = level((column->most - scale->least) * part, all);
	for (int dot = 0; dot < DOTS; dot++)
		if (below + dot >= low && below + dot <= high)
			dots |= dot_bit(side, DOTS - 1 - dot);
	return dots;
}

static bool is_met(const struct figure_condition *condition, const struct figure_column *column)
{
	return condition && column->is_there && figure_condition_holds(condition, column->mean);
}

void lane_draw_dots(struct grid *grid, int row, int column, int lines, int wide,
	const struct figure_column *columns, uint32_t count, const struct lane_scale *scale,
	const struct figure_condition *condition)
{
	const int bound = bound_line(scale, condition, lines), cells = (int)count * wide / 2;

	for (int cell = 0; cell < cells; cell++) {
		const struct figure_column *left = &columns[2 * cell / wide],
					   *right = &columns[(2 * cell + 1) / wide];
		const bool is_warned = is_met(condition, left) || is_met(condition, right);

		for (int line = 0; line < lines; line++) {
			const int below = (lines - 1 - line) * DOTS;
			uint32_t dots = dots_of(scale, left, lines, 0, below) |
					dots_of(scale, right, lines, 1, below);

			if (dots)
				grid_put(grid, row + line, column + cell, BRAILLE + dots,
					is_warned ? GRID_WARNING : GRID_HEADING);
			else if (line == bound)
				grid_put(grid, row + line, column + cell, BOUND, GRID_GREY);
		}
	}
}
