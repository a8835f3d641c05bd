/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ruler.c - chooses the step of the ticks and writes their labels with no more digits than tell neighbours
 * apart.
 */
#include "tui/screen/ruler.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tui/screen/format_number.h"
#include "tui/screen/text.h"

struct scale {
	int wide; /* screen columns of a cell */
	const char *unit;
	uint64_t unit_ns;
	int decimals;
	struct ruler_zero zero;
};

static uint64_t magnitude(int64_t ns)
{
	return ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
}

/* The unit of the farthest time on the screen; decimals as the step needs. */
static struct scale choose_scale(uint64_t farthest_ns, uint64_t step_ns, struct ruler_zero zero)
{
	struct scale scale = {.unit = "s", .unit_ns = 1000000000, .zero = zero};

	if (farthest_ns < 1000)
		scale.unit = "ns", scale.unit_ns = 1;
	else if (farthest_ns < 1000000)
		scale.unit = "us", scale.unit_ns = 1000;
	else if (farthest_ns < 1000000000)
		scale.unit = "ms", scale.unit_ns = 1000000;
	if (zero.wall_ns)
		scale.unit_ns = 1000000000;
	for (uint64_t fine = scale.unit_ns; step_ns % fine && fine > 1; fine /= 10)
		scale.decimals++;
	return scale;
}

/* Digits behind the point in groups of three. */
static void put_decimals(char *out, size_t size_bytes, uint64_t fraction, uint64_t unit_ns, int decimals)
{
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < decimals && used + 3 < size_bytes; i++) {
		unit_ns /= 10;
		if (i && i % 3 == 0)
			out[used++] = ' ';
		out[used++] = (char)('0' + fraction / unit_ns % 10);
		out[used] = '\0';
	}
}

static void put_wall(char *out, uint64_t wall_ns, int decimals)
{
	time_t seconds = (time_t)(wall_ns / 1000000000);
	struct tm tm;
	char fraction[24];

	localtime_r(&seconds, &tm);
	put_decimals(fraction, sizeof(fraction), wall_ns % 1000000000, 1000000000, decimals);
	snprintf(out, FORMAT_NUMBER_BYTES, "%02d:%02d:%02d%s%s", tm.tm_hour, tm.tm_min, tm.tm_sec,
		decimals ? "." : "", fraction);
}

static void put_label(char *out, int64_t tick_ns, const struct scale *scale)
{
	uint64_t ns = magnitude(tick_ns);
	char fraction[24];

	if (scale->zero.wall_ns) {
		put_wall(out, scale->zero.wall_ns + (uint64_t)tick_ns, scale->decimals);
		return;
	}
	put_decimals(fraction, sizeof(fraction), ns % scale->unit_ns, scale->unit_ns, scale->decimals);
	snprintf(out, FORMAT_NUMBER_BYTES, "%s%llu%s%s %s", tick_ns < 0 ? "-" : "",
		(unsigned long long)(ns / scale->unit_ns), scale->decimals ? "." : "", fraction, scale->unit);
}

static int64_t from_zero(uint64_t time_ns, struct ruler_zero zero)
{
	return (int64_t)(time_ns - zero.at_ns);
}

/* The smallest step of 1, 2, 5 x 10^n whose labels keep two cells between them. */
static uint64_t choose_step(const struct frame *frame, int wide, struct ruler_zero zero, struct scale *scale)
{
	int64_t begin = from_zero(frame->begin_ns, zero), end = from_zero(frame->end_ns, zero);
	uint64_t farthest = magnitude(begin) > magnitude(end) ? magnitude(begin) : magnitude(end);
	uint64_t span = frame->end_ns - frame->begin_ns;
	static const uint64_t factors[] = {1, 2, 5};
	char label[FORMAT_NUMBER_BYTES];

	for (uint64_t power = 1;; power *= 10) {
		for (int i = 0; i < 3; i++) {
			uint64_t step = factors[i] * power;
			double cells = (double)step / (double)span * frame->columns.count * wide;
			if (cells < 4)
				continue;
			*scale = choose_scale(farthest, step, zero);
			scale->wide = wide;
			put_label(label, (int64_t)(farthest / step * step), scale);
			if (cells >= text_cells(label) + 2 || power > UINT64_MAX / 100)
				return step;
		}
	}
}

static void draw_tick(struct grid *grid, int row, int column, const struct frame *frame, int64_t tick_ns,
	const struct scale *scale, int cursor)
{
	uint64_t time_ns = scale->zero.at_ns + (uint64_t)tick_ns;
	char label[FORMAT_NUMBER_BYTES];
	int at, cells;

	if (time_ns < frame->begin_ns || time_ns >= frame->end_ns)
		return;
	at = (int)frame_column_at(frame, time_ns) * scale->wide;
	put_label(label, tick_ns, scale);
	cells = text_cells(label);
	grid_put(grid, row, column + at, '|', GRID_GREY);
	if (at + 1 + cells > (int)frame->columns.count * scale->wide || (cursor > at && cursor <= at + cells))
		return;
	grid_text(grid, row, column + at + 1, cells, label, GRID_TEXT);
}

void ruler_draw(struct grid *grid, int row, int column, const struct frame *frame, int wide,
	struct ruler_zero zero, int cursor)
{
	struct scale scale;
	int64_t step, tick, begin = from_zero(frame->begin_ns, zero), end = from_zero(frame->end_ns, zero);

	if (frame->columns.count == 0 || frame->end_ns <= frame->begin_ns)
		return;
	step = (int64_t)choose_step(frame, wide, zero, &scale);
	tick = begin / step * step;
	if (tick < begin && __builtin_add_overflow(tick, step, &tick))
		return;
	while (tick < end) {
		draw_tick(grid, row, column, frame, tick, &scale, cursor * wide);
		if (__builtin_add_overflow(tick, step, &tick))
			break;
	}
	if (cursor >= 0)
		grid_put(grid, row, column + cursor * wide, 0x25bc, GRID_HEADING);
}

void ruler_time(char *out, uint64_t time_ns, uint64_t step_ns, struct ruler_zero zero)
{
	if (zero.wall_ns)
		put_wall(out, zero.wall_ns + (time_ns - zero.at_ns), step_ns < 10000 ? 9 : 6);
	else
		format_number_time(out, from_zero(time_ns, zero), step_ns);
}
