/* SPDX-License-Identifier: Apache-2.0 */
/* lane.c - see lane.h. */
#include "tui/screen/lane.h"

#include <math.h>
#include <string.h>

#define BLOCK 0x2580u /* plus eighths */
#define BAND 0x2577u  /* a thin line in a cell's lower half */
#define NARROW 0.2    /* of the most: values within that have a scale of their own */

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
	int all = lines * 8, eighths = (int)(part * all + 0.5);

	if (eighths < 1)
		return value > scale->least;
	return eighths > all ? all : eighths;
}

static void draw_column(
	struct grid *grid, int row, int column, int lines, int mean, int most, enum grid_style style)
{
	for (int line = 0; line < lines; line++) {
		int below = (lines - 1 - line) * 8, filled = mean - below;

		if (filled > 0)
			grid_put(
				grid, row + line, column, BLOCK + (uint32_t)(filled < 8 ? filled : 8), style);
		else if (most > below)
			grid_put(grid, row + line, column, BAND, GRID_GREY);
	}
}

void lane_draw(struct grid *grid, int row, int column, int lines, int wide,
	const struct figure_column *columns, uint32_t count, const struct lane_scale *scale,
	const struct figure_condition *condition)
{
	for (uint32_t i = 0; i < count; i++) {
		bool is_met = condition && figure_condition_holds(condition, columns[i].mean);

		for (int cell = 0; columns[i].is_there && cell < wide; cell++)
			draw_column(grid, row, column + (int)i * wide + cell, lines,
				lane_eighths(scale, columns[i].mean, lines),
				lane_eighths(scale, columns[i].most, lines),
				is_met ? GRID_WARNING : GRID_TEXT);
	}
}
