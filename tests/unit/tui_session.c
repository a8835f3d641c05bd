/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_session.c - a whole session without a terminal, on a simulated run: the statistics pane against
 * stats_compute(), the law that lines sum to streams x window, undo back to the first picture, what a step of
 * the cursor may touch, the order of rows, the mouse, the help and filters.
 */
#include "tests/unit/seed.h"
#include "tests/unit/tui_world.h"

#include <locale.h>

#include "store/base/arena.h"
#include "tui/app/commands.h"
#include "tui/app/mouse.h"
#include "tui/models/config.h"
#include "tui/timeline/chart.h"
#include "tui/timeline/sums.h"

static int make(void **state)
{
	(void)state;
	return begin_world(20000, 7);
}

/* ---- statistics against their twin ---- */

static bool is_twin_state(enum extent_state state)
{
	return !extent_state_is_busy(state);
}

/* Time and records of all lines of ours that are the twin's row: its states are one row each. */
static void add_ours(struct fixture *f, const struct sums_line *lines, size_t count,
	const struct stats_row *row, uint64_t *time_ns, uint64_t *records)
{
	for (size_t i = 0; i < count; i++) {
		bool is_same;
		if (is_twin_state(row->state))
			is_same = lines[i].state == row->state;
		else
			is_same = extent_state_is_busy(lines[i].state) && lines[i].function != UINT32_MAX &&
				  row->function != UINT32_MAX &&
				  strcmp(run_function(f->run, lines[i].function)->name,
					  run_function(f->run, row->function)->name) == 0;
		if (!is_same)
			continue;
		*time_ns += lines[i].time_ns;
		*records += lines[i].records;
	}
}

static void compare_with_twin(struct fixture *f)
{
	uint32_t *streams = calloc(f->session->rows.shown_count + 1, sizeof(*streams));
	uint32_t stream_count = session_streams_on_screen(f->session, streams);
	const struct frame *frame = &f->session->frame;
	uint64_t sum_ns = 0;
	struct sums_line *lines;
	struct arena arena = {0};
	struct stats stats;
	struct error error;
	size_t count;

	assert_int_equal(
		sums_add_up(&lines, &count, &f->session->frame, streams, stream_count, STATS_FUNCTION), 0);
	for (size_t i = 0; i < count; i++)
		sum_ns += lines[i].time_ns;
	assert_int_equal(sum_ns, stream_count * (frame->end_ns - frame->begin_ns));
	assert_int_equal(stats_compute(&stats, f->run, streams, stream_count, frame->begin_ns, frame->end_ns,
				 STATS_FUNCTION, frame->depth, &arena, &error),
		0);
	assert_true((stats.count > 0) == (stream_count > 0));
	for (size_t i = 0; i < stats.count; i++) {
		uint64_t time_ns = 0, records = 0;
		add_ours(f, lines, count, &stats.rows[i], &time_ns, &records);
		assert_int_equal(time_ns, stats.rows[i].time_ns);
		assert_int_equal(records, stats.rows[i].records);
	}
	arena_fini(&arena);
	free(lines);
	free(streams);
}

static void test_statistics(void **state)
{
	static const char *const keys[] = {
		"", "www", "eee", "dd", "EEEEEE", "C", "C", "jjjjjx", "ssss", "0e", "+++++LL"};
	struct fixture f;

	(void)state;
	open_one(&f);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		press(&f, keys[i]);
		compare_with_twin(&f);
	}
	close_session(&f);
}

/* Every grouping has the same total. */
static void test_groupings(void **state)
{
	struct fixture f;
	uint32_t streams[64], count;

	(void)state;
	open_one(&f);
	press(&f, "ww");
	count = session_streams_on_screen(f.session, streams);
	for (int by = 0; by < STATS_BY_COUNT; by++) {
		struct sums_line *lines;
		uint64_t sum_ns = 0;
		size_t line_count;

		assert_int_equal(sums_add_up(&lines, &line_count, &f.session->frame, streams, count,
					 (enum stats_by)by),
			0);
		for (size_t i = 0; i < line_count; i++)
			sum_ns += lines[i].time_ns;
		assert_int_equal(sum_ns, count * (f.session->frame.end_ns - f.session->frame.begin_ns));
		free(lines);
	}
	close_session(&f);
}

/* ---- history ---- */

static void undo_round(unsigned seed)
{
	static const char keys[] = "wdsaDA0+-cCxX wzSW";
	struct grid first, last;
	struct fixture f;
	struct error error;

	open_one(&f);
	assert_int_equal(grid_init(&first, ROWS, COLUMNS, false), 0);
	assert_int_equal(grid_init(&last, ROWS, COLUMNS, false), 0);
	press(&f, "w");
	assert_int_equal(session_draw(f.session, &first, 0, &error), 0);
	for (int i = 0; i < 60; i++) {
		char key[2] = {keys[(size_t)rand_r(&seed) % (sizeof(keys) - 1)], '\0'};
		press(&f, key);
	}
	f.session->message[0] = '\0';
	assert_int_equal(session_draw(f.session, &last, 0, &error), 0);
	for (int i = 0; i < 61; i++)
		press(&f, "u");
	press(&f, "<C-r>"); /* the first step was the zoom before the picture was taken */
	f.session->message[0] = '\0';
	assert_int_equal(session_draw(f.session, &f.grid, 0, &error), 0);
	assert_memory_equal(f.grid.cells, first.cells, ROWS * COLUMNS * sizeof(*first.cells));
	for (int i = 0; i < 61; i++)
		press(&f, "<C-r>");
	f.session->message[0] = '\0';
	assert_int_equal(session_draw(f.session, &f.grid, 0, &error), 0);
	assert_memory_equal(f.grid.cells, last.cells, ROWS * COLUMNS * sizeof(*last.cells));
	grid_fini(&first);
	grid_fini(&last);
	close_session(&f);
}

static void test_undo(void **state)
{
	(void)state;
	undo_round((unsigned)seed_take(__func__, 99));
	undo_round(110909744); /* moves a window whose depth was chosen for where it was before */
}

/* ---- what a step of the cursor touches ---- */

static void test_cursor_step(void **state)
{
	struct grid before;
	struct fixture f;
	int label, cells;

	(void)state;
	open_one(&f);
	press(&f, "jjlllll");
	assert_int_equal(grid_init(&before, ROWS, COLUMNS, false), 0);
	memcpy(before.cells, f.grid.cells, ROWS * COLUMNS * sizeof(*before.cells));
	press(&f, "l");
	label = f.session->layout.label;
	cells = f.session->layout.cells;
	for (int row = 0; row < ROWS - 2; row++) { /* all but status and keys */
		int changed = 0;
		for (int column = 0; column < label + cells; column++)
			changed += memcmp(&before.cells[row * COLUMNS + column],
					   &f.grid.cells[row * COLUMNS + column], sizeof(*before.cells)) != 0;
		if (row == f.session->layout.ruler)
			assert_true(changed <= 16); /* the mark, and labels that give way to it */
		else if (changed)
			assert_int_equal(changed, 2); /* the old and the new cell */
	}
	grid_fini(&before);
	close_session(&f);
}

/* ---- fewer streams, and more again ---- */

static void test_narrow(void **state)
{
	struct fixture f;
	uint32_t all, shown[8], node;

	(void)state;
	open_one(&f);
	all = f.session->rows.shown_count;
	press(&f, "jj");
	node = f.session->state.node;
	for (int i = 0; i < 8; i++) {
		press(&f, "S");
		shown[i] = f.session->rows.shown_count;
		assert_true(shown[i] <= (i ? shown[i - 1] : all - 1));
		assert_int_equal(f.session->state.node, node); /* the cursor's stream stays */
	}
	assert_int_equal(session_streams_on_screen(f.session, NULL), 1);
	for (int i = 0; i < 8; i++)
		press(&f, "W");
	assert_int_equal(f.session->rows.shown_count, all);
	assert_int_equal(f.session->state.node, node);
	close_session(&f);
}

/* Side by side, in the order that the session asks for? */
static bool is_ordered(const struct rows *rows, const struct rows_node *a, const struct rows_node *b)
{
	switch (rows->order) {
	case ROWS_BY_NAME:
		return strverscmp(rows_label(rows, (uint32_t)(a - rows->nodes)),
			       rows_label(rows, (uint32_t)(b - rows->nodes))) <= 0;
	case ROWS_BY_BEGIN:
		return a->begin_ns <= b->begin_ns;
	case ROWS_BY_RECORDS:
		return a->records >= b->records;
	default:
		return a < b;
	}
}

static void check_order(struct fixture *f)
{
	const struct rows *rows = &f->session->rows;
	uint64_t records = 0, all = 0;

	for (uint32_t row = 0; row < rows->shown_count; row++) {
		const struct rows_node *node = &rows->nodes[rows->shown[row]], *before = NULL;

		for (uint32_t i = 0; i < row; i++)
			if (rows->nodes[rows->shown[i]].parent == node->parent)
				before = &rows->nodes[rows->shown[i]];
		assert_true(!before || is_ordered(rows, before, node));
		records += node->parent == UINT32_MAX ? node->records : 0;
	}
	for (uint32_t i = 0; i < run_stream_count(f->run); i++)
		for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
			all += run_stream(f->run, i)->s.count[track];
	assert_int_equal(records, all);
}

static void test_order(void **state)
{
	struct fixture f;
	uint32_t all, node, first;
	bool has_moved = false;

	(void)state;
	open_one(&f);
	press(&f, "jj");
	all = f.session->rows.shown_count;
	node = f.session->state.node;
	first = f.session->rows.shown[1];
	for (int i = 0; i < ROWS_ORDER_COUNT; i++) {
		check_order(&f);
		press(&f, "r");
		has_moved |= f.session->rows.shown[1] != first;
		assert_int_equal(f.session->rows.shown_count, all);
		assert_int_equal(f.session->state.node, node);
	}
	assert_true(has_moved);
	assert_int_equal(f.session->rows.shown[1], first); /* once around */
	close_session(&f);
}

/* ---- mouse ---- */

static void send_mouse(
	struct fixture *f, enum mouse_kind kind, int row, int column, int from_row, int from_column)
{
	struct mouse_event event = {kind, row, column, from_row, from_column};
	struct error error;

	mouse_event(f->session, &event);
	assert_int_equal(session_draw(f->session, &f->grid, 0, &error), 0);
}

static void test_mouse(void **state)
{
	struct fixture f;
	const struct layout *layout;
	uint64_t begin_ns, span_ns, cursor_ns, at_ns;
	uint32_t row, lines, top;

	(void)state;
	open_one(&f);
	layout = &f.session->layout;
	send_mouse(&f, MOUSE_CLICK, layout->timeline.row + 2, layout->label + 9, 0, 0); /* it is off */
	assert_int_equal(session_column(f.session), 0);
	press(&f, ":set mouse<Enter>www");
	send_mouse(&f, MOUSE_CLICK, layout->timeline.row + 2, layout->label + 9, 0, 0);
	assert_int_equal(session_column(f.session), 9);
	assert_int_equal(session_row(f.session), 2);
	send_mouse(&f, MOUSE_DRAG, layout->timeline.row + 4, layout->label + 20, layout->timeline.row + 2,
		layout->label + 5);
	assert_true(f.session->state.has_range);
	assert_int_equal(session_column(f.session), 20);
	press(&f, "z");
	assert_false(f.session->state.has_range);
	begin_ns = f.session->state.begin_ns;
	span_ns = f.session->state.end_ns - begin_ns;
	cursor_ns = f.session->state.cursor_ns;
	at_ns = frame_column_ns(&f.session->frame, 30);
	send_mouse(&f, MOUSE_WHEEL_UP, layout->timeline.row, layout->label + 30, 0, 0);
	assert_true(f.session->state.end_ns - f.session->state.begin_ns < span_ns);
	assert_true(frame_column_at(&f.session->frame, at_ns) >= 28 &&
		    frame_column_at(&f.session->frame, at_ns) <= 32);
	if (cursor_ns >= f.session->state.begin_ns && cursor_ns < f.session->state.end_ns)
		assert_int_equal(f.session->state.cursor_ns, cursor_ns);
	press(&f, "uX");
	row = session_row(f.session);
	lines = session_row_lines(f.session, row);
	press(&f, "++-");
	assert_int_equal(session_row_lines(f.session, row), lines + 1);
	session_rows_on_screen(f.session, &top);
	send_mouse(&f, MOUSE_WHEEL_UP, layout->timeline.row + (int)session_row_line(f.session, top, row), 2,
		0, 0);
	assert_int_equal(session_row_lines(f.session, row), lines + 2);
	assert_int_equal(session_row_at(f.session, top, session_row_line(f.session, top, row) + lines), row);
	begin_ns = f.session->state.begin_ns;
	send_mouse(&f, MOUSE_CLICK, layout->minimap, layout->label + 40, 0, 0);
	assert_true(f.session->state.begin_ns > begin_ns);
	press(&f, "u");
	assert_int_equal(f.session->state.begin_ns, begin_ns);
	send_mouse(&f, MOUSE_CLICK, layout->pane.row + 2, 5, 0, 0);
	assert_ptr_equal(f.session->focus, f.session->pane);
	close_session(&f);
}

/* ---- sizes ---- */

/* A larger terminal draws finer columns, whatever they cost, and the same functions at its depth. */
static void test_sizes(void **state)
{
	static const int sizes[][2] = {{24, 80}, {36, 120}, {50, 200}, {80, 300}};
	uint64_t column_ns = UINT64_MAX;
	uint32_t depth = 0, context = 0;
	int wide = 4;
	struct fixture f;
	struct error error;

	(void)state;
	open_one(&f);
	f.session->looks.colours = 256;
	for (int i = 0; i < 4; i++) {
		struct grid grid;

		assert_int_equal(grid_init(&grid, sizes[i][0], sizes[i][1], false), 0);
		assert_int_equal(session_draw(f.session, &grid, 0, &error), 0);
		wide = f.session->cells_wide;
		if (wide == 1)
			assert_true(frame_column_length(&f.session->frame, 0) <= column_ns);
		column_ns = frame_column_length(&f.session->frame, 0) / (uint64_t)wide;
		while (!depth && run_context(f.run, ++context)->scope == UINT32_MAX)
			;
		if (depth)
			assert_int_equal(
				session_depth_at(f.session, run_context(f.run, context)->scope), depth);
		depth = session_depth_at(f.session, run_context(f.run, context)->scope);
		grid_fini(&grid);
	}
	close_session(&f);
}

/* ---- lines ---- */

/* Rows that have room share all of it that their paths can use, no more than there is, and what stands in a
 * line is a callee of what stands above. */
static void check_chart(struct fixture *f, uint32_t row)
{
	struct frame *frame = &f->session->frame;
	const struct rows_node *node = &f->session->rows.nodes[f->session->rows.shown[row]];
	const struct frame_line *line = rows_is_group(node) ? NULL : frame_line(frame, node->stream);

	for (uint32_t below = 1; line && below < session_row_lines(f->session, row); below++) {
		const struct cell *cells = chart_line(frame, line, below);

		assert_non_null(cells);
		for (uint32_t c = 0; c < frame->columns.count; c++) {
			struct cell above = below > 1 ? chart_line(frame, line, below - 1)[c]
						      : frame_cell(frame, line, c);

			if (cells[c].function == UINT32_MAX)
				continue;
			assert_true(above.function != UINT32_MAX && above.kind != CELL_MIXED);
			assert_true(cells[c].time_ns > 0 && cells[c].time_ns <= above.time_ns);
		}
	}
}

static void test_lines(void **state)
{
	struct fixture f;
	uint32_t lines, row;

	(void)state;
	open_one(&f);
	press(&f, "&kind=cpu<Enter>www");
	lines = session_row_line(f.session, 0, f.session->rows.shown_count);
	assert_true(lines > f.session->rows.shown_count); /* there is room for more than one each */
	assert_true(lines <= (uint32_t)f.session->layout.timeline.rows);
	for (row = 0; row < f.session->rows.shown_count; row++)
		check_chart(&f, row);
	press(&f, "e");
	for (row = 0; row < f.session->rows.shown_count; row++)
		check_chart(&f, row);
	for (uint32_t line = 0; line < lines; line++) {
		row = session_row_at(f.session, 0, line);
		assert_true(row != UINT32_MAX && session_row_line(f.session, 0, row) <= line);
	}
	close_session(&f);
}

/* ---- where to look first ---- */

static void test_first_look(void **state)
{
	const struct frame_line *line;
	struct fixture f;
	struct cell cell;
	uint32_t node;

	(void)state;
	open_one(&f);
	session_seek_work(f.session);
	press(&f, "");
	assert_true(session_cell(f.session, &line, &cell));
	assert_true(cell_has_holder(&cell) && cell.function != UINT32_MAX);
	press(&f, "0wwwwww!");
	node = f.session->state.node;
	assert_ptr_equal(f.session->focus, &view_jumps);
	press(&f, "<Enter>"); /* the longest */
	assert_ptr_equal(f.session->focus, &view_timeline);
	assert_true(session_cell(f.session, &line, &cell));
	assert_false(extent_state_is_busy((enum extent_state)cell.state));
	press(&f, "u");
	assert_int_equal(f.session->state.node, node);
	close_session(&f);
}

/* ---- help ---- */

/* The keys of the view come first, commands behind; all can be found, and closing goes back. */
static void test_help(void **state)
{
	char usage[SESSION_USAGE], keys[64];
	const char *help;
	struct fixture f;
	size_t count;

	(void)state;
	open_one(&f);
	press(&f, "?");
	assert_false(grid_has(&f, "HERE, IN"));
	assert_true(grid_has(&f, "MOVE"));
	press(&f, "q6?");
	assert_true(grid_has(&f, "HERE, IN: Profile") && grid_has(&f, "hot path"));
	press(&f, "/colours of<Enter>");
	press(&f, "q");
	assert_ptr_equal(f.session->full, &view_profile);
	press(&f, "q2<Tab><Tab>?");
	assert_true(grid_has(&f, "HERE, IN: Blame"));
	press(&f, "q");
	assert_ptr_equal(f.session->focus, &view_blame);
	assert_null(f.session->full);
	for (count = 0; commands_line(count, usage, &help); count++) {
		assert_true(strlen(usage) <= 25 && strlen(help) <= 53);
		snprintf(keys, sizeof(keys), "?/%s<Enter>", usage);
		press(&f, keys);
		if (!grid_has(&f, help))
			fail_msg("%s is not found", usage);
		press(&f, "q");
		snprintf(keys, sizeof(keys), "%.*s<Enter>", (int)strcspn(usage, " "), usage);
		if (strcmp(keys, ":quit<Enter>") != 0)
			press(&f, keys);
		if (strstr(f.session->message, "is no command"))
			fail_msg("%s", f.session->message);
		press(&f, "<Esc><Esc>t");
	}
	assert_true(count > 30);
	close_session(&f);
}

/* A long message parts no words. */
static void test_message(void **state)
{
	struct fixture f;

	(void)state;
	open_one(&f);
	for (int i = 0; i < 40; i++)
		sprintf(f.session->message + strlen(f.session->message), " word%0*d", i % 11, i);
	draw(&f);
	assert_true(strlen(f.session->message) > 2 * COLUMNS);
	for (char *word = strtok(f.session->message, " "); word; word = strtok(NULL, " "))
		if (!grid_has(&f, word))
			fail_msg("%s", word);
	close_session(&f);
}

/* ---- filters ---- */

/* Time of a function at a depth on the screen, all of a kind of state. */
static uint64_t time_of(struct fixture *f, const char *name, uint64_t *all_ns)
{
	uint32_t streams[64], count = session_streams_on_screen(f->session, streams);
	struct sums_line *lines;
	uint64_t time_ns = 0;
	size_t line_count;

	*all_ns = 0;
	assert_int_equal(
		sums_add_up(&lines, &line_count, &f->session->frame, streams, count, STATS_FUNCTION), 0);
	for (size_t i = 0; i < line_count; i++) {
		*all_ns += lines[i].time_ns;
		if (lines[i].function != UINT32_MAX &&
			strcmp(run_function(f->run, lines[i].function)->name, name) == 0)
			time_ns += lines[i].time_ns;
	}
	free(lines);
	return time_ns;
}

/* Functions that are taken out go from the timeline, too, and no time with them; kept ones come back. */
static void test_filters(void **state)
{
	struct fixture f, g;
	uint64_t all_ns, before_ns, main_ns, at_ns;
	char key[64];
	const char *name;

	(void)state;
	setenv("XDG_CONFIG_HOME", directory, 1);
	open_one(&f);
	press(&f, ":depth 2<Enter>");
	name = run_function(
		f.run, frame_function(&f.session->frame, session_leaf_context(f.session), &(bool){false}))
		       ->name;
	before_ns = time_of(&f, name, &all_ns);
	main_ns = time_of(&f, "main", &all_ns);
	assert_true(before_ns > 0 && strcmp(name, "main") != 0);
	snprintf(key, sizeof(key), ":hide all %s<Enter>", name);
	press(&f, key);
	assert_int_equal(time_of(&f, name, &at_ns), 0);
	assert_int_equal(at_ns, all_ns);
	assert_int_equal(time_of(&f, "main", &at_ns), main_ns + before_ns);
	press(&f, ":hide keep<Enter>");
	open_one(&g);
	config_read(g.session);
	press(&g, ":depth 2<Enter>");
	assert_int_equal(time_of(&g, name, &at_ns), 0);
	press(&g, ":hide 0<Enter>");
	assert_int_equal(time_of(&g, name, &at_ns), before_ns);
	assert_false(config_filter(g.session, "some x"));
	assert_true(config_filter(g.session, "off below x*"));
	close_session(&g);
	close_session(&f);
}

/* A title says what its view has read for this picture, not for the one before. */
static void test_title(void **state)
{
	struct fixture f;

	(void)state;
	open_one(&f);
	press(&f, ":against 0..1s<Enter>");
	assert_false(grid_has(&f, "B against A"));
	press(&f, "G");
	assert_true(grid_has(&f, "B against A 0..1 s"));
	press(&f, "m");
	assert_false(grid_has(&f, "B against A"));
	close_session(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_groupings),
		cmocka_unit_test(test_undo),
		cmocka_unit_test(test_cursor_step),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_mouse),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_first_look),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_message),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_title),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, make, end_world);
}
