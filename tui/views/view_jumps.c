/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_jumps.c - the longest waits and gaps on the screen, each a jump: stretches of columns in which a
 * stream does no work, from the cells that are drawn, so that it costs nothing to ask. Waits for the end of a
 * thread or child come last: a parent waits as long as its children live, which tells nothing. Who each wait
 * was for is looked up behind the picture, for the lines that are shown.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/models/critical_list.h"
#include "tui/models/wait_whom.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/session/deadline.h"
#include "tui/views/cell_runs.h"
#include "tui/views/views.h"

#define JUMPS_MAX 200u
#define END_FRAMES 4u /* below a join, libc has no more of its own */
#define CALL_FRAMES 24u
#define CALL_CELLS 28
#define CALLS_ROOM 60 /* with less only the function at the depth is told */
#define CALLS_MORE 24 /* "preempted in " and so on */
#define CALLS_LEAST 8 /* beside who it was for */

enum jump_awaits {
	OTHERS, /* or not known */
	SLEEP,	/* the thread's own wish */
	AN_END	/* of a thread or child, which the others' waits explain */
};

struct jump {
	uint64_t begin_ns, length_ns;
	uint32_t row, node;
	struct cell cell; /* its first */
	uint32_t context; /* in which it waits; 0: not known */
	enum jump_awaits awaits;
};

struct jumps {
	struct jump items[JUMPS_MAX + 1]; /* the longest first, of each kind */
	uint32_t count;
	uint64_t all_ns;
	uint32_t all;
};

static bool is_gap(const struct cell *cell)
{
	return cell->kind == CELL_STATE && cell->state != EXTENT_ABSENT && cell->state != EXTENT_UNMONITORED;
}

/* ---- in which calls ---- */

static bool is_libc(const struct run_function *function)
{
	const char *base = strrchr(function->module, '/');

	/* imports may know no modules */
	return !function->module[0] || strncmp(base ? base + 1 : function->module, "libc.", 5) == 0;
}

static enum jump_awaits awaits_of_call(const struct run_function *function)
{
	static const struct {
		const char *name;
		enum jump_awaits awaits;
	} calls[] = {{"pthread_join", AN_END}, {"pthread_timedjoin_np", AN_END},
		{"pthread_clockjoin_np", AN_END}, {"__pthread_clockjoin_ex", AN_END}, {"wait", AN_END},
		{"wait3", AN_END}, {"wait4", AN_END}, {"waitid", AN_END}, {"waitpid", AN_END},
		{"sleep", SLEEP}, {"usleep", SLEEP}, {"nanosleep", SLEEP}, {"clock_nanosleep", SLEEP},
		{"thrd_sleep", SLEEP}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (strcmp(function->name, calls[i].name) == 0)
			return is_libc(function) ? calls[i].awaits : OTHERS;
	return OTHERS;
}

/* The context with most of the state's time in a column. */
static uint32_t context_of(const struct frame_line *line, uint32_t column, unsigned state)
{
	uint64_t most_ns = 0;
	uint32_t context = 0;

	for (uint32_t e = line->first[column]; e < line->first[column + 1]; e++)
		if (line->entries[e].state == state && line->entries[e].time_ns > most_ns) {
			most_ns = line->entries[e].time_ns;
			context = line->entries[e].context;
		}
	return context;
}

/* Functions from the leaf outwards, as many as there are room for. */
static uint32_t functions_of(
	const struct session *session, uint32_t context, const struct run_function **functions, uint32_t room)
{
	uint32_t scope = context ? run_context(session->run, context)->scope : UINT32_MAX, count = 0;

	for (; scope != UINT32_MAX && count < room; scope = run_scope(session->run, scope)->parent) {
		const struct run_function *function =
			run_function(session->run, run_scope(session->run, scope)->function);

		if (cell_runs_says_what(function))
			functions[count++] = function;
	}
	return count;
}

static enum jump_awaits awaits_of(const struct session *session, uint32_t context)
{
	const struct run_function *functions[END_FRAMES];
	uint32_t count = functions_of(session, context, functions, END_FRAMES);
	enum jump_awaits awaits = OTHERS;

	for (uint32_t i = 0; i < count && awaits == OTHERS; i++)
		awaits = awaits_of_call(functions[i]);
	return awaits;
}

/* "audit/read_accounts/pthread_mutex_lock": the innermost frames that have a name, as many as fit. */
static void put_calls(
	const struct session *session, uint32_t context, char out[LABEL_BYTES], int room, bool is_ascii)
{
	const struct run_function *functions[CALL_FRAMES];
	uint32_t count = functions_of(session, context, functions, CALL_FRAMES);
	char name[LABEL_BYTES];

	out[0] = '\0';
	for (uint32_t i = 0; i < count; i++) {
		size_t used = strlen(out), size;

		/* of libc the call, not what it is made of */
		if (strstr(functions[i]->name, "+0x") || (functions[i]->module[0] && is_libc(functions[i]) &&
								 i + 1 < count && is_libc(functions[i + 1])))
			continue;
		label_fit(name, functions[i]->name, CALL_CELLS, LABEL_CELL, is_ascii);
		size = strlen(name);
		if (text_cells(name) + text_cells(out) + 1 > room || size + used + 2 > LABEL_BYTES)
			break;
		memmove(out + size + (used > 0), out, used + 1);
		memcpy(out, name, size);
		if (used)
			out[size] = '/';
	}
}

/* ---- the list ---- */

static bool is_before(const struct jump *a, const struct jump *b)
{
	return a->awaits != b->awaits ? a->awaits < b->awaits : a->length_ns >= b->length_ns;
}

static void add(struct jumps *jumps, const struct jump *jump)
{
	uint32_t at = jumps->count;

	jumps->all++;
	jumps->all_ns += jump->length_ns;
	while (at > 0 && !is_before(&jumps->items[at - 1], jump))
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
			jump.context = context_of(line, c, cell.state);
			jump.awaits = awaits_of(session, jump.context);
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

/* Length, begin and stream of a line. Returns where its text begins. */
static int draw_place(struct session *session, struct grid *grid, int row, uint64_t begin_ns,
	uint64_t length_ns, const char *stream, bool has_cursor)
{
	int label = session->layout.label + 8;
	char text[LABEL_BYTES];

	if (has_cursor)
		grid_put(grid, row, 0, '>', GRID_HEADING);
	format_number_short(text, length_ns);
	grid_text_right(grid, row, 2, 10, text, GRID_TEXT);
	ruler_time(text, begin_ns, length_ns, session->zero);
	grid_text_right(grid, row, 13, 15, text, GRID_TEXT);
	label_stream(text, stream, label - 1, grid->is_ascii);
	grid_text(grid, row, 30, label, text, GRID_TEXT);
	return 30 + label;
}

/* "blocked in read_accounts/pthread_mutex_lock: audit 2 held the lock": who it was for goes before the calls
 * where both have no room. */
static void put_jump(struct session *session, char out[LABEL_BYTES], const struct jump *jump,
	const char *whom, int room, bool is_ascii)
{
	struct cell_share share = {.state = (enum extent_state)jump->cell.state, .function = UINT32_MAX};
	int calls_room = room - CALLS_MORE;
	char calls[LABEL_BYTES] = "";
	size_t used;

	if (strncmp(whom, "deadlock: ", 10) == 0) { /* needs the room, and says all */
		snprintf(out, LABEL_BYTES, "%s", whom);
		return;
	}
	if (*whom) {
		session_share_name(session, out, &share, LABEL_TABLE, room);
		calls_room = room - text_cells(out) - text_cells(whom) - 6; /* " in ", ": " */
	}
	if (room >= CALLS_ROOM && calls_room >= CALLS_LEAST)
		put_calls(session, jump->context, calls, calls_room, is_ascii);
	if (!calls[0] && !*whom)
		share.function = jump->cell.function;
	session_share_name(session, out, &share, LABEL_TABLE, room);
	used = strlen(out);
	used += (size_t)snprintf(
		out + used, LABEL_BYTES - used, "%s%.*s", calls[0] ? " in " : "", LABEL_BYTES / 2, calls);
	if (used < LABEL_BYTES)
		snprintf(out + used, LABEL_BYTES - used, "%s%s", *whom ? ": " : "", whom);
}

static void draw_jump(struct session *session, struct grid *grid, int row, const struct jump *jump,
	const char *whom, bool has_cursor)
{
	int column = draw_place(session, grid, row, jump->begin_ns, jump->length_ns,
		rows_long_label(&session->rows, jump->node), has_cursor);
	char text[LABEL_BYTES];

	put_jump(session, text, jump, whom, grid->columns - column, grid->is_ascii);
	grid_text(grid, row, column, grid->columns - column, text, GRID_GREY);
}

/* ---- who they were for ---- */

/* Of a line; NULL: to be looked up. A queue's idle time is for the launch that ends it: Enter goes there. */
static const char *whom_of(struct session *session, const struct jump *jump)
{
	const struct rows_node *node = &session->rows.nodes[jump->node];

	if (node->kind != ROWS_THREAD || jump->cell.state == EXTENT_RUNNABLE)
		return "";
	return wait_whom_text(session, node->stream, jump->begin_ns, jump->length_ns);
}

/* False: a key interrupted it. */
static bool look_up(struct session *session, const struct jump *jump)
{
	return whom_of(session, jump) || wait_whom_find(session, session->rows.nodes[jump->node].stream,
						 jump->begin_ns, jump->length_ns);
}

/* The first line that is shown of so many. */
static uint32_t first_line(const struct session *session, uint32_t room)
{
	return session->jump >= room ? session->jump - room + 1 : 0;
}

void view_jumps_look_up(struct session *session, unsigned limit_ms)
{
	const struct grid_area *area =
		session->full == &view_jumps ? &session->layout.full : &session->layout.pane;
	struct jumps *jumps = session->is_unread ? NULL : take(session);
	struct deadline deadline = deadline_in(limit_ms);
	uint32_t room = area->rows > 1 ? (uint32_t)area->rows - 1 : 0, first = first_line(session, room);

	for (uint32_t i = first; jumps && i < jumps->count && i < first + room; i++)
		if (deadline_is_past(&deadline) || !look_up(session, &jumps->items[i])) {
			free(jumps);
			return;
		}
	free(jumps);
	session->has_whom_left = false;
}

/* ---- the critical path ---- */

/* "client/burn", "lock, for refresher 1". */
static void draw_stretch(struct session *session, struct grid *grid, int row,
	const struct critical_stretch *stretch, bool has_cursor)
{
	int column = draw_place(session, grid, row, stretch->begin_ns, stretch->end_ns - stretch->begin_ns,
		rows_stream_label(&session->rows, stretch->stream), has_cursor);
	int room = grid->columns - column;
	char calls[LABEL_BYTES], text[2 * LABEL_BYTES];

	put_calls(session, stretch->context, calls, room > CALLS_MORE ? room - CALLS_MORE : room,
		grid->is_ascii);
	if (!stretch->kind)
		snprintf(text, sizeof(text), "%s", calls);
	else if (stretch->party == UINT32_MAX)
		snprintf(text, sizeof(text), "wait (%s)", stretch->kind);
	else
		snprintf(text, sizeof(text), "wait (%s) for %.*s", stretch->kind, LABEL_BYTES - 64,
			rows_stream_label(&session->rows, stretch->party));
	grid_text(grid, row, column, room, text, GRID_GREY);
}

static void critical_draw(
	struct session *session, struct grid *grid, struct grid_area area, struct critical_list *list)
{
	uint32_t room = (uint32_t)(area.rows - 1), first;
	bool is_there = critical_list_take(session, list);
	char text[160];

	snprintf(text, sizeof(text),
		"    length           at           stream: the critical path of the window, %zu stretches; "
		"i: waits",
		list->all);
	grid_text(grid, area.row, 2, area.columns - 2, is_there ? text : list->trouble,
		is_there ? GRID_HEADING : GRID_GREY);
	if (session->jump >= list->count)
		session->jump = list->count ? list->count - 1 : 0;
	first = first_line(session, room);
	for (uint32_t i = first; i < list->count && i < first + room; i++)
		draw_stretch(
			session, grid, area.row + 1 + (int)(i - first), &list->items[i], i == session->jump);
}

static bool shows_critical(const struct session *session)
{
	return session->critical && session->critical->is_shown;
}

/* ---- the view ---- */

static void jumps_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct jumps *jumps = session->is_unread || shows_critical(session) ? NULL : take(session);
	uint32_t room = (uint32_t)(area.rows - 1), first;
	char all[FORMAT_NUMBER_BYTES], text[160];

	session->has_whom_left = false;
	if (area.rows >= 2 && !session->is_unread && shows_critical(session)) {
		critical_draw(session, grid, area, session->critical);
		return;
	}
	if (area.rows < 2 || !jumps) {
		free(jumps);
		grid_text(grid, area.row, area.column + 2, area.columns - 2, "reading ...", GRID_GREY);
		return;
	}
	format_number_short(all, jumps->all_ns);
	snprintf(text, sizeof(text),
		"    length           at           stream: %u waits and gaps here, %s together; i: critical "
		"path",
		jumps->all, all);
	grid_text(grid, area.row, 2, area.columns - 2,
		jumps->count ? text
			     : "No stream on the screen waits as long as a column: 0 shows the whole run, w "
			       "looks closer.",
		jumps->count ? GRID_HEADING : GRID_GREY);
	first = first_line(session, room);
	for (uint32_t i = first; i < jumps->count && i < first + room; i++) {
		const struct jump *jump = &jumps->items[i];
		const char *whom;

		if (!session->is_restartable) /* a picture alone: nothing is read behind it */
			look_up(session, jump);
		whom = whom_of(session, jump);
		session->has_whom_left = session->has_whom_left || !whom;
		draw_jump(session, grid, area.row + 1 + (int)(i - first), jump, whom ? whom : "",
			i == session->jump);
	}
	free(jumps);
}

static void go_to(struct session *session, uint32_t node, uint64_t at_ns)
{
	session_leave_place(session);
	session_keep(session);
	session->state.node = node;
	view_state_go(&session->state, session_limits(session), at_ns);
	session_go_home(session);
}

static void go_critical(struct session *session)
{
	const struct critical_list *list = session->critical;
	uint32_t node = session->jump < list->count
				? rows_node_of(&session->rows, list->items[session->jump].stream)
				: UINT32_MAX;

	if (node != UINT32_MAX)
		go_to(session, node, list->items[session->jump].begin_ns);
	if (node != UINT32_MAX)
		session_say(session, "a stretch of the critical path; Backspace goes back");
}

static void go(struct session *session)
{
	struct jumps *jumps = session->is_unread ? NULL : take(session);

	if (jumps && jumps->count) {
		go_to(session, jumps->items[session->jump].node, jumps->items[session->jump].begin_ns);
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
	case KEYS_DO_IDLE_OF:
		if (critical_list_of(session))
			session->critical->is_shown = !session->critical->is_shown;
		session->jump = 0;
		return true;
	case KEYS_DO_ENTER:
		if (shows_critical(session))
			go_critical(session);
		else
			go(session);
		return true;
	default:
		return false;
	}
}

static const struct view_key jumps_keys[] = {{"j k", "the next one, the one before"},
	{"Enter", "there on the timeline"}, {"i", "the critical path of the window, the waits again"},
	{NULL, NULL}};

const struct view view_jumps = {.name = "Waits",
	.key = '!',
	.draw = jumps_draw,
	.act = jumps_act,
	.own_keys = jumps_keys,
	.hints = "j/k choose  Enter go there  i critical path  Tab timeline"};
