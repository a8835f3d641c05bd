/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status_bars_status.c - the status line: what is under the cursor at the left, how far the numbers can be
 * trusted at the right, which is never cut.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app/status_bars.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"

/* Of the frame's time what the stream lived: of a damaged one no more is known. */
static uint64_t lived_ns(const struct session *session, uint32_t stream)
{
	const struct store_stream *s = &run_stream(session->run, stream)->s;
	const struct frame *frame = &session->frame;
	uint64_t begin_ns = s->begin_ns > frame->begin_ns ? s->begin_ns : frame->begin_ns;
	uint64_t end_ns = s->end_ns < frame->end_ns ? s->end_ns : frame->end_ns;

	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

struct status_bars_coverage status_bars_take_coverage(struct session *session)
{
	struct status_bars_coverage coverage = {.lost_stream = UINT32_MAX};
	uint32_t *streams = calloc((size_t)session->rows.shown_count + 1, sizeof(*streams));
	uint32_t count = streams ? session_streams_on_screen(session, streams) : 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct frame_line *line = frame_line(&session->frame, streams[i]);
		if (!line && session->frame.is_damaged[streams[i]]) {
			coverage.is_damaged = true;
			coverage.there_ns += lived_ns(session, streams[i]);
		}
		if (!line)
			continue;
		coverage.there_ns += line->there_ns;
		coverage.known_ns += line->known_ns;
		coverage.lost_ns += line->lost_ns;
		if (line->lost_ns)
			coverage.lost_stream =
				coverage.lost_stream == UINT32_MAX ? streams[i] : UINT32_MAX - 1;
	}
	free(streams);
	return coverage;
}

static void put_cursor(struct session *session, char *out, size_t size, bool is_wide)
{
	uint32_t column = session_column(session);
	char time[FORMAT_NUMBER_BYTES], length[FORMAT_NUMBER_BYTES], share[FORMAT_NUMBER_BYTES] = "",
								     name[LABEL_BYTES] = "";
	char label[LABEL_BYTES];
	const char *gap = is_wide ? "  " : " ";
	const struct frame_line *line;
	struct cell cell;

	ruler_time(time, session_cursor_ns(session), frame_column_length(&session->frame, column),
		session->zero);
	format_number_short(length, frame_column_length(&session->frame, column));
	if (session_cell(session, &line, &cell)) {
		struct cell_share known = {.state = (enum extent_state)cell.state, .function = cell.function};
		session_share_name(session, name, &known, LABEL_CELL, is_wide ? 32 : 20);
		format_number_share(share, cell.time_ns, frame_column_length(&session->frame, column), 0);
	}
	label_stream(label, rows_long_label(&session->rows, session->state.node), is_wide ? 24 : 16,
		session->looks.is_ascii);
	snprintf(out, size, "%s%s%s +%s%s%s %s", label, gap, time, length, gap, name, share);
}

static void put_columns(const struct session *session, char *out, size_t size)
{
	const struct tile_columns *columns = &session->frame.columns;
	uint64_t least = UINT64_MAX, most = 0;
	char tile[FORMAT_NUMBER_BYTES];

	for (uint32_t i = 0; i < columns->count; i++) {
		uint64_t tiles = columns->edges[i + 1] - columns->edges[i];
		least = tiles < least ? tiles : least;
		most = tiles > most ? tiles : most;
	}
	format_number_duration(tile, (uint64_t)1 << columns->shift, 3);
	if (least == most)
		snprintf(out, size, "%llu x %s", (unsigned long long)least, tile);
	else
		snprintf(out, size, "%llu-%llu x %s", (unsigned long long)least, (unsigned long long)most,
			tile);
}

static void put_coverage(struct session *session, char *out, size_t size, bool is_wide)
{
	struct status_bars_coverage coverage = status_bars_take_coverage(session);
	char share[FORMAT_NUMBER_BYTES], lost[FORMAT_NUMBER_BYTES];
	int used;

	format_number_share(share, coverage.known_ns, coverage.there_ns, 1);
	if (!coverage.there_ns) /* of nothing there is no share */
		strcpy(share, "-");
	else if (coverage.known_ns == coverage.there_ns)
		strcpy(share, "100 %");
	used = snprintf(out, size, is_wide ? "coverage %s" : "cov %s", share);
	if (coverage.lost_ns == 0) {
		snprintf(out + used, size - (size_t)used, "  lost 0");
		return;
	}
	format_number_short(lost, coverage.lost_ns);
	used += snprintf(out + used, size - (size_t)used, "  lost %s", lost);
	if (is_wide && coverage.lost_stream < UINT32_MAX - 1)
		snprintf(out + used, size - (size_t)used, " (%s)",
			rows_stream_label(&session->rows, coverage.lost_stream));
}

/* Bytes of the next line of a message: no word is parted that has room in a line. */
static size_t message_line(const char *text, int columns)
{
	size_t size = text_head(text, columns), word = size;

	if (!text[size])
		return size;
	while (word && text[word] != ' ')
		word--;
	/* one that has none in any line begins here */
	return word && strcspn(text + word + 1, " ") <= (size_t)columns ? word : size;
}

/* What is longer than the line covers the lines above it. */
static void draw_message(const struct session *session, struct grid *grid, int row)
{
	char text[SESSION_MESSAGE];
	const char *at;
	int lines = 0;

	text_clean(text, sizeof(text), session->message, grid->is_ascii);
	for (at = text; *at && lines < row; at += strspn(at, " "), lines++)
		at += message_line(at, grid->columns);
	grid_fill(grid, (struct grid_area){row - lines + 1, 0, lines, grid->columns}, ' ', GRID_TEXT);
	at = text;
	for (int line = row - lines + 1; line <= row; line++, at += strspn(at, " ")) {
		size_t size = message_line(at, grid->columns);
		char part[SESSION_MESSAGE];
		snprintf(part, sizeof(part), "%.*s", (int)size, at);
		grid_text(grid, line, 0, grid->columns, part, GRID_TEXT);
		at += size;
	}
}

void status_bars_draw_status(struct session *session, struct grid *grid)
{
	bool is_wide = grid->columns >= 100;
	char cursor[LABEL_BYTES * 3], columns[64], trust[256], text[LABEL_BYTES * 4];
	int row = session->layout.status, room;

	if (session->message[0]) {
		draw_message(session, grid, row);
		return;
	}
	if (session->is_unread) {
		grid_text(grid, row, 0, grid->columns,
			session->reading[0] ? session->reading : "reading ...   keys work", GRID_TEXT);
		return;
	}
	if (session_row(session) == UINT32_MAX)
		return;
	if (!session->focus || !session->focus->put_status ||
		!session->focus->put_status(session, cursor, sizeof(cursor)))
		put_cursor(session, cursor, sizeof(cursor), is_wide);
	put_columns(session, columns, sizeof(columns));
	put_coverage(session, trust, sizeof(trust), is_wide);
	if (session->cells_wide > 1)
		snprintf(columns + strlen(columns), sizeof(columns) - strlen(columns), "  cells x%d",
			session->cells_wide);
	if (is_wide)
		snprintf(text, sizeof(text), "%s  | column %s | %s", cursor, columns, trust);
	else
		snprintf(text, sizeof(text), "%s  %s", cursor, trust);
	/* how far numbers can be trusted is never cut */
	room = grid->columns - (int)strlen(trust) - 2;
	if (text_cells(text) <= grid->columns) {
		grid_text(grid, row, 0, grid->columns, text, GRID_TEXT);
		return;
	}
	grid_text(grid, row, 0, room, cursor, GRID_TEXT);
	grid_text(grid, row, room + 2, grid->columns - room - 2, trust, GRID_TEXT);
}
