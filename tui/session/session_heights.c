/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_heights.c - how many lines each row of the timeline has. Where all rows have room, the lines that
 * are left are given out one by one, from the first row to the last and again, to streams whose paths go that
 * deep; a row whose lines the user chose has those. If there are more rows than lines, each has one.
 */
#include <stdlib.h>

#include "tui/session/session.h"

#define QUEUE_LEVELS 3u	   /* a kernel, and above all who launched it */
#define UNKNOWN_LEVELS 16u /* of a stream that dividing_find() did not look at */

static uint32_t levels_of(const struct session *session, const struct rows_node *node)
{
	uint32_t levels;

	if (rows_is_group(node))
		return 1;
	if (node->kind == ROWS_QUEUE)
		return QUEUE_LEVELS;
	levels = dividing_levels(&session->dividing, node->stream);
	if (levels)
		return levels;
	return session->dividing.is_choice ? UNKNOWN_LEVELS : 1;
}

/* Also a row of one line may want none but that. */
static uint32_t share_out(struct session *session, uint8_t *lines, uint32_t count, uint32_t room)
{
	uint32_t used = 0, before;

	for (uint32_t row = 0; row < count; row++) {
		const struct rows_node *node = &session->rows.nodes[session->rows.shown[row]];
		lines[row] = node->lines && !rows_is_group(node) ? node->lines : 1;
		used += lines[row];
	}
	do {
		before = used;
		for (uint32_t row = 0; row < count && used < room; row++) {
			const struct rows_node *node = &session->rows.nodes[session->rows.shown[row]];
			if (node->lines || lines[row] >= levels_of(session, node) || lines[row] == UINT8_MAX)
				continue;
			lines[row]++;
			used++;
		}
	} while (used < room && used > before);
	return used;
}

void session_heights_take(struct session *session)
{
	struct session_heights *heights = &session->heights;
	uint32_t count = session->rows.shown_count;
	const struct layout *layout = &session->layout;
	int room = layout->timeline.rows + (layout->has_spare_lanes ? layout->lanes.rows : 0);

	if (heights->version == session->rows.version && heights->dividing == session->dividing_changes &&
		heights->room == room && heights->count == count)
		return;
	heights->version = session->rows.version;
	heights->dividing = session->dividing_changes;
	heights->room = room;
	heights->count = heights->used = count;
	free(heights->lines);
	heights->lines = NULL;
	if (room <= 0 || (count >= (uint32_t)room && !session->rows.has_lines))
		return;
	heights->lines = calloc((size_t)count + 1, 1); /* NULL: one line each, as without room */
	if (heights->lines)
		heights->used = share_out(session, heights->lines, count, (uint32_t)room);
}

uint32_t session_row_lines(const struct session *session, uint32_t row)
{
	const struct session_heights *heights = &session->heights;

	/* rows that changed since were not laid yet */
	return heights->lines && heights->version == session->rows.version && row < heights->count
		       ? heights->lines[row]
		       : 1;
}

uint32_t session_row_line(const struct session *session, uint32_t top, uint32_t row)
{
	uint32_t line = 0;

	if (row > session->rows.shown_count)
		row = session->rows.shown_count;
	if (!session->heights.lines)
		return row > top ? row - top : 0;
	for (; top < row; top++)
		line += session_row_lines(session, top);
	return line;
}

uint32_t session_row_at(const struct session *session, uint32_t top, uint32_t line)
{
	for (; top < session->rows.shown_count; top++) {
		uint32_t lines = session_row_lines(session, top);

		if (line < lines)
			return top;
		line -= lines;
	}
	return UINT32_MAX;
}

uint32_t session_rows_below(const struct session *session)
{
	uint32_t most = 1;

	for (uint32_t row = 0; session->heights.lines && row < session->heights.count; row++)
		most = session->heights.lines[row] > most ? session->heights.lines[row] : most;
	return most - 1;
}

void session_step_lines(struct session *session, uint32_t row, int by)
{
	struct rows_node *node;
	uint32_t lines;

	if (row >= session->rows.shown_count)
		return;
	node = &session->rows.nodes[session->rows.shown[row]];
	if (rows_is_group(node)) {
		session_say(session, "a group has one line; its streams may have more");
		return;
	}
	lines = session_row_lines(session, row);
	if (by < 0 ? lines == 1 : lines >= (uint32_t)session->layout.timeline.rows || lines == UINT8_MAX) {
		session_say(session, by < 0 ? "a row has one line at least" : "the row fills the timeline");
		return;
	}
	session_keep(session);
	node->lines = (uint8_t)(lines + (by < 0 ? -1u : 1u));
	session->rows.has_lines = true;
	rows_update(&session->rows);
}
