/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_summary.c - for every column the share of each context over the streams on the screen (S4 10.9.3): the
 * largest contexts at the bottom, states on top, in the same order in all columns.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/session/session.h"
#include "tui/timeline/sums.h"
#include "tui/views/views.h"

#define SUMMARY_CONTEXTS 14 /* with a letter of their own; the others are one band */

/* One band of the picture. */
struct band {
	uint64_t id; /* of sums.h; UINT64_MAX with the state: a state; ids beyond the bands: the rest */
	uint32_t class;
	uint32_t function;
	enum extent_state state;
	char letter;
	bool is_rest;
};

struct summary {
	struct band bands[SUMMARY_CONTEXTS + 1 + EXTENT_STATE_COUNT];
	size_t count, rest; /* rest: index of the band of the others */
	uint64_t *time_ns;  /* [column][band] */
	bool used[128];	    /* letters */
};

static const enum extent_state states_upwards[] = {EXTENT_COPY_IN, EXTENT_COPY_OUT, EXTENT_SET, EXTENT_SYNC,
	EXTENT_BLOCKED, EXTENT_RUNNABLE, EXTENT_IDLE, EXTENT_UNKNOWN, EXTENT_UNMONITORED, EXTENT_LOST,
	EXTENT_ABSENT};

/* A letter out of the name: small for CPU code, capital for kernels; any that is free when all are taken. */
static char choose_letter(struct summary *summary, const char *name, bool is_kernel)
{
	static const char spare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (int pass = 0; pass < 2; pass++) {
		for (const char *at = pass ? spare : name; *at; at++) {
			int letter = (unsigned char)*at;
			if (letter >= 128 || !isalpha(letter))
				continue;
			letter = pass ? letter : is_kernel ? toupper(letter) : tolower(letter);
			if (summary->used[letter])
				continue;
			summary->used[letter] = true;
			return (char)letter;
		}
	}
	return '*';
}

static bool has_band(const struct sums_line *line)
{
	return line->id != UINT64_MAX && (line->state == EXTENT_WORK || line->state == EXTENT_KERNEL) &&
	       line->function != UINT32_MAX;
}

static int compare_lines(const void *a, const void *b)
{
	const struct sums_line *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void choose_bands(
	struct session *session, struct summary *summary, struct sums_line *lines, size_t count)
{
	char name[LABEL_BYTES];

	if (count)
		qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count && summary->count < SUMMARY_CONTEXTS; i++) {
		struct band *band = &summary->bands[summary->count];
		if (!has_band(&lines[i]))
			continue;
		*band = (struct band){.id = lines[i].id,
			.class = lines[i].class,
			.function = lines[i].function,
			.state = lines[i].state};
		label_fit(name, run_function(session->run, band->function)->name, 32, LABEL_CELL, true);
		band->letter = choose_letter(summary, name, band->state == EXTENT_KERNEL);
		summary->count++;
	}
	summary->rest = summary->count;
	summary->bands[summary->count++] =
		(struct band){.is_rest = true, .letter = '%', .function = UINT32_MAX, .state = EXTENT_WORK};
	for (size_t i = 0; i < sizeof(states_upwards) / sizeof(states_upwards[0]); i++)
		summary->bands[summary->count++] = (struct band){.id = UINT64_MAX,
			.class = states_upwards[i],
			.state = states_upwards[i],
			.function = UINT32_MAX,
			.letter = extent_state_glyph(states_upwards[i])};
}

static size_t band_of(struct session *session, const struct summary *summary, const struct tile_entry *entry)
{
	uint64_t id;

	if (entry->state != EXTENT_WORK && entry->state != EXTENT_KERNEL) {
		for (size_t i = summary->rest + 1; i < summary->count; i++)
			if (summary->bands[i].state == entry->state)
				return i;
		return summary->rest;
	}
	id = sums_key(&session->frame, entry, 0, STATS_FUNCTION);
	for (size_t i = 0; i < summary->rest; i++)
		if (summary->bands[i].id == id && summary->bands[i].class == entry->state)
			return i;
	return summary->rest;
}

/* False when memory is out. */
static bool summary_take(struct session *session, struct summary *summary)
{
	uint32_t *streams = calloc((size_t)session->rows.shown_count + 1, sizeof(*streams));
	uint32_t columns = session->frame.columns.count;
	struct sums_line *lines = NULL;
	uint32_t stream_count;
	size_t count;

	*summary = (struct summary){0};
	if (!streams)
		return false;
	stream_count = session_streams_on_screen(session, streams);
	if (sums_add_up(&lines, &count, &session->frame, streams, stream_count, STATS_FUNCTION) == 0) {
		choose_bands(session, summary, lines, count);
		summary->time_ns = calloc((size_t)columns * summary->count + 1, sizeof(uint64_t));
	}
	for (uint32_t s = 0; s < stream_count && summary->time_ns; s++) {
		const struct frame_line *line = frame_line(&session->frame, streams[s]);
		for (uint32_t c = 0; line && c < columns; c++)
			for (uint32_t e = line->first[c]; e < line->first[c + 1]; e++)
				summary->time_ns[c * summary->count +
						 band_of(session, summary, &line->entries[e])] +=
					line->entries[e].time_ns;
	}
	free(lines);
	free(streams);
	return summary->time_ns != NULL;
}

static enum grid_style band_style(struct session *session, const struct band *band)
{
	if (band->is_rest)
		return GRID_MIXED;
	if (band->function != UINT32_MAX)
		return session_style(
			session, band->state, run_function(session->run, band->function)->hash, false);
	if (extent_state_is_busy(band->state))
		return session_style(session, band->state, 0, false);
	return band->state == EXTENT_SYNC   ? GRID_WARNING
	       : band->state == EXTENT_LOST ? GRID_ERROR
					    : GRID_GREY;
}

/* The band that covers the middle of text row `row` of `rows`, counted from the bottom. */
static const struct band *band_at(const struct summary *summary, uint32_t column, uint32_t row, uint32_t rows)
{
	const uint64_t *time_ns = &summary->time_ns[(size_t)column * summary->count];
	uint64_t total_ns = 0, sum_ns = 0;

	for (size_t i = 0; i < summary->count; i++)
		total_ns += time_ns[i];
	for (size_t i = 0; i < summary->count; i++) {
		sum_ns += time_ns[i];
		if (total_ns && (double)sum_ns * rows * 2 > (double)total_ns * (2 * row + 1))
			return &summary->bands[i];
	}
	return NULL;
}

static void draw_axis(struct session *session, struct grid *grid, int row, uint32_t at, uint32_t rows)
{
	const char *label = at + 1 == rows ? "100 %" : at == 0 ? "0 %" : at == rows / 2 ? "50 %" : NULL;
	char text[16];

	if (!label)
		return;
	snprintf(text, sizeof(text), "%s -", label);
	grid_text_right(grid, row, 0, session->layout.label - 1, text, GRID_GREY);
}

static void draw_chart(
	struct session *session, struct grid *grid, int top, uint32_t rows, const struct summary *summary)
{
	int wide = session->cells_wide, left = session->layout.label;

	for (uint32_t at = 0; at < rows; at++) {
		int row = top + (int)(rows - 1 - at);
		draw_axis(session, grid, row, at, rows);
		for (uint32_t c = 0; c < session->frame.columns.count; c++) {
			const struct band *band = band_at(summary, c, at, rows);
			for (int i = 0; band && i < wide; i++)
				grid_put(grid, row, left + (int)c * wide + i, (uint32_t)band->letter,
					band_style(session, band));
		}
	}
	grid_mark(
		grid, top + (int)rows - 1, left + (int)session_column(session) * wide, wide, GRID_UNDERLINE);
}

static void band_name(struct session *session, const struct band *band, char *out, int cells, bool is_ascii)
{
	struct cell_share share = {.state = band->state, .function = band->function};

	if (band->is_rest)
		snprintf(out, LABEL_BYTES, "others");
	else
		session_share_name(session, out, &share, LABEL_CELL, cells);
	if (text_cells(out) > cells)
		label_fit(out, strdupa(out), cells, LABEL_CELL, is_ascii);
}

static bool is_in_picture(const struct session *session, const struct summary *summary, size_t band)
{
	for (uint32_t c = 0; c < session->frame.columns.count; c++)
		if (summary->time_ns[(size_t)c * summary->count + band])
			return true;
	return false;
}

/* Two columns of names, contexts first. */
static void draw_legend(
	struct session *session, struct grid *grid, struct grid_area area, const struct summary *summary)
{
	int across = area.columns >= 34 ? area.columns / 17 : 1, cell = 0;
	char name[LABEL_BYTES];

	for (size_t i = 0; i < summary->count && cell < area.rows * across; i++) {
		int row = area.row + cell / across, at = area.column + cell % across * 17;
		if (!is_in_picture(session, summary, i) || summary->bands[i].state == EXTENT_ABSENT)
			continue;
		grid_put(grid, row, at, (uint32_t)summary->bands[i].letter,
			band_style(session, &summary->bands[i]));
		band_name(session, &summary->bands[i], name, 14, grid->is_ascii);
		grid_text(grid, row, at + 2, 14, name, GRID_TEXT);
		cell++;
	}
}

static void draw_bands(struct session *session, struct grid *grid, struct grid_area area)
{
	int right = session->layout.label + session->layout.cells + 2;
	bool is_beside = grid->columns - right >= 17;
	int rows = area.rows - (is_beside ? area.rows >= 13 : area.rows >= 5 ? 2 : 0);
	struct grid_area legend = {area.row + rows, 2, area.rows - rows, area.columns - 2};
	struct summary summary;
	char text[120];

	if (rows < 1)
		return;
	if (is_beside)
		legend = (struct grid_area){area.row, right, rows, grid->columns - right};
	if (summary_take(session, &summary)) {
		rows = rows > 10 && rows < 14 ? 10 : rows; /* tenths are easily read */
		draw_chart(session, grid, area.row, (uint32_t)rows, &summary);
		draw_legend(session, grid, legend, &summary);
	}
	snprintf(text, sizeof(text), "one text row = %.3g %% of the streams on screen", 100.0 / rows);
	if (is_beside && rows < area.rows)
		grid_text(grid, area.row + area.rows - 1, 0, area.columns, text, GRID_GREY);
	free(summary.time_ns);
}

static void summary_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	const struct layout *layout = &session->layout;

	if (session->full == &view_summary) {
		view_margins_draw(session, grid);
		area = layout->timeline;
		area.rows = layout->status - (layout->path >= 0) - area.row;
		area.columns = grid->columns;
	}
	if (session->is_unread)
		grid_text(grid, area.row, 2, area.columns - 2, "reading ...", GRID_GREY);
	else if (session_streams_on_screen(session, NULL) == 0)
		grid_text(grid, area.row, 2, area.columns - 2, SESSION_NO_STREAM, GRID_GREY);
	else
		draw_bands(session, grid, area);
}

const struct view view_summary = {.name = "Summary", .key = '3', .draw = summary_draw};
