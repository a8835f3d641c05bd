/* SPDX-License-Identifier: Apache-2.0 */
/* legend.c - see legend.h. The functions are those of the cells on the screen, the widest first. */
#include "tui/app/legend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/views/views.h"

#define LEGEND_MOST 64u /* functions that are counted: beyond them they have few cells */
#define LEGEND_NAME 32	/* cells of a name */
#define LEGEND_LINES 3	/* of functions */

struct entry {
	uint32_t function;
	uint64_t time_ns;
	uint64_t hash;
	enum extent_state state;
};

struct entries {
	struct entry items[LEGEND_MOST];
	uint32_t count;
};

/* ---- which functions ---- */

static void take_cell(struct entries *entries, const struct cell *cell)
{
	uint32_t at = 0;

	if (!cell_has_holder(cell) || cell->function == UINT32_MAX)
		return;
	while (at < entries->count && entries->items[at].function != cell->function)
		at++;
	if (at == LEGEND_MOST)
		return;
	if (at == entries->count)
		entries->items[entries->count++] =
			(struct entry){.function = cell->function, .hash = cell->hash, .state = EXTENT_WORK};
	entries->items[at].time_ns += cell->time_ns;
}

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? 1 : -1;
	return (a->hash > b->hash) - (a->hash < b->hash);
}

static void take_entries(struct session *session, struct entries *entries)
{
	uint32_t top, rows = session_rows_on_screen(session, &top);

	for (uint32_t row = top; row < top + rows; row++) {
		const struct rows_node *node = &session->rows.nodes[session->rows.shown[row]];
		const struct frame_line *line =
			rows_is_group(node) ? NULL : frame_line(&session->frame, node->stream);

		for (uint32_t c = 0; line && c < session->frame.columns.count; c++) {
			struct cell cell = frame_cell(&session->frame, line, c);

			take_cell(entries, &cell);
		}
	}
	qsort(entries->items, entries->count, sizeof(*entries->items), compare);
}

/* ---- drawing ---- */

/* From `row` on; the row behind the last one. */
static int draw_entries(struct session *session, struct grid *grid, int row, const struct entries *entries)
{
	char name[LABEL_BYTES];
	int column = 2, end = row + LEGEND_LINES;

	for (uint32_t i = 0; i < entries->count; i++) {
		const struct entry *entry = &entries->items[i];
		int cells;

		label_fit(name, run_function(session->run, entry->function)->name, LEGEND_NAME, LABEL_TABLE,
			grid->is_ascii);
		cells = text_cells(name);
		if (column + 3 + cells > grid->columns) {
			column = 2;
			if (++row == end)
				return row;
		}
		for (int at = 0; at < 2; at++)
			grid_put(grid, row, column + at, session->looks.colours ? ' ' : '=',
				session_style(session, entry->state, entry->hash, false));
		grid_text(grid, row, column + 3, cells, name, GRID_TEXT);
		column += 3 + cells + 2;
	}
	return row + (column > 2);
}

/* Text of several parts, as many to a line as have room. */
static int draw_parts(struct grid *grid, int row, const char *const *parts)
{
	int column = 2;

	for (size_t i = 0; parts[i]; i++) {
		int cells = text_cells(parts[i]);

		if (column > 2 && column + cells > grid->columns) {
			column = 2;
			row++;
		}
		column = grid_text(grid, row, column, grid->columns - column, parts[i], GRID_GREY) + 3;
	}
	return row + 1;
}

static const char *axes(const struct session *session)
{
	if (!session->full)
		return "across: time since the run's begin; down: threads and queues, below each its callees";
	if (session->full == &view_depth)
		return "across: time since the run's begin; down: the call path, callers above";
	if (session->full == &view_summary)
		return "across: time since the run's begin; up: share of the streams";
	if (session->full == &view_flame)
		return "across: share of the metric; down: callees, in the order of their names";
	return NULL;
}

static int draw(struct session *session, struct grid *grid, int row)
{
	static const char *const glyphs[] = {"painted: ran half of the cell or more",
		"\u2581\u2582\u2583 how much of it ran", "- blocked", "/ preempted: waits for a core",
		"~ waits in a synchronization", ". GPU idle", "> < copies", "% mixed", "? unmonitored",
		"! lost", NULL};
	static const char *const plain[] = {"= ran half of the cell or more", ", ; how much of it ran",
		"- blocked", "/ preempted: waits for a core", "~ waits in a synchronization", ". GPU idle",
		"> < copies", "% mixed", "? unmonitored", "! lost", NULL};
	bool has_cells = !session->full || session->full == &view_depth || session->full == &view_summary;
	const char *text[2] = {axes(session), NULL};
	struct entries entries = {0};

	if (!text[0])
		return row;
	row = draw_parts(grid, row, text);
	if (!has_cells)
		return row;
	take_entries(session, &entries);
	row = draw_entries(session, grid, row, &entries);
	return draw_parts(grid, row, grid->is_ascii || !session->looks.colours ? plain : glyphs);
}

int legend_add(struct grid *with, struct session *session, const struct grid *screen)
{
	int room = screen->rows + 2 + LEGEND_LINES + 16, used;

	if (grid_init(with, room, screen->columns, screen->is_ascii))
		return -1;
	memcpy(with->cells, screen->cells,
		(size_t)screen->rows * (size_t)screen->columns * sizeof(*screen->cells));
	used = draw(session, with, screen->rows + 1);
	with->rows = used == screen->rows + 1 ? screen->rows : used;
	return 0;
}
