/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_source.c - the source around the line of the cursor's frame, or of the profile's scope, with the time
 * of each line in the window.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/models/profile_page.h"
#include "tui/models/source.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/timeline/sums.h"
#include "tui/views/views.h"

#define SOURCE_NUMBERS 24 /* cells of both columns of times */

/* The place under the cursor. */
struct spot {
	const char *file, *function, *module;
	uint32_t line;
};

static bool spot_of_profile(struct session *session, struct spot *spot)
{
	struct profile_page *page = profile_page_of(session);
	uint32_t at = page ? outline_find_hash(&page->outline, page->cursor) : UINT32_MAX;
	const struct profile_row *row;

	if (at == UINT32_MAX)
		return false;
	row = &page->outline.profile.rows[at];
	*spot = (struct spot){row->file, row->name, row->module, row->line};
	return true;
}

static bool spot_of_cursor(struct session *session, struct spot *spot)
{
	uint32_t context = session_leaf_context(session), function;
	bool is_shorter;

	if (context == 0)
		return false;
	function = frame_function(&session->frame, context, &is_shorter);
	spot->file = sums_position(&session->frame, context, &spot->line);
	spot->function = function == UINT32_MAX ? "" : run_function(session->run, function)->name;
	spot->module = function == UINT32_MAX ? "" : run_function(session->run, function)->module;
	return true;
}

/* ---- drawing ---- */

/* The sentence over as many rows as it needs; how many. */
static int draw_sentence(struct grid *grid, struct grid_area area, const char *raw)
{
	char text[LABEL_BYTES * 4];
	const char *at = text;
	int row = 0;

	text_clean(text, sizeof(text), raw, grid->is_ascii);
	for (; row < area.rows && *at; row++) {
		grid_text(grid, area.row + row, 2, area.columns - 2, at, GRID_TEXT);
		at += text_head(at, area.columns - 2);
	}
	return row;
}

/* In place of the text: the functions that the file is known to define, that of the line among them. */
static void draw_extents(
	const struct source *source, struct grid *grid, struct grid_area area, const struct spot *spot)
{
	const struct source_extent *own = source_extent_at(source->extents, source->extent_count, spot->line);
	size_t room = area.rows > 1 ? (size_t)area.rows - 1 : 0, first = 0,
	       at = own ? (size_t)(own - source->extents) : 0;
	char text[LABEL_BYTES];

	if (!room || !source->extent_count)
		return;
	if (at >= room)
		first = at - room / 2;
	if (first + room > source->extent_count)
		first = source->extent_count > room ? source->extent_count - room : 0;
	grid_text(grid, area.row, 2, area.columns - 2,
		"Its functions and their lines, as far as they were met:", GRID_HEADING);
	for (size_t i = first; i < source->extent_count && i - first < room; i++) {
		const struct source_extent *extent = &source->extents[i];
		int row = area.row + 1 + (int)(i - first);

		snprintf(text, sizeof(text), "%u-%u", extent->first, extent->last);
		grid_text_right(grid, row, 1, 14, text, GRID_GREY);
		label_fit(text, extent->name, area.columns - 17, LABEL_TABLE, grid->is_ascii);
		grid_text(grid, row, 17, area.columns - 17, text, GRID_TEXT);
		if (extent == own)
			grid_put(grid, row, 0, '>', GRID_HEADING);
	}
}

static void draw_nowhere(
	struct session *session, struct grid *grid, struct grid_area area, const struct spot *spot)
{
	struct source *source = session->source;
	char raw[5 * SOURCE_PATH + 64];
	int rows;

	if (!spot->file[0])
		snprintf(raw, sizeof(raw),
			"No line is known of %.400s%s%.400s: it has no debug information here.",
			spot->function, spot->module[0] ? " in " : "", spot->module);
	else
		snprintf(raw, sizeof(raw), "No source for %s. Looked in: %s. :map OLD NEW tells where it is.",
			spot->file, source->file.looked);
	rows = draw_sentence(grid, area, raw);
	if (!spot->file[0])
		return;
	source_look_up(source, session->run);
	area.row += rows;
	area.rows -= rows;
	draw_extents(source, grid, area, spot);
}

static void draw_line(const struct source *source, struct grid *grid, int row, int columns, uint32_t line,
	bool is_cursor, struct format_number_unit unit)
{
	char text[LABEL_BYTES];
	int numbers = columns >= 70 ? SOURCE_NUMBERS : 0;

	snprintf(text, sizeof(text), "%u", line);
	grid_text_right(grid, row, 1, 6, text, GRID_GREY);
	source_line_text(source, line, SOURCE_TAB, text, grid->is_ascii);
	grid_text(grid, row, 9, columns - 9 - numbers, text, GRID_TEXT);
	if (is_cursor) {
		grid_put(grid, row, 0, '>', GRID_HEADING);
		grid_mark(grid, row, 9, columns - 9 - numbers, GRID_BOLD);
	}
	if (!numbers || !source->inclusive_ns || !source->exclusive_ns)
		return;
	format_number_in(text, source->inclusive_ns[line], unit);
	if (source->inclusive_ns[line])
		grid_text_right(grid, row, columns - numbers, 12, text, GRID_TEXT);
	format_number_in(text, source->exclusive_ns[line], unit);
	if (source->exclusive_ns[line])
		grid_text_right(grid, row, columns - numbers + 12, 12, text, GRID_TEXT);
}

/* The page turns only when the line leaves it. */
static uint32_t first_line(struct source *source, uint32_t line, uint32_t room)
{
	if (line < source->first + (room > 4) || line + 1 + (room > 4) > source->first + room)
		source->first = line > room / 2 ? line - room / 2 : 1;
	if (source->first + room > source->file.line_count + 1)
		source->first = source->file.line_count + 1 > room ? source->file.line_count + 1 - room : 1;
	return source->first ? source->first : 1;
}

static void draw_text(
	struct session *session, struct grid *grid, struct grid_area area, const struct spot *spot)
{
	struct source *source = session->source;
	uint32_t room = (uint32_t)area.rows - 1, first = first_line(source, spot->line, room);
	uint64_t most_ns = 0;
	char text[LABEL_BYTES], name[LABEL_BYTES];
	int at;

	label_file(text, source->file.found, (int)spot->line, area.columns / 2, grid->is_ascii);
	at = grid_text(grid, area.row, 0, area.columns, text, GRID_HEADING);
	if (spot->line > source->file.line_count)
		at = grid_text(grid, area.row, at + 2, area.columns - at - 2,
			"(the file is shorter: not the one that was compiled)", GRID_WARNING);
	label_fit(name, spot->function, area.columns / 2 - SOURCE_NUMBERS - 2, LABEL_TABLE, grid->is_ascii);
	if (area.columns >= 70) {
		grid_text(grid, area.row, at + 2, area.columns - SOURCE_NUMBERS - at - 2, name, GRID_TEXT);
		grid_text_right(grid, area.row, area.columns - SOURCE_NUMBERS, 12, "time (I)", GRID_HEADING);
		grid_text_right(grid, area.row, area.columns - 12, 12, "time (E)", GRID_HEADING);
	}
	for (uint32_t line = 1; line <= source->file.line_count && source->inclusive_ns; line++)
		most_ns = source->inclusive_ns[line] > most_ns ? source->inclusive_ns[line] : most_ns;
	for (uint32_t i = 0; i < room && first + i <= source->file.line_count; i++)
		draw_line(source, grid, area.row + 1 + (int)i, area.columns, first + i,
			first + i == spot->line, format_number_unit_for(most_ns));
}

void view_source_draw_at(struct session *session, struct grid *grid, struct grid_area area, bool is_profile)
{
	uint32_t *streams = calloc((size_t)session->rows.shown_count + 1, sizeof(*streams)), count;
	struct source *source = source_of(session);
	struct spot spot = {"", "", "", 0};
	bool is_known = is_profile ? spot_of_profile(session, &spot) : spot_of_cursor(session, &spot);

	if (!streams || !source || area.rows < 2) {
		free(streams);
		return;
	}
	if (!is_known) {
		grid_text(grid, area.row, 2, area.columns - 2,
			"Nothing with a call path is under the cursor.", GRID_GREY);
	} else if (!source_open(source, spot.file)) {
		draw_nowhere(session, grid, area, &spot);
	} else {
		count = session_streams_on_screen(session, streams);
		source_add_up(source, &session->frame, streams, count);
		draw_text(session, grid, area, &spot);
	}
	free(streams);
}

static void source_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	view_source_draw_at(session, grid, area, false);
}

const struct view view_source = {.name = "Source", .key = '7', .draw = source_draw};
