/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot.c - computes the profile of one stream after the other and keeps one number of each.
 */
#include "tui/models/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/models/profile_page.h"
#include "tui/screen/label.h"
#include "tui/session/deadline.h"

void plot_free(struct plot *plot)
{
	if (!plot)
		return;
	outline_fini(&plot->outline);
	arena_fini(&plot->arena);
	free(plot->streams);
	free(plot->values);
	free(plot->order);
	free(plot);
}

/* Streams of the page that have samples: the others have no profile. */
static int list_streams(struct session *session, const struct profile_page *page, struct plot *plot)
{
	uint32_t count = run_stream_count(session->run), kept = 0;
	size_t room = (size_t)count + session->rows.shown_count + 1;

	plot->streams = calloc(room, sizeof(*plot->streams));
	plot->values = calloc(room, sizeof(*plot->values));
	plot->order = calloc(room, sizeof(*plot->order));
	if (!plot->streams || !plot->values || !plot->order)
		return -1;
	count = profile_page_streams(session, page, plot->streams);
	for (uint32_t i = 0; i < count; i++)
		if (run_stream(session->run, plot->streams[i])->s.count[STORE_SAMPLES])
			plot->streams[kept++] = plot->streams[i];
	plot->count = kept;
	for (uint32_t i = 0; i < kept; i++) {
		plot->values[i] = NAN;
		plot->order[i] = i;
	}
	return 0;
}

/* Formulas of the page, so that derived metrics can be plotted, too; once metrics are there to speak of. */
static void copy_formulas(struct plot *plot, const struct outline *from)
{
	struct error error;

	for (size_t i = 0; i < from->column_count; i++)
		if (from->columns[i].kind == OUTLINE_DERIVED)
			outline_derive(
				&plot->outline, from->columns[i].name, from->columns[i].text, false, &error);
	plot->has_formulas = true;
}

static void open_plot(struct session *session, struct profile_page *page)
{
	uint32_t row = outline_find_hash(&page->outline, page->cursor);
	char name[LABEL_BYTES];
	struct plot *plot =
		row == UINT32_MAX || !page->outline.column_count ? NULL : calloc(1, sizeof(*plot));

	if (!plot || list_streams(session, page, plot)) {
		session_say(session, "there is nothing to plot here");
		plot_free(plot);
		return;
	}
	plot->scope = page->cursor;
	plot->key = page->key;
	strcpy(plot->column, page->outline.columns[page->outline.sort].name);
	plot->is_time = page->outline.columns[page->outline.sort].is_time;
	profile_page_row_name(&page->outline.profile.rows[row], name, 40, session->looks.is_ascii);
	snprintf(plot->scope_name, sizeof(plot->scope_name), "%.200s", name);
	page->plot = plot;
}

static int compare_values(const void *a, const void *b, void *data)
{
	const struct plot *plot = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double value_x = plot->values[x], value_y = plot->values[y];

	if (plot->kind != PLOT_STREAMS && isnan(value_x) != isnan(value_y))
		return isnan(value_x) ? 1 : -1;
	if (plot->kind != PLOT_STREAMS && value_x != value_y && !isnan(value_x))
		return value_x < value_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void sort(struct plot *plot)
{
	qsort_r(plot->order, plot->count, sizeof(*plot->order), compare_values, plot);
}

void plot_next(struct session *session, struct profile_page *page)
{
	struct plot *plot = page->plot;

	if (!plot) {
		open_plot(session, page);
	} else if (plot->kind + 1 == PLOT_KINDS) {
		plot_free(plot);
		page->plot = NULL;
	} else {
		plot->kind++;
		sort(plot);
	}
}

bool plot_is_reading(const struct plot *plot)
{
	return plot && plot->done < plot->count && !plot->is_stopped;
}

/* A stream has the columns of its own metrics: others may stand elsewhere in the page's. */
static double value_of(const struct plot *plot)
{
	uint32_t row = outline_find_hash(&plot->outline, plot->scope);

	for (size_t i = 0; i < plot->outline.column_count && row != UINT32_MAX; i++)
		if (strcmp(plot->outline.columns[i].name, plot->column) == 0)
			return outline_value(&plot->outline, row, i);
	return 0;
}

/* A stream that never went through the scope has 0 there, as the tree has blanks. False: a key came first. */
static bool read_one(struct session *session, struct profile_page *page, struct plot *plot, uint32_t at)
{
	struct profile nothing = {0};
	struct error error;
	int result = profile_page_compute(session, page, run_stream(session->run, plot->streams[at])->text,
		&plot->outline, &plot->arena, &error);

	if (result && deadline_put_off(session, result))
		return false;
	if (!result && !plot->has_formulas)
		copy_formulas(plot, &page->outline);
	plot->values[at] = result ? 0 : value_of(plot);
	if (result && result != -ERROR_EMPTY) { /* damaged, or stopped: not known */
		plot->values[at] = NAN;
		plot->is_stopped = true;
		session_say(session, "%s", error.text);
	}
	outline_load(&plot->outline, &nothing, &error); /* its rows are in the arena */
	arena_fini(&plot->arena);
	return !plot->is_stopped;
}

void plot_read(struct session *session, struct profile_page *page, unsigned limit_ms)
{
	struct plot *plot = page->plot;
	uint64_t until_ms = deadline_now_ms() + limit_ms;

	while (plot_is_reading(plot) && (!limit_ms || deadline_now_ms() < until_ms) &&
		read_one(session, page, plot, plot->done))
		plot->done++;
	if (plot)
		sort(plot);
}
