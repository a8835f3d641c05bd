/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_cursor.c - the rows on the screen, the row, column and cell of the cursor, and the window's moves
 * by columns.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/session/session.h"

/* ---- rows ---- */

uint32_t session_row(const struct session *session)
{
	return rows_find(&session->rows, session->state.node);
}

void session_set_row(struct session *session, uint32_t row)
{
	if (session->rows.shown_count == 0)
		return;
	if (row >= session->rows.shown_count)
		row = session->rows.shown_count - 1;
	session->state.node = session->rows.shown[row];
}

bool session_stream(const struct session *session, uint32_t *stream)
{
	const struct rows_node *node;

	if (session_row(session) == UINT32_MAX)
		return false;
	node = &session->rows.nodes[session->state.node];
	*stream = node->stream;
	return !rows_is_group(node);
}

/* The line that counts what has no room is kept free on taller screens only. */
uint32_t session_rows_on_screen(const struct session *session, uint32_t *top)
{
	uint32_t room = (uint32_t)session->layout.timeline.rows, count = session->rows.shown_count, rows;
	uint32_t lines = 0;

	if (room >= 12 && session_row_line(session, 0, count) > room)
		room--;
	*top = session->state.top < count ? session->state.top : count;
	/* no room stays free below the last row while there are rows above */
	for (rows = *top; rows < count && lines < room; rows++)
		lines += session_row_lines(session, rows);
	while (*top > 0 && lines + session_row_lines(session, *top - 1) <= room)
		lines += session_row_lines(session, --*top);
	return rows - *top;
}

void session_step_stream(struct session *session, bool is_back)
{
	uint32_t row = session_row(session), count = session->rows.shown_count;

	while (row != UINT32_MAX && (is_back ? row > 0 : row + 1 < count)) {
		row += is_back ? (uint32_t)-1 : 1u;
		if (!rows_is_group(&session->rows.nodes[session->rows.shown[row]])) {
			session_set_row(session, row);
			return;
		}
	}
}

uint32_t session_streams_on_screen(const struct session *session, uint32_t *streams)
{
	uint32_t top, rows = session_rows_on_screen(session, &top), count = 0;

	if (session->only) {
		if (streams)
			memcpy(streams, session->only, session->only_count * sizeof(*streams));
		return session->only_count;
	}
	for (uint32_t i = top; i < top + rows; i++) {
		const struct rows_node *node = &session->rows.nodes[session->rows.shown[i]];
		if (!rows_is_group(node)) {
			if (streams)
				streams[count] = node->stream;
			count++;
		}
	}
	return count;
}

char *session_expression_of(const struct session *session, const uint32_t *streams, uint32_t count)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out && count && count < session->rows.line_count)
		for (uint32_t i = 0; i < count; i++)
			fprintf(out, "%s%s", i ? "," : "stream=", run_stream(session->run, streams[i])->text);
	if (out && fclose(out) != 0) {
		free(text);
		text = NULL;
	}
	return text;
}

char *session_streams_expression(const struct session *session)
{
	uint32_t *streams = calloc((size_t)session->rows.shown_count + 1, sizeof(*streams));
	char *text =
		streams ? session_expression_of(session, streams, session_streams_on_screen(session, streams))
			: NULL;

	free(streams);
	return text;
}

void session_first_row(struct session *session)
{
	for (uint32_t row = 0; row < session->rows.shown_count; row++) {
		if (!rows_is_group(&session->rows.nodes[session->rows.shown[row]])) {
			session_set_row(session, row);
			return;
		}
	}
	session_set_row(session, 0);
}

/* The run of columns in which one function works most, on one row. */
struct longest {
	uint64_t time_ns;
	uint32_t row, column;
};

static void look_for_longest(
	struct session *session, uint32_t row, const struct frame_line *line, struct longest *longest)
{
	uint64_t time_ns = 0;
	uint32_t from = 0;

	for (uint32_t c = 0; c < session->frame.columns.count; c++) {
		struct cell cell = frame_cell(&session->frame, line, c), before;

		if (c)
			before = frame_cell(&session->frame, line, c - 1);
		if (!c || !cell_is_same_run(&before, &cell))
			from = c, time_ns = 0;
		if (!cell_has_holder(&cell) || cell.function == UINT32_MAX ||
			run_function(session->run, cell.function)->is_placeholder)
			continue;
		time_ns += cell.time_ns;
		if (time_ns > longest->time_ns)
			*longest = (struct longest){time_ns, row, from};
	}
}

void session_seek_work(struct session *session)
{
	struct longest longest = {0};
	uint32_t top, count = session_rows_on_screen(session, &top);

	for (uint32_t row = top; row < top + count; row++) {
		const struct rows_node *node = &session->rows.nodes[session->rows.shown[row]];
		const struct frame_line *line =
			rows_is_group(node) ? NULL : frame_line(&session->frame, node->stream);

		if (line)
			look_for_longest(session, row, line, &longest);
	}
	if (!longest.time_ns)
		return;
	session_set_row(session, longest.row);
	session->state.cursor_ns = frame_column_ns(&session->frame, longest.column);
	if (session->state.cursor_ns < session->state.begin_ns)
		session->state.cursor_ns = session->state.begin_ns;
}

/* ---- jumps ---- */

void session_leave_place(struct session *session)
{
	struct session_place place = {.begin_ns = session->state.begin_ns,
		.end_ns = session->state.end_ns,
		.cursor_ns = session->state.cursor_ns};

	if (!session_stream(session, &place.stream))
		place.stream = UINT32_MAX;
	if (session->trail_count == SESSION_TRAIL)
		memmove(session->trail, session->trail + 1, --session->trail_count * sizeof(place));
	session->trail[session->trail_count++] = place;
}

bool session_back(struct session *session)
{
	struct view_state *state = &session->state;
	const struct session_place *place;
	uint32_t node;

	if (!session->trail_count)
		return false;
	place = &session->trail[--session->trail_count];
	session_keep(session);
	session_go_home(session);
	state->is_following = false;
	view_state_set_window(
		state, session_limits(session), place->begin_ns, place->end_ns - place->begin_ns);
	view_state_go(state, session_limits(session), place->cursor_ns);
	node = place->stream == UINT32_MAX ? UINT32_MAX : rows_node_of(&session->rows, place->stream);
	if (node != UINT32_MAX)
		state->node = node;
	return true;
}

/* Opens the groups above a node; false: it is not among the rows for another reason. */
static bool open_groups(struct rows *rows, uint32_t node)
{
	for (uint32_t up = rows->nodes[node].parent; up != UINT32_MAX; up = rows->nodes[up].parent)
		rows->nodes[up].is_folded = false;
	for (uint32_t up = rows->nodes[rows_process(rows, node)].branch_parent; up != UINT32_MAX;
		up = rows->nodes[up].branch_parent)
		rows->nodes[up].is_branch_folded = false;
	rows_update(rows);
	return rows_find(rows, node) != UINT32_MAX && rows->shown[rows_find(rows, node)] == node;
}

bool session_go_to(struct session *session, uint32_t stream, uint64_t time_ns)
{
	uint32_t node = rows_node_of(&session->rows, stream);

	if (node == UINT32_MAX)
		return false;
	session_leave_place(session);
	session_keep(session);
	if (!open_groups(&session->rows, node)) {
		session->trail_count--;
		session_say(session, "%s is where this leads; it is hidden or filtered out: X shows all rows",
			rows_long_label(&session->rows, node));
		return false;
	}
	session->state.node = node;
	session->state.is_following = false;
	view_state_go(&session->state, session_limits(session), time_ns);
	return true;
}

/* ---- column and cell ---- */

uint32_t session_column(const struct session *session)
{
	return session->frame.columns.count ? frame_column_at(&session->frame, session->state.cursor_ns) : 0;
}

uint64_t session_cursor_ns(const struct session *session)
{
	uint64_t begin_ns = run_begin_ns(session->run), column_ns;

	if (session->frame.columns.count == 0)
		return begin_ns;
	column_ns = frame_column_ns(&session->frame, session_column(session));
	return column_ns < begin_ns ? begin_ns : column_ns;
}

bool session_cell(struct session *session, const struct frame_line **line, struct cell *cell)
{
	uint32_t stream, column = session_column(session);

	if (!session_stream(session, &stream) || session->frame.columns.count == 0)
		return false;
	*line = frame_line(&session->frame, stream);
	if (!*line)
		return false;
	*cell = frame_cell(&session->frame, *line, column);
	return true;
}

/* Breaks ties between contexts of equal time the same way on every machine. */
static bool is_hash_before(struct run *run, uint32_t a, uint32_t b)
{
	struct store_hash x = run_context(run, a)->hash, y = run_context(run, b)->hash;

	return x.high != y.high ? x.high < y.high : x.low < y.low;
}

uint32_t session_leaf_context(struct session *session)
{
	uint32_t column = session_column(session), largest = 0, count = 0;
	const struct tile_entry *entries;
	const struct frame_line *line;
	uint64_t largest_ns = 0;
	struct error error;
	struct cell cell;

	if (!session_cell(session, &line, &cell))
		return 0;
	entries = frame_leaves_at(&session->frame, line->stream, column, &count, &error);
	for (uint32_t e = 0; entries && e < count; e++) {
		const struct tile_entry *entry = &entries[e];
		struct cell_share share = frame_share(&session->frame, entry);
		bool is_deep = false;
		if (cell.above && share.function != UINT32_MAX)
			share.function =
				frame_function_above(&session->frame, entry->context, cell.above, &is_deep);
		if (share.state != cell.state || share.function != cell.function || !entry->context)
			continue;
		if (!largest || entry->time_ns > largest_ns ||
			(entry->time_ns == largest_ns &&
				is_hash_before(session->run, entry->context, largest))) {
			largest = entry->context;
			largest_ns = entry->time_ns;
		}
	}
	return largest;
}

/* Time of so many columns, kept within what a signed number holds: a window may be as long as all time. */
int64_t session_columns_ns(const struct session *session, int64_t columns)
{
	const struct frame *frame = &session->frame;
	__int128 count = frame->columns.count ? frame->columns.count : 1;
	__int128 ns = (__int128)columns * (frame->end_ns - frame->begin_ns) / count;

	return ns > INT64_MAX ? INT64_MAX : ns < -INT64_MAX ? -INT64_MAX : (int64_t)ns;
}

void session_pan(struct session *session, int quarters)
{
	uint32_t count = session->frame.columns.count;
	int64_t columns = (int64_t)(count / 4 ? count / 4 : 1) * quarters;

	if (quarters < 0)
		session->state.is_following = false;
	session_keep(session);
	if (quarters == 4 || quarters == -4)
		columns = quarters / 4 * (int64_t)count;
	view_state_pan(&session->state, session_limits(session), session_columns_ns(session, columns));
}
