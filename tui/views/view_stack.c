/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_stack.c - the call path at the cursor: of all contexts in the cursor's cell the one that the cell
 * shows, frame by frame, and the others with their shares.
 */
#include <stdlib.h>
#include <string.h>

#include "store/base/path.h"
#include "tui/models/call_text.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/screen/text.h"
#include "tui/session/session.h"
#include "tui/views/views.h"

#define STACK_SHARES 64
#define STACK_ALSO 3 /* lines of what else is in the cell */

/* Contents of the pane, all of the cursor's cell. */
struct stack {
	struct cell cell;
	struct cell_share shares[STACK_SHARES]; /* the cell's own first, then by time */
	size_t share_count;
	uint64_t column_ns;
	uint32_t context; /* leaf shown; 0: none */
	uint32_t *scopes; /* from the root to the leaf */
	uint32_t scope_count;
	struct stack_line {
		uint32_t at;   /* scope; of a loop: the one below it, or behind the last */
		uint32_t loop; /* RUN_LOOP_NONE: the scope itself */
	} * lines;
	uint32_t line_count;
};

static bool is_of_cell(const struct cell *cell, const struct cell_share *share)
{
	return share->state == cell->state && share->function == cell->function;
}

static uint32_t depth_of(const struct session *session, const struct stack *stack)
{
	uint32_t depth = session_depth_at(
		session, stack->scope_count ? stack->scopes[stack->scope_count - 1] : UINT32_MAX);

	return depth > stack->cell.above ? depth - stack->cell.above : 1;
}

static void list_scopes(const struct run *run, struct stack *stack)
{
	const struct run_context *context = run_context(run, stack->context);
	uint32_t scope = context->scope, count;

	if (stack->context == 0 || scope == UINT32_MAX)
		return;
	count = run_scope(run, scope)->depth + 1;
	stack->scopes = malloc(count * sizeof(*stack->scopes));
	if (!stack->scopes)
		return;
	stack->scope_count = count;
	while (count-- && scope != UINT32_MAX) {
		stack->scopes[count] = scope;
		scope = run_scope(run, scope)->parent;
	}
}

/* The loop that frame `at` is called in, or behind the last the leaf's own. */
static uint32_t loop_at(const struct session *session, const struct stack *stack, uint32_t at)
{
	if (!session->looks.has_loops || !at)
		return RUN_LOOP_NONE;
	return at < stack->scope_count ? run_scope(session->run, stack->scopes[at])->call_loop
				       : run_context(session->run, stack->context)->loop;
}

static uint32_t loop_depth(const struct run *run, uint32_t loop)
{
	return loop == RUN_LOOP_NONE ? 0 : run_loop(run, loop)->depth;
}

/* A loop and those around it, the outermost first. */
static void add_loops(const struct run *run, struct stack *stack, uint32_t at, uint32_t loop)
{
	uint32_t depth = loop_depth(run, loop), place = stack->line_count;

	stack->line_count += depth;
	for (uint32_t i = depth; i-- > 0 && loop != RUN_LOOP_NONE; loop = run_loop(run, loop)->parent)
		stack->lines[place + i] = (struct stack_line){at, loop};
}

/* Frames, and where they are wanted the loops between them. */
static void list_lines(const struct session *session, struct stack *stack)
{
	size_t count = stack->scope_count;

	for (uint32_t at = 0; at <= stack->scope_count; at++)
		count += loop_depth(session->run, loop_at(session, stack, at));
	stack->lines = calloc(count + 1, sizeof(*stack->lines));
	for (uint32_t at = 0; stack->lines && at <= stack->scope_count; at++) {
		add_loops(session->run, stack, at, loop_at(session, stack, at));
		if (at < stack->scope_count)
			stack->lines[stack->line_count++] = (struct stack_line){at, RUN_LOOP_NONE};
	}
}

/* Cells of the frames' numbers. */
static int number_cells(const struct stack *stack)
{
	int cells = 2;

	for (uint32_t most = stack->scope_count; most > 100; most = (most + 9) / 10)
		cells++;
	return cells;
}

/* False when nothing is known of the cell yet. */
static bool stack_take(struct session *session, struct stack *stack)
{
	const struct frame_line *line;
	size_t own = 0;

	*stack = (struct stack){0};
	if (!session_cell(session, &line, &stack->cell))
		return false;
	stack->column_ns = frame_column_length(&session->frame, session_column(session));
	stack->share_count =
		frame_shares(&session->frame, line, session_column(session), stack->shares, STACK_SHARES);
	while (own < stack->share_count && !is_of_cell(&stack->cell, &stack->shares[own]))
		own++;
	if (stack->cell.above) { /* the cell is a caller's; the shares are of its callees */
		own = stack->share_count < STACK_SHARES ? stack->share_count++ : STACK_SHARES - 1;
		stack->shares[own] = (struct cell_share){.state = (enum extent_state)stack->cell.state,
			.function = stack->cell.function,
			.time_ns = stack->cell.time_ns};
	}
	if (own < stack->share_count) {
		struct cell_share share = stack->shares[own];
		memmove(&stack->shares[1], &stack->shares[0], own * sizeof(share));
		stack->shares[0] = share;
	}
	stack->context = session_leaf_context(session);
	list_scopes(session->run, stack);
	list_lines(session, stack);
	return true;
}

/* The line in the frame that calls the next one, or the line of the leaf; else the module. */
static void frame_position(
	const struct session *session, const struct stack *stack, uint32_t at, char *out, bool is_ascii)
{
	const struct run_function *function;
	const char *file;
	uint32_t line;

	out[0] = '\0';
	function = run_function(session->run, run_scope(session->run, stack->scopes[at])->function);
	if (at + 1 < stack->scope_count) {
		const struct run_scope *inner = run_scope(session->run, stack->scopes[at + 1]);
		file = inner->call_file, line = inner->call_line;
	} else {
		const struct run_context *context = run_context(session->run, stack->context);
		file = context->file, line = context->line;
	}
	if (function->is_placeholder)
		return;
	if (file && file[0])
		label_file(out, path_base(file), (int)line, 40, is_ascii);
	else if (!strchr(function->name, '+')) /* module+0xstart says it already */
		label_file(out, path_base(function->module), 0, 40, is_ascii);
}

/* Template arguments may have gone, but nothing of the name's own words. */
static bool is_whole_enough(const char *name, const char *raw)
{
	char own[LABEL_BYTES];

	label_fit(own, raw, LABEL_BYTES / 4, LABEL_CELL, false);
	return strlen(name) >= strlen(own) && strncmp(name, own, strcspn(own, ":<(")) == 0;
}

static void draw_frame(struct session *session, struct grid *grid, int row, const struct grid_area *area,
	const struct stack *stack, uint32_t at)
{
	const struct run_scope *scope = run_scope(session->run, stack->scopes[at]);
	uint32_t depth = depth_of(session, stack);
	char name[LABEL_BYTES], position[LABEL_BYTES], number[16];
	int digits = number_cells(stack), column = area->column + 3 + digits;
	int room = area->columns - 3 - digits, cells;
	const char *raw;

	snprintf(number, sizeof(number), "%u", at);
	grid_text_right(grid, row, area->column + 1, digits, number, GRID_TEXT);
	position[0] = '\0';
	if (!session->looks.no_sites)
		frame_position(session, stack, at, position, grid->is_ascii);
	cells = text_cells(position);
	raw = run_function(session->run, scope->function)->name;
	label_fit(name, raw, cells ? room - cells - 2 : room, LABEL_TABLE, grid->is_ascii);
	if (!is_whole_enough(name, raw)) /* the position goes before the name is shortened */
		label_fit(name, raw, room, LABEL_TABLE, grid->is_ascii), cells = 0;
	grid_text(grid, row, column, room, name, GRID_TEXT);
	if (cells)
		grid_text_right(grid, row, column, room, position, GRID_GREY);
	if (at == depth || (at + 1 == stack->scope_count && at < depth)) {
		grid_put(grid, row, area->column, '>', GRID_HEADING);
		grid_mark(grid, row, column, text_cells(name), GRID_BOLD);
	}
}

static void draw_loop(
	struct session *session, struct grid *grid, int row, const struct grid_area *area, uint32_t loop)
{
	char name[LABEL_BYTES];

	label_stream(name, run_loop(session->run, loop)->name, area->columns - 6, grid->is_ascii);
	grid_text(grid, row, area->column + 6, area->columns - 6, name, GRID_GREY);
}

static uint32_t line_of(const struct stack *stack, uint32_t scope)
{
	uint32_t line = 0;

	while (line + 1 < stack->line_count &&
		(stack->lines[line].at != scope || stack->lines[line].loop != RUN_LOOP_NONE))
		line++;
	return line;
}

/* The frames that have room, around the depth; the lines that count those cut. */
static int draw_frames(struct session *session, struct grid *grid, const struct grid_area *area, int row,
	int room, const struct stack *stack)
{
	uint32_t count = stack->line_count, first = 0, shown = count;
	uint32_t depth = line_of(stack, depth_of(session, stack));
	char text[48];

	if (room < 3)
		return row;
	if ((int)count > room) {
		shown = (uint32_t)room - 1;
		first = depth > shown / 2 ? depth - shown / 2 : 0;
		if (first > count - shown)
			first = count - shown;
		if (first > 0 && first + shown < count)
			shown--;
	}
	if (first > 0) {
		snprintf(text, sizeof(text), "%u more above", first);
		grid_text(grid, row++, area->column + 5, area->columns - 5, text, GRID_GREY);
	}
	for (uint32_t i = first; i < first + shown; i++)
		if (stack->lines[i].loop != RUN_LOOP_NONE)
			draw_loop(session, grid, row++, area, stack->lines[i].loop);
		else
			draw_frame(session, grid, row++, area, stack, stack->lines[i].at);
	if (first + shown < count) {
		snprintf(text, sizeof(text), "%u more below", count - first - shown);
		grid_text(grid, row++, area->column + 5, area->columns - 5, text, GRID_GREY);
	}
	return row;
}

/* Outside its life a stream has no state: which side of it that is. */
static void put_state(const struct session *session, char out[LABEL_BYTES], uint32_t stream,
	const struct cell_share *share, int cells)
{
	if (share->state == EXTENT_ABSENT)
		strcpy(out, session_is_before(session, stream) ? "not started" : "ended");
	else
		session_share_name(session, out, share, LABEL_STACK, cells);
}

static int draw_also(struct session *session, struct grid *grid, const struct grid_area *area, int row,
	int end, const struct stack *stack)
{
	char share[FORMAT_NUMBER_BYTES], name[LABEL_BYTES];
	uint32_t stream;

	if (stack->share_count < 2 || row + 1 >= end || !session_stream(session, &stream))
		return row;
	grid_text(grid, row++, area->column, area->columns, "also in this cell:", GRID_GREY);
	for (size_t i = 1; i < stack->share_count && i <= STACK_ALSO && row < end; i++) {
		format_number_share(share, stack->shares[i].time_ns, stack->column_ns, 0);
		grid_text_right(grid, row, area->column, 6, share, GRID_TEXT);
		put_state(session, name, stream, &stack->shares[i], area->columns - 8);
		grid_text(grid, row++, area->column + 8, area->columns - 8, name, GRID_TEXT);
	}
	return row;
}

static void draw_stream(struct session *session, struct grid *grid, const struct grid_area *area, int row)
{
	char raw[LABEL_BYTES], text[LABEL_BYTES];
	const struct run_stream *s;
	uint32_t stream;

	if (!session_stream(session, &stream))
		return;
	s = run_stream(session->run, stream);
	if (call_text_at_cursor(session, raw, sizeof(raw))) {
		grid_text(grid, row, area->column, area->columns, raw, GRID_TEXT);
		return;
	}
	if (s->s.kind == STORE_STREAM_CPU)
		snprintf(raw, sizeof(raw), "thread %u, process %u, %s", s->s.tid ? s->s.tid : s->s.thread,
			s->s.pid, s->host);
	else
		snprintf(raw, sizeof(raw), "gpu%u %s, queue %u, %s", s->s.device, s->device_name, s->s.queue,
			s->host);
	label_stream(text, raw, area->columns, grid->is_ascii);
	grid_text(grid, row, area->column, area->columns, text, GRID_GREY);
}

/* Few rows: the head is one line, and frames take all others. */
static bool is_small(const struct grid_area *area)
{
	return area->rows < 12;
}

static void draw_head(
	struct session *session, struct grid *grid, const struct grid_area *area, const struct stack *stack)
{
	char label[LABEL_BYTES], time[FORMAT_NUMBER_BYTES], share[FORMAT_NUMBER_BYTES],
		text[LABEL_BYTES + 128];
	uint32_t column = session_column(session);

	int at = area->column + 13;

	grid_text(grid, area->row, area->column, area->columns, "Call stack", GRID_HEADING);
	if (session_row(session) == UINT32_MAX)
		return;
	label_stream(label, rows_long_label(&session->rows, session->state.node), area->columns - 13,
		grid->is_ascii);
	at = grid_text(grid, area->row, at, area->columns - 13, label, GRID_TEXT);
	ruler_time(time, session_cursor_ns(session), frame_column_length(&session->frame, column),
		session->zero);
	format_number_share(share, stack->share_count ? stack->shares[0].time_ns : 0, stack->column_ns, 0);
	snprintf(text, sizeof(text), stack->share_count ? "at %s  %s of this cell" : "at %s", time, share);
	if (is_small(area))
		grid_text(grid, area->row, at + 2, area->column + area->columns - at - 2, text, GRID_TEXT);
	else
		grid_text(grid, area->row + 1, area->column, area->columns, text, GRID_TEXT);
}

/* A group has no path of its own: what each of its streams does at the cursor. */
static void draw_group(
	struct session *session, struct grid *grid, const struct grid_area *area, int row, int end)
{
	uint32_t node = session->state.node, column = session_column(session);
	const struct rows_node *group = &session->rows.nodes[node];

	for (uint32_t i = node + 1; i < group->next && row < end; i++) {
		const struct rows_node *n = &session->rows.nodes[i];
		const struct frame_line *line =
			rows_is_group(n) ? NULL : frame_line(&session->frame, n->stream);
		char label[LABEL_BYTES], name[LABEL_BYTES];
		struct cell cell;
		struct cell_share share;

		if (!line)
			continue;
		cell = frame_cell(&session->frame, line, column);
		share = (struct cell_share){
			.state = (enum extent_state)cell.state, .function = cell.function};
		label_stream(label, rows_short_label(&session->rows, i), 10, grid->is_ascii);
		grid_text(grid, row, area->column + 1, 10, label, GRID_GREY);
		if (cell.kind == CELL_MIXED)
			strcpy(name, "mixed");
		else
			put_state(session, name, n->stream, &share, area->columns - 12);
		grid_text(grid, row++, area->column + 12, area->columns - 12, name, GRID_TEXT);
	}
}

static void draw_body(struct session *session, struct grid *grid, const struct grid_area *area, int row,
	const struct stack *stack)
{
	int end = area->row + area->rows, also = (int)stack->share_count - 1;
	uint32_t stream;
	char text[LABEL_BYTES];
	bool is_group = session_row(session) != UINT32_MAX &&
			rows_is_group(&session->rows.nodes[session->state.node]);

	if (is_group) {
		draw_group(session, grid, area, row, end);
		return;
	}
	also = also <= 0 || is_small(area) ? 0 : (also > STACK_ALSO ? STACK_ALSO : also) + 1;
	if (stack->scope_count)
		row = draw_frames(session, grid, area, row, end - row - also - 2 * !is_small(area), stack);
	if (stack->scope_count && !is_small(area)) {
		snprintf(text, sizeof(text),
			depth_of(session, stack) < stack->scope_count ? "depth %u of %-4u  e/E deeper/higher"
								      : "depth %u, this path has %u",
			depth_of(session, stack), stack->scope_count - 1);
		grid_text(grid, row++, area->column, area->columns, text, GRID_GREY);
	} else if (!stack->scope_count && stack->share_count && session_stream(session, &stream)) {
		put_state(session, text, stream, &stack->shares[0], area->columns - 5);
		grid_text(grid, row++, area->column + 5, area->columns - 5, text, GRID_TEXT);
	}
	if (also)
		row = draw_also(session, grid, area, row, end - 1, stack);
	if (row < end && !is_small(area))
		draw_stream(session, grid, area, end - 1);
}

static void stack_draw(struct session *session, struct grid *grid, struct grid_area area)
{
	struct stack stack;
	bool is_known;

	if (area.rows < 3)
		return;
	is_known = stack_take(session, &stack);
	draw_head(session, grid, &area, &stack);
	if (is_known || session_row(session) != UINT32_MAX)
		draw_body(session, grid, &area, area.row + (is_small(&area) ? 1 : 3), &stack);
	free(stack.scopes);
	free(stack.lines);
}

/* With the focus, up and down choose a frame and thereby the depth. */
static bool stack_act(struct session *session, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_DOWN:
		session_step_depth(session, 1);
		return true;
	case KEYS_DO_UP:
		session_step_depth(session, -1);
		return true;
	default:
		return false;
	}
}

static const struct view_key stack_keys[] = {{"j k", "another frame; the depth of the cells follows"},
	{"Enter", "on a GPU operation: its launch"}, {"7", "source of the frame"}, {NULL, NULL}};

const struct view view_stack = {.name = "Call stack",
	.key = 'p',
	.draw = stack_draw,
	.act = stack_act,
	.own_keys = stack_keys,
	.hints = "j/k frame and depth  Tab next pane"};
