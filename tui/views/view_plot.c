/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_plot.c - draws a plot of the profile: one column per stream (or per several: minimum to maximum), or
 * one line per bin of the histogram. The plot has its own keys.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/models/plot.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/views/views.h"

#define PLOT_LABEL 12 /* cells of the numbers at the left */
#define PLOT_BINS 20
#define PLOT_GAP_MAX 3 /* cells of a column where streams are few */

struct extremes {
	double least, most, sum, squares;
	uint32_t count;
};

static struct extremes measure(const struct plot *plot)
{
	struct extremes e = {.least = INFINITY, .most = -INFINITY};

	for (uint32_t i = 0; i < plot->count; i++) {
		double value = plot->values[i];
		if (isnan(value))
			continue;
		e.least = value < e.least ? value : e.least;
		e.most = value > e.most ? value : e.most;
		e.sum += value;
		e.squares += value * value;
		e.count++;
	}
	return e;
}

static void put_value(const struct profile_page *page, char *out, double value)
{
	if (isnan(value))
		strcpy(out, "-");
	else if (page->plot->is_time && value >= 0)
		format_number_short(out, (uint64_t)value);
	else
		snprintf(out, FORMAT_NUMBER_BYTES, "%.4g", value);
}

/* ---- columns ---- */

/* One column of `rows` cells, filled to so many eighths; 8 * rows is the most. */
static void draw_column(
	struct grid *grid, const struct grid_area *area, int column, int eighths, bool is_cursor)
{
	enum grid_style style = is_cursor ? GRID_TEXT : GRID_HEADING;
	int row = area->row + area->rows - 1;

	for (; eighths >= 8; eighths -= 8, row--)
		grid_put(grid, row, column, grid->is_ascii ? '#' : 0x2588, style);
	if (eighths > 0)
		grid_put(grid, row, column, 0x2580u + (uint32_t)eighths, style);
}

static int eighths_of(double value, double most, int rows)
{
	int all = rows * 8, eighths;

	if (isnan(value) || !(value > 0) || !(most > 0))
		return 0;
	eighths = (int)(value / most * all + 0.5);
	return eighths < 1 ? 1 : eighths > all ? all : eighths;
}

/* If streams outnumber columns, one column shows the maximum of several. */
static double column_value(const struct plot *plot, uint32_t from, uint32_t until)
{
	double most = NAN;

	for (uint32_t i = from; i < until && i < plot->count; i++) {
		double value = plot->values[plot->order[i]];
		if (isnan(most) || value > most)
			most = value;
	}
	return most;
}

static void draw_axis(
	const struct profile_page *page, struct grid *grid, const struct grid_area *area, double most)
{
	char text[FORMAT_NUMBER_BYTES];

	for (int part = 0; part <= 2; part++) {
		int row = area->row + (area->rows - 1) * part / 2;
		put_value(page, text, part == 2 ? 0 : most / (part + 1));
		grid_text_right(grid, row, 0, PLOT_LABEL - 2, text, GRID_GREY);
	}
	for (int row = area->row; row < area->row + area->rows; row++)
		grid_put(grid, row, PLOT_LABEL - 1, 0x2502, GRID_GREY);
}

static void draw_columns(const struct session *session, const struct profile_page *page, struct grid *grid,
	struct grid_area area, double most)
{
	const struct plot *plot = page->plot;
	uint32_t room = (uint32_t)(area.columns - PLOT_LABEL),
		 shown = plot->count < room ? plot->count : room;
	int wide = shown ? (int)(room / shown) : 1;
	char label[LABEL_BYTES], first[LABEL_BYTES];

	wide = wide > PLOT_GAP_MAX ? PLOT_GAP_MAX : wide;
	area.rows -= 2;
	draw_axis(page, grid, &area, most);
	/* blanks have the bars' style, so that the terminal changes none from cell to cell */
	for (int row = area.row; row < area.row + area.rows; row++)
		for (int column = PLOT_LABEL; column < PLOT_LABEL + (int)shown * wide; column++)
			grid_put(grid, row, column, ' ', GRID_HEADING);
	for (uint32_t i = 0; i < shown; i++) {
		uint32_t from = (uint32_t)((uint64_t)i * plot->count / shown);
		uint32_t until = (uint32_t)((uint64_t)(i + 1) * plot->count / shown);
		bool is_cursor = plot->cursor >= from && plot->cursor < until;
		double value = column_value(plot, from, until);
		for (int cell = 0; cell < (wide > 1 ? wide - 1 : 1); cell++) {
			int column = PLOT_LABEL + (int)i * wide + cell;
			draw_column(grid, &area, column, eighths_of(value, most, area.rows), is_cursor);
			if (isnan(value))
				grid_put(grid, area.row + area.rows - 1, column, ':', GRID_GREY);
			if (is_cursor)
				grid_put(grid, area.row + area.rows, column, '^', GRID_HEADING);
		}
	}
	if (!plot->count)
		return;
	label_stream(
		first, rows_stream_label(&session->rows, plot->streams[plot->order[0]]), 30, grid->is_ascii);
	label_stream(label, rows_stream_label(&session->rows, plot->streams[plot->order[plot->count - 1]]),
		30, grid->is_ascii);
	grid_text(grid, area.row + area.rows + 1, PLOT_LABEL, 30, first, GRID_GREY);
	if (plot->count > 1 && (int)shown * wide > 64)
		grid_text_right(grid, area.row + area.rows + 1, PLOT_LABEL + (int)shown * wide - 30, 30,
			label, GRID_GREY);
}

/* ---- histogram ---- */

static void draw_histogram(
	const struct profile_page *page, struct grid *grid, struct grid_area area, const struct extremes *e)
{
	const struct plot *plot = page->plot;
	int bins = area.rows < PLOT_BINS ? area.rows : PLOT_BINS, room = area.columns - 46;
	uint32_t counts[PLOT_BINS] = {0}, most = 0;
	double step = bins > 0 ? (e->most - e->least) / bins : 0;
	char low[FORMAT_NUMBER_BYTES], high[FORMAT_NUMBER_BYTES], text[128];

	if (!(step > 0))
		bins = bins > 1 ? 1 : bins;
	for (uint32_t i = 0; i < plot->count; i++) {
		int bin = isnan(plot->values[i]) ? -1
			  : step > 0		 ? (int)((plot->values[i] - e->least) / step)
						 : 0;
		bin = bin >= bins ? bins - 1 : bin;
		if (bin >= 0 && ++counts[bin] > most)
			most = counts[bin];
	}
	for (int bin = 0; bin < bins && most; bin++) {
		int length = room > 0 ? (int)((uint64_t)counts[bin] * (uint64_t)room / most) : 0;
		put_value(page, low, e->least + bin * step);
		put_value(page, high, bin + 1 == bins ? e->most : e->least + (bin + 1) * step);
		snprintf(text, sizeof(text), "%10s .. %-10s %8u stream%s", low, high, counts[bin],
			counts[bin] == 1 ? "" : "s");
		grid_text(
			grid, area.row + bin, 1, area.columns - 1, text, counts[bin] ? GRID_TEXT : GRID_GREY);
		for (int i = 0; i < length; i++)
			grid_put(grid, area.row + bin, 44 + i, grid->is_ascii ? '#' : 0x2588, GRID_HEADING);
	}
}

/* ---- the page ---- */

static void draw_head(const struct profile_page *page, struct grid *grid, const struct grid_area *area,
	const struct extremes *e)
{
	static const char *const kinds[] = {"by stream", "sorted", "histogram"};
	const struct plot *plot = page->plot;
	char name[LABEL_BYTES], text[LABEL_BYTES + 512];
	char least[FORMAT_NUMBER_BYTES], mean[FORMAT_NUMBER_BYTES], most[FORMAT_NUMBER_BYTES];
	int at = 1;

	for (int kind = 0; kind < PLOT_KINDS; kind++) {
		snprintf(text, sizeof(text), (int)plot->kind == kind ? "[%s]" : " %s ", kinds[kind]);
		at = grid_text(grid, area->row, at, area->columns - at, text, GRID_HEADING) + 1;
	}
	text_clean(name, sizeof(name), plot->scope_name, grid->is_ascii);
	snprintf(text, sizeof(text), " %.80s of %s", plot->column, name);
	grid_text(grid, area->row, at, area->columns - at, text, GRID_TEXT);
	if (!e->count)
		return;
	put_value(page, least, e->least);
	put_value(page, mean, e->sum / e->count);
	put_value(page, most, e->most);
	snprintf(text, sizeof(text), "%u/%u streams: least %s, mean %s, most %s, most/mean %.2f, cv %.2f",
		e->count, plot->count, least, mean, most, e->sum > 0 ? e->most * e->count / e->sum : 0,
		e->sum > 0
			? sqrt(fmax(0, e->squares / e->count - pow(e->sum / e->count, 2))) * e->count / e->sum
			: 0);
	grid_text(grid, area->row + 1, 1, area->columns - 1, text, GRID_TEXT);
}

void view_plot_draw(
	struct session *session, struct profile_page *page, struct grid *grid, struct grid_area area)
{
	struct extremes e = measure(page->plot);
	struct grid_area body = {area.row + 3, area.column, area.rows - 3, area.columns};

	draw_head(page, grid, &area, &e);
	if (!page->plot->count)
		grid_text(grid, area.row + 2, 1, area.columns - 1, "None of the streams has samples.",
			GRID_TEXT);
	else if (body.rows < 4)
		return;
	else if (page->plot->kind == PLOT_HISTOGRAM)
		draw_histogram(page, grid, body, &e);
	else
		draw_columns(session, page, grid, body, e.count ? e.most : 0);
}

void view_plot_status(
	const struct session *session, const struct profile_page *page, char *out, size_t size_bytes)
{
	const struct plot *plot = page->plot;
	char value[FORMAT_NUMBER_BYTES];
	uint32_t at;

	if (plot->cursor >= plot->count) {
		snprintf(out, size_bytes, "no stream");
		return;
	}
	if (plot_is_reading(plot)) {
		snprintf(out, size_bytes, "reading stream %u of %u   Esc stops here   keys work",
			plot->done + 1, plot->count);
		return;
	}
	at = plot->order[plot->cursor];
	put_value(page, value, plot->values[at]);
	snprintf(out, size_bytes, "%.60s  %s", rows_stream_label(&session->rows, plot->streams[at]), value);
}

/* ---- keys ---- */

static void go_to_stream(struct session *session, struct profile_page *page)
{
	struct plot *plot = page->plot;
	uint32_t node;

	if (plot->cursor >= plot->count)
		return;
	node = rows_node_of(&session->rows, plot->streams[plot->order[plot->cursor]]);
	if (node == UINT32_MAX || rows_find(&session->rows, node) == UINT32_MAX) {
		session_say(session, "the stream is hidden or filtered out: X shows all");
		return;
	}
	session_keep(session);
	session->state.node = node;
	session_go_home(session);
}

static void close_plot(struct profile_page *page)
{
	plot_free(page->plot);
	page->plot = NULL;
}

bool view_plot_act(struct session *session, struct profile_page *page, enum keys_action action)
{
	struct plot *plot = page->plot;
	uint32_t last = plot->count ? plot->count - 1 : 0, step = 1;

	switch (action) {
	case KEYS_DO_LEFT_TEN:
	case KEYS_DO_RIGHT_TEN:
		step = 10; /* fall through */
	case KEYS_DO_LEFT:
	case KEYS_DO_RIGHT:
		if (action == KEYS_DO_LEFT || action == KEYS_DO_LEFT_TEN)
			plot->cursor -= plot->cursor < step ? plot->cursor : step;
		else
			plot->cursor = plot->cursor + step > last ? last : plot->cursor + step;
		return true;
	case KEYS_DO_WINDOW_BEGIN:
		plot->cursor = 0;
		return true;
	case KEYS_DO_WINDOW_END:
		plot->cursor = last;
		return true;
	case KEYS_DO_ENTER:
		go_to_stream(session, page);
		return true;
	case KEYS_DO_REDRAW:
		plot->is_stopped = false;
		session->is_redraw = true;
		return true;
	case KEYS_DO_CANCEL:
		if (plot_is_reading(plot)) {
			plot->is_stopped = true;
			session_say(session, "stopped at %u of %u streams, Ctrl-L goes on", plot->done,
				plot->count);
			return true;
		} /* fall through */
	case KEYS_DO_QUIT:
		close_plot(page);
		return true;
	case KEYS_DO_PLOT:
	case KEYS_DO_COMMAND_LINE:
	case KEYS_DO_COMMAND:
	case KEYS_DO_HELP:
		return false;
	default:
		return true; /* what cannot be seen must not be changed */
	}
}
