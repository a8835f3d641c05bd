/* SPDX-License-Identifier: Apache-2.0 */
/* status_bars.c - see status_bars.h. */
#include "tui/app/status_bars.h"

#include <stdio.h>
#include <string.h>

#include "store/base/path.h"
#include "tui/models/advice_page.h"
#include "tui/models/lanes.h"
#include "tui/models/profile_page.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/views/views.h"

/* ---- title ---- */

/* Pieces of the title, from the left; those that have no room are left out whole. */
struct title {
	struct grid *grid;
	int at, end;
};

static void put_piece(struct title *title, const char *text, enum grid_style style)
{
	char clean[LABEL_BYTES];

	text_clean(clean, sizeof(clean), text, title->grid->is_ascii);
	if (title->at + text_cells(clean) > title->end)
		return;
	title->at = grid_text(title->grid, 0, title->at, title->end - title->at, clean, style) + 2;
}

static void put_parts(const struct rows *rows, char *out, size_t size)
{
	int used = 0;

	out[0] = '\0';
	if (rows->host_count > 1)
		used = snprintf(out, size, "%u hosts ", rows->host_count);
	if (rows->rank_count)
		used += snprintf(out + used, size - (size_t)used, "%u rank%s", rows->rank_count,
			rows->rank_count == 1 ? "" : "s");
	else
		used += snprintf(out + used, size - (size_t)used, "%u process%s", rows->process_count,
			rows->process_count == 1 ? "" : "es");
	used += snprintf(out + used, size - (size_t)used, " %u thread%s", rows->thread_count,
		rows->thread_count == 1 ? "" : "s");
	if (rows->device_count)
		snprintf(out + used, size - (size_t)used, " %u GPU%s", rows->device_count,
			rows->device_count == 1 ? "" : "s");
}

/* What was run, and how it ended; where there is room behind all else. */
static void put_command(const struct session *session, struct title *title)
{
	const char *command = run_meta(session->run, "command"), *code = run_meta(session->run, "exit");
	char text[LABEL_BYTES], label[LABEL_BYTES];
	int room = title->end - title->at - 12;

	if (code && !session->is_live) {
		snprintf(text, sizeof(text), "exit %.20s", code);
		put_piece(title, text, strcmp(code, "0") ? GRID_ERROR : GRID_TEXT);
	}
	if (!command || room < 12)
		return;
	label_stream(label, path_base(command), room, title->grid->is_ascii);
	put_piece(title, label, GRID_GREY);
}

/* Shares of the life of the streams on the screen. */
static void put_shares(struct session *session, struct title *title)
{
	struct session_coverage coverage = session_take_coverage(session);
	char work[FORMAT_NUMBER_BYTES], blocked[FORMAT_NUMBER_BYTES], preempted[FORMAT_NUMBER_BYTES],
		text[4 * FORMAT_NUMBER_BYTES + 32];

	if (!coverage.there_ns)
		return;
	format_number_share(work, coverage.busy_ns, coverage.there_ns, 0);
	format_number_share(blocked, coverage.waits_ns, coverage.there_ns, 0);
	format_number_share(preempted, coverage.preempted_ns, coverage.there_ns, 0);
	snprintf(text, sizeof(text), "busy %s  waiting %s  preempted %s", work, blocked, preempted);
	put_piece(title, text, GRID_TEXT);
}

static void put_length(const struct session *session, char *out, size_t size)
{
	uint64_t ns = run_end_ns(session->run) - run_begin_ns(session->run);
	char text[FORMAT_NUMBER_BYTES];

	if (session->is_live) {
		uint64_t seconds = ns / 1000000000;
		snprintf(out, size, "LIVE %02llu:%02llu:%02llu", (unsigned long long)(seconds / 3600),
			(unsigned long long)(seconds / 60 % 60), (unsigned long long)(seconds % 60));
		return;
	}
	format_number_duration(text, ns, ns >= 10000000000 ? 1 : 3);
	snprintf(out, size, "run %s", text);
}

static void put_view(struct session *session, struct title *title)
{
	struct session_coverage coverage = session_take_coverage(session);
	char text[SESSION_TEXT + 16], window[FORMAT_NUMBER_BYTES], depth[SESSION_DEPTH];

	format_number_duration(window, session->frame.end_ns - session->frame.begin_ns, 1);
	snprintf(text, sizeof(text), "window %s", window);
	put_piece(title, text, GRID_TEXT);
	session_depth_text(session, depth);
	snprintf(text, sizeof(text), "depth %s", depth);
	put_piece(title, text, GRID_TEXT);
	format_number_short(window, coverage.lost_ns);
	snprintf(text, sizeof(text), "LOST %s%s", window, coverage.is_lost_partial ? "+" : "");
	if (coverage.lost_ns)
		put_piece(title, text, GRID_ERROR);
	snprintf(text, sizeof(text), "streams %u/%u", session_streams_on_screen(session, NULL),
		session->rows.line_count);
	put_piece(title, text, GRID_TEXT);
	if (session->state.is_following)
		put_piece(title, "FOLLOW", GRID_HEADING);
	snprintf(text, sizeof(text), "hiding %zu", profile_page_hidden(session));
	if (profile_page_hidden(session))
		put_piece(title, text, GRID_HEADING);
	snprintf(text, sizeof(text), title->grid->columns >= 100 ? "filter %s" : "& %s", session->filter);
	if (session->filter[0])
		put_piece(title, text, GRID_HEADING);
	if (!session->full && title->grid->columns >= 100) {
		put_shares(session, title);
		put_command(session, title);
	}
}

/* Which view has the screen, and of what. */
static void put_full(struct session *session, struct title *title)
{
	char text[LABEL_BYTES], own[LABEL_BYTES] = "";

	snprintf(text, sizeof(text), "%c %s", session->full->key, session->full->name);
	put_piece(title, text, GRID_HEADING);
	if (session->full->put_title)
		session->full->put_title(session, own, sizeof(own));
	if (own[0])
		put_piece(title, own, GRID_TEXT);
}

void status_bars_draw_title(struct session *session, struct grid *grid)
{
	struct title title = {grid, 0, grid->columns};
	char text[LABEL_BYTES];

	if (grid->columns >= 100)
		put_piece(&title, "hpct-view", GRID_HEADING);
	label_stream(text, path_base(run_path(session->run)), grid->columns >= 100 ? 32 : 20, grid->is_ascii);
	put_piece(&title, text, GRID_TEXT);
	if (session->full && session->full != &view_stack && session->full->key) {
		put_full(session, &title);
	} else if (grid->columns >= 100) {
		put_parts(&session->rows, text, sizeof(text));
		put_piece(&title, text, GRID_TEXT);
	}
	put_length(session, text, sizeof(text));
	put_piece(&title, text, session->is_live ? GRID_HEADING : GRID_TEXT);
	put_view(session, &title);
	if (grid->columns < 100 && title.at + 6 <= grid->columns)
		grid_text(grid, 0, grid->columns - 6, 6, "? help", GRID_GREY);
}

/* ---- pane title ---- */

static const struct view *const panes[] = {&view_stats, &view_blame, &view_summary, &view_depth, &view_gaps,
	&view_source, &view_code, &view_info, &view_stack, &view_jumps, &view_advice, NULL};

const struct view *const *status_bars_panes(void)
{
	return panes;
}

void status_bars_draw_pane_title(const struct session *session, struct grid *grid)
{
	int row = session->layout.pane.row - 1, at = 2;
	char text[64];

	for (int i = 0; i < grid->columns; i++)
		grid_put(grid, row, i, 0x2500, GRID_GREY);
	for (size_t i = 0; panes[i]; i++) {
		bool is_open = session->pane == panes[i];
		if (panes[i] == &view_stack &&
			(session->layout.stack.columns || (!is_open && grid->columns >= 100)))
			continue; /* it stands at the right */
		if ((panes[i] == &view_source || panes[i] == &view_code || panes[i] == &view_info) &&
			!is_open)
			continue;
		if (panes[i] == &view_gaps && !session->rows.device_count && !is_open)
			continue; /* of GPUs; without one Blame tells what threads wait in */
		if (panes[i] == &view_advice && !is_open && !advice_page_is_offered(session))
			continue;
		snprintf(text, sizeof(text), is_open ? "[%c %s]" : " %c %s ", panes[i]->key, panes[i]->name);
		if (at + (int)strlen(text) > grid->columns)
			break;
		at = grid_text(grid, row, at, grid->columns - at, text,
			is_open && session->focus == session->pane ? GRID_HEADING : GRID_TEXT);
		if (is_open)
			grid_mark(grid, row, at - (int)strlen(text), (int)strlen(text), GRID_BOLD);
		at += 2;
	}
}

/* ---- keys ---- */

/* A view's own keys, as many as leave room for help and the way out. */
static void put_hints(char *out, size_t size_bytes, const struct session *session, int cells)
{
	static const char last[] = "  ? help  q back";
	bool is_help = session->focus == &view_help;
	int room = cells - (is_help ? 0 : (int)strlen(last));
	size_t used = strlen(session->focus->hints);

	while (used &&
		(int)used > room) { /* a key and what it does are two words or more, two blanks apart */
		do
			used--;
		while (used && strncmp(session->focus->hints + used, "  ", 2) != 0);
	}
	snprintf(out, size_bytes, "%.*s%s", (int)used, session->focus->hints, is_help ? "" : last);
}

void status_bars_draw_keys(const struct session *session, struct grid *grid)
{
	char text[512];

	if (session->prompt != PROMPT_NONE) {
		prompt_draw(session, grid, session->layout.keys);
		return;
	}
	if (session->focus && session->focus->hints)
		put_hints(text, sizeof(text), session, grid->columns);
	else
		keys_hint(text, sizeof(text), grid->columns);
	grid_text(grid, session->layout.keys, 0, grid->columns, text, GRID_GREY);
}

/* ---- status ---- */

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
		if (cell.state == EXTENT_ABSENT && cell.kind == CELL_STATE)
			strcpy(name, session_is_before(session, line->stream) ? "not started" : "ended");
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
	struct session_coverage coverage = session_take_coverage(session);
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
	used += snprintf(
		out + used, size - (size_t)used, "  lost %s%s", lost, coverage.is_lost_partial ? "+" : "");
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

/* A message longer than the line also covers lines above it. */
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
	char cursor[LABEL_BYTES * 3], columns[64], trust[256], lanes[LABEL_BYTES], text[LABEL_BYTES * 5];
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
	lanes_status(session, lanes, sizeof(lanes),
		grid->columns - text_cells(cursor) - text_cells(trust) - (int)sizeof("  |  | "));
	if (lanes[0])
		snprintf(text, sizeof(text), "%s  | %s | %s", cursor, lanes, trust);
	else if (is_wide)
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
