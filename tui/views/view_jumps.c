/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_jumps.c - the longest waits and gaps on the screen, each a jump: stretches of columns in which a
 * stream does no work, from the cells that are drawn, so that it costs nothing to ask.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/views/views.h"

#define JUMPS_MAX 200u

struct jump {
	uint64_t begin_ns, length_ns;
	uint32_t row, node;
	struct cell cell; /* its first */
};

struct jumps {
	struct jump items[JUMPS_MAX + 1]; /* the longest first */
	uint32_t count;
	uint64_t all_ns;
	uint32_t all;
};

static bool is_gap(const struct cell *cell)
{
	return cell->kind == CELL_STATE && cell->state != EXTENT_ABSENT && cell->state != EXTENT_UNMONITORED;
}

static void add(struct jumps *jumps, const struct jump *jump)
{
	uint32_t at = jumps->count;

	jumps->all++;
	jumps->all_ns += jump->length_ns;
	while (at > 0 && jumps->items[at - 1].length_ns < jump->length_ns)
		at--;
	if (at == JUMPS_MAX)
		return;
	memmove(&jumps->items[at + 1], &jumps->items[at], (jumps->count - at) * sizeof(*jump));
	jumps->items[at] = *jump;
	jumps->count += jumps->count < JUMPS_MAX;
}

static void add_row(struct session *session, struct jumps *jumps, uint32_t row)
{
	const struct rows_node *node = &session->rows.nodes[session->rows.shown[row]];
	const struct frame_line *line =
		rows_is_group(node) ? NULL : frame_line(&session->frame, node->stream);
	struct jump jump = {.row = row, .node = session->rows.shown[row]};

	for (uint32_t c = 0; line && c < session->frame.columns.count; c++) {
		struct cell cell = frame_cell(&session->frame, line, c);

		if (jump.length_ns && (!is_gap(&cell) || cell.state != jump.cell.state)) {
			add(jumps, &jump);
			jump.length_ns = 0;
		}
		if (!is_gap(&cell))
			continue;
		if (!jump.length_ns) {
			jump.begin_ns = frame_column_ns(&session->frame, c);
			jump.cell = cell;
		}
		jump.length_ns += frame_column_length(&session->frame, c);
	}
	if (jump.length_ns)
		add(jumps, &jump);
}

/* NULL: memory is out. The caller's to free. */
static struct jumps *take(struct session *session)
{
	uint32_t top, rows = session_rows_on_screen(session, &top);
	struct jumps *jumps = calloc(1, sizeof(*jumps));

	for (uint32_t row = top; jumps && row < top + rows; row++)
		add_row(session, jumps, row);
	if (jumps && session->jump >= jumps->count)
		session->jump = jumps->count ? jumps->count - 1 : 0;
	return jumps;
}

static void draw_jump(
	struct session *session, struct grid *grid, int row, const struct jump *jump, bool has_cursor)
{
	struct cell_share share = {
		.state = (enum extent_state)jump->cell.state, .function = jump->cell.function};
	char text[LABEL_BYTES], clean[LABEL_BYTES];
	int label = session->layout.label + 8, room = grid->columns - 30 - label;

	if (has_cursor)
		grid_put(grid, row, 0, '>', GRID_HEADING);
	format_number_short(text, jump->length_ns);
	grid_text_right(grid, row, 2, 10, text, GRID_TEXT);
	ruler_time(text, jump->begin_ns, jump->length_ns, session->zero);
	grid_text_right(grid, row, 13, 15, text, GRID_TEXT);
	label_stream(clean, rows_long_label(&session->rows, jump->node), label, grid->is_ascii);
	grid_text(grid, row, 30, label, clean, GRID_TEXT);
	session_share_name(session, text, &share, LABEL_TABLE, room);
	grid_text(grid, row, 30 + label, room, text, GRID_GREY);
}

static void jumps_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct jumps *jumps = session->is_unread ? NULL : take(session);
	uint32_t room = (uint32_t)(area.rows - 1), first;
	char all[FORMAT_NUMBER_BYTES], text[160];

	if (area.rows < 2 || !jumps) {
		free(jumps);
		grid_text(grid, area.row, area.column + 2, area.columns - 2, "reading ...", GRID_GREY);
		return;
	}
	format_number_short(all, jumps->all_ns);
	snprintf(text, sizeof(text),
		"    length           at           stream: %u waits and gaps here, %s together", jumps->all,
		all);
	grid_text(grid, area.row, 2, area.columns - 2,
		jumps->count ? text
			     : "No stream on the screen waits as long as a column: 0 shows the whole run, w "
			       "looks closer.",
		jumps->count ? GRID_HEADING : GRID_GREY);
	first = session->jump >= room ? session->jump - room + 1 : 0;
	for (uint32_t i = first; i < jumps->count && i < first + room; i++)
		draw_jump(
			session, grid, area.row + 1 + (int)(i - first), &jumps->items[i], i == session->jump);
	free(jumps);
}

static void go(struct session *session)
{
	struct jumps *jumps = session->is_unread ? NULL : take(session);

	if (jumps && jumps->count) {
		session_leave_place(session);
		session_keep(session);
		session->state.node = jumps->items[session->jump].node;
		view_state_go(&session->state, session_limits(session), jumps->items[session->jump].begin_ns);
		session_go_home(session);
		session_say(session, "Enter goes to who ended it, b shows its blame, Backspace goes back");
	}
	free(jumps);
}

static bool jumps_act(struct session *session, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_UP:
		session->jump -= session->jump > 0;
		return true;
	case KEYS_DO_DOWN:
		session->jump++; /* kept in the list when it is drawn */
		return true;
	case KEYS_DO_WINDOW_BEGIN:
		session->jump = 0;
		return true;
	case KEYS_DO_ENTER:
		go(session);
		return true;
	default:
		return false;
	}
}

static const struct view_key jumps_keys[] = {
	{"j k", "the next one, the one before"}, {"Enter", "there on the timeline"}, {NULL, NULL}};

const struct view view_jumps = {.name = "Waits",
	.key = '!',
	.draw = jumps_draw,
	.act = jumps_act,
	.own_keys = jumps_keys,
	.hints = "j/k choose  Enter go there  Tab timeline"};
