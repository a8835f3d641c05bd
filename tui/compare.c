/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - holds B against A in time, reads what the pairs on the screen need, and asks timeline/diff.h
 * what changed. No drawing.
 */
#include "tui/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/hash.h"
#include "timeline/mark.h"

/* ---- opening ---- */

static void align_begins(struct session *session)
{
	struct compare *compare = session->compare;

	compare->align = COMPARE_BEGIN;
	compare->mark[0] = '\0';
	compare->zero_ns = run_begin_ns(session->run);
	compare->offset_ns = (int64_t)(run_begin_ns(compare->other->run) - compare->zero_ns);
	compare->shift_ns = 0;
}

int compare_open(struct session *session, struct run *run, struct error *error)
{
	struct compare *compare = calloc(1, sizeof(*compare));
	int result;

	if (!compare) {
		run_close(run);
		return error_memory(error);
	}
	result = session_open(&compare->other, run, NULL, session->looks, error);
	if (result) {
		run_close(run);
		free(compare);
		return result;
	}
	session->compare = compare;
	align_begins(session);
	return 0;
}

void compare_close(struct compare *compare)
{
	struct run *run;

	if (!compare)
		return;
	run = compare->other->run;
	session_close(compare->other);
	run_close(run);
	free(compare->pairs);
	arena_fini(&compare->arena);
	free(compare);
}

/* ---- alignment ---- */

/* Time of "@NAME#N" in a run. */
static int find_mark(struct run *run, const char *mark, uint64_t *time_ns, struct error *error)
{
	char range[COMPARE_MARK + 4];
	struct select *select;
	int result = select_new(&select, error);

	if (result)
		return result;
	snprintf(range, sizeof(range), "%s..", mark);
	result = select_option(select, "time", range, error);
	if (!result)
		result = select_bind(select, run, error);
	if (!result)
		*time_ns = select_begin_ns(select);
	select_free(select);
	return result;
}

static void align_marks(struct session *session, const char *mark)
{
	struct compare *compare = session->compare;
	struct error error;
	uint64_t a_ns, b_ns;
	int result = find_mark(session->run, mark, &a_ns, &error);

	if (result) {
		session_say(session, "A: %s", error.text);
		return;
	}
	if (find_mark(compare->other->run, mark, &b_ns, &error)) {
		session_say(session, "B: %s", error.text);
		return;
	}
	compare->align = COMPARE_MARKS;
	snprintf(compare->mark, sizeof(compare->mark), "%s", mark);
	compare->zero_ns = a_ns;
	compare->offset_ns = (int64_t)(b_ns - a_ns);
	compare->shift_ns = 0;
}

static bool is_in(const struct mark *marks, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(marks[i].name, name) == 0)
			return true;
	return false;
}

/* The first mark of A that B has too. False: there is none. */
static bool align_common_mark(struct session *session)
{
	struct arena arena = {0};
	const struct mark *a, *b;
	size_t a_count, b_count;
	struct error error;
	char name[COMPARE_MARK] = "";

	if (mark_list(session->run, &arena, &a, &a_count, &error) ||
		mark_list(session->compare->other->run, &arena, &b, &b_count, &error))
		a_count = b_count = 0;
	for (size_t i = 0; i < a_count && !name[0]; i++)
		if (is_in(b, b_count, a[i].name))
			snprintf(name, sizeof(name), "@%s", a[i].name);
	arena_fini(&arena);
	if (name[0])
		align_marks(session, name);
	return name[0] != '\0';
}

/* First column of the run of cells around `column` that show what it shows. */
static uint32_t run_begin(struct frame *frame, const struct frame_line *line, uint32_t column)
{
	struct cell cell = frame_cell(frame, line, column);

	while (column > 0) {
		struct cell before = frame_cell(frame, line, column - 1);
		if (!cell_is_same_run(&before, &cell))
			break;
		column--;
	}
	return column;
}

/* The run of cells in B nearest to the cursor that shows the same function. */
static bool find_span(struct session *other, uint32_t stream, uint64_t hash, uint32_t near, uint32_t *column)
{
	const struct frame_line *line = frame_line(&other->frame, stream);
	uint32_t count = other->frame.columns.count;

	for (uint32_t step = 0; line && step < count; step++) {
		for (int side = -1; side <= 1; side += 2) {
			int64_t at = (int64_t)near + side * (int64_t)step;
			struct cell cell;
			if (at < 0 || at >= count)
				continue;
			cell = frame_cell(&other->frame, line, (uint32_t)at);
			if (cell.kind == CELL_BLOCK && cell.hash == hash) {
				*column = run_begin(&other->frame, line, (uint32_t)at);
				return true;
			}
		}
	}
	return false;
}

static void align_span(struct session *session)
{
	struct compare *compare = session->compare;
	const struct compare_pair *pair =
		compare->line < compare->pair_count ? &compare->pairs[compare->line] : NULL;
	const struct frame_line *line =
		pair && pair->a != UINT32_MAX ? frame_line(&session->frame, pair->a) : NULL;
	uint32_t a = session_column(session), b;
	struct cell cell;

	if (!line || pair->b == UINT32_MAX || compare->is_apart) {
		session_say(session, "the cursor's stream is not in both runs");
		return;
	}
	cell = frame_cell(&session->frame, line, a);
	if (cell.kind != CELL_BLOCK || !find_span(compare->other, pair->b, cell.hash,
					       a > compare->skip ? a - compare->skip : 0, &b)) {
		session_say(session, "what is under the cursor of A is not on the screen in B");
		return;
	}
	a = run_begin(&session->frame, line, a);
	compare->align = COMPARE_SPAN;
	compare->mark[0] = '\0';
	compare->zero_ns = frame_column_ns(&session->frame, a);
	compare->offset_ns = (int64_t)(frame_column_ns(&compare->other->frame, b) - compare->zero_ns);
	compare->shift_ns = 0;
}

void compare_set_align(struct session *session, const char *value)
{
	if (!session->compare)
		session_say(session, "there is one run only; hpct-view A B shows two");
	else if (strcmp(value, "begin") == 0)
		align_begins(session);
	else if (strcmp(value, "span") == 0)
		align_span(session);
	else if (value[0] == '@' && strlen(value) < COMPARE_MARK)
		align_marks(session, value);
	else
		session_say(session, ":align begin, span (the one under the cursor), @MARK or @MARK#N");
}

/* Begin, a mark, the span under the cursor. */
static void next_align(struct session *session)
{
	struct compare *compare = session->compare;

	if (compare->align == COMPARE_BEGIN && align_common_mark(session))
		return;
	if (compare->align != COMPARE_SPAN)
		align_span(session);
	else
		align_begins(session);
	if (compare->align == COMPARE_MARKS) /* no span there: round again */
		align_begins(session);
}

/* ---- reading ---- */

static int lay(struct session *session, struct error *error)
{
	struct compare *compare = session->compare;
	struct session *other = compare->other;
	struct frame *a = &session->frame;
	uint64_t span_ns = a->want_end_ns - a->want_begin_ns, width = a->columns.count;
	uint64_t column_ns = width ? (a->end_ns - a->begin_ns) / width : 1;
	__int128 begin_ns = (__int128)a->begin_ns + compare->offset_ns + column_ns / 2;
	__int128 skip = 0;
	int result;

	column_ns = column_ns ? column_ns : 1;
	if (begin_ns < 0)
		skip = (-begin_ns + column_ns - 1) / column_ns;
	compare->is_apart = skip >= (__int128)width || begin_ns + span_ns > INT64_MAX;
	if (compare->is_apart)
		return 0;
	compare->skip = (uint32_t)skip;
	begin_ns += skip * column_ns;
	span_ns -= (uint64_t)(skip * column_ns);
	result = frame_lay(&other->frame, (uint64_t)begin_ns, (uint64_t)begin_ns + span_ns,
		(uint32_t)(width - (uint64_t)skip), error);
	other->state.begin_ns = other->frame.begin_ns;
	other->state.end_ns = other->frame.end_ns;
	other->state.depth = session->state.depth;
	if (other->frame.depth != session->state.depth)
		frame_set_depth(&other->frame, session->state.depth);
	other->cells_wide = session->cells_wide;
	other->looks = session->looks;
	colours_follow(&other->colours, &session->colours);
	other->zero =
		(struct ruler_zero){.at_ns = (uint64_t)((int64_t)compare->zero_ns + compare->offset_ns)};
	return result;
}

/* The list follows the rows of A: what is hidden or filtered out there is gone here. */
static int renew_pairs(struct session *session, struct error *error)
{
	struct compare *compare = session->compare;
	uint64_t rows = store_hash64(session->rows.shown, session->rows.shown_count * sizeof(uint32_t), 5);

	if (compare->pairs && compare->pair_rows == rows)
		return 0;
	free(compare->pairs);
	compare->pairs = NULL;
	compare->pair_count = 0;
	if (compare_make_pairs(session, compare->other, &compare->pairs, &compare->pair_count))
		return error_memory(error);
	compare->pair_rows = rows;
	compare->line = 0;
	for (uint32_t i = 0; i < compare->pair_count; i++)
		if (session->rows.nodes[session->state.node].stream == compare->pairs[i].a)
			compare->line = i;
	return 0;
}

static void keep_on_screen(struct compare *compare)
{
	uint32_t room = compare->room ? compare->room : 1;

	if (compare->pair_count && compare->line >= compare->pair_count)
		compare->line = compare->pair_count - 1;
	if (compare->line < compare->top)
		compare->top = compare->line;
	if (compare->line >= compare->top + room)
		compare->top = compare->line - room + 1;
}

/* One cursor: both sessions stand on the streams of the pair, in the same column. */
static void put_cursors(struct session *session)
{
	struct compare *compare = session->compare;
	struct session *other = compare->other;
	uint32_t column = session_column(session);
	const struct compare_pair *pair;

	if (compare->line >= compare->pair_count)
		return;
	pair = &compare->pairs[compare->line];
	if (pair->a != UINT32_MAX)
		session->state.node = rows_node_of(&session->rows, pair->a);
	if (pair->b != UINT32_MAX)
		other->state.node = rows_node_of(&other->rows, pair->b);
	if (!compare->is_apart && column >= compare->skip &&
		column - compare->skip < other->frame.columns.count)
		other->state.cursor_ns = frame_column_ns(&other->frame, column - compare->skip);
}

int compare_read(struct session *session, uint64_t at_ms, struct error *error)
{
	struct compare *compare = session->compare;
	const struct frame_line *line;
	int result = renew_pairs(session, error);

	if (!result)
		result = lay(session, error);
	keep_on_screen(compare);
	session->is_unread = false;
	for (uint32_t i = compare->top;
		i < compare->pair_count && i < compare->top + compare->room && !result; i++) {
		const struct compare_pair *pair = &compare->pairs[i];
		if (at_ms && session_now_ms() >= at_ms) {
			session->is_unread = true;
			break;
		}
		if (pair->a != UINT32_MAX)
			result = frame_read(&session->frame, pair->a, &line, error);
		if (!result && pair->b != UINT32_MAX && !compare->is_apart)
			result = frame_read(&compare->other->frame, pair->b, &line, error);
	}
	if (!result)
		put_cursors(session);
	return result;
}

/* ---- the difference ---- */

/* The streams of one side on the screen: "stream=A,B"; "" when it has none there. */
static char *streams_of(const struct session *session, const struct compare *compare, bool is_b)
{
	char *text = NULL;
	size_t size, count = 0;
	FILE *out = open_memstream(&text, &size);

	for (uint32_t i = compare->top; out && i < compare->pair_count && i < compare->top + compare->room;
		i++) {
		uint32_t stream = is_b ? compare->pairs[i].b : compare->pairs[i].a;
		if (stream != UINT32_MAX)
			fprintf(out, "%s%s",
				count++ ? "," : "stream=", run_stream(session->run, stream)->text);
	}
	if (out && fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static void put_window(char *out, size_t size_bytes, const struct session *session)
{
	uint64_t origin_ns = run_origin_ns(session->run), begin_ns = session->frame.begin_ns;

	begin_ns = begin_ns > origin_ns ? begin_ns - origin_ns : 0;
	snprintf(out, size_bytes, "%" PRIu64 "ns..%" PRIu64 "ns", begin_ns,
		session->frame.end_ns > origin_ns ? session->frame.end_ns - origin_ns : 0);
}

static int add_side(struct session *session, const struct compare *compare, struct diff *diff,
	enum diff_side side, struct error *error)
{
	struct session *of = side == DIFF_B ? compare->other : session;
	char window[96], depth[16], *streams = streams_of(of, compare, side == DIFF_B);
	struct select *select = NULL;
	int result = streams ? select_new(&select, error) : error_memory(error);

	put_window(window, sizeof(window), of);
	snprintf(depth, sizeof(depth), "%u", session->state.depth);
	if (!result)
		result = select_option(select, "time", window, error);
	if (!result)
		result = select_option(select, "depth", depth, error);
	if (!result && streams[0])
		result = select_option(select, "streams", streams, error);
	if (!result)
		result = select_bind(select, of->run, error);
	if (!result)
		result = diff_add(diff, side, of->run, select, error);
	if (select)
		select_free(select);
	free(streams);
	return result;
}

/* The keys are the diff's, which ends here. */
static int keep_keys(struct compare *compare, struct error *error)
{
	for (size_t i = 0; i < compare->result.count; i++) {
		struct diff_row *row = &compare->result.rows[i];
		row->key = arena_copy(&compare->arena, row->key, strlen(row->key));
		if (!row->key) {
			compare->result.count = 0;
			return error_memory(error);
		}
	}
	return 0;
}

static int compute(struct session *session, struct error *error)
{
	struct compare *compare = session->compare;
	struct diff_question question = {.by = compare->by};
	struct diff *diff;
	int result = diff_new(&diff, &question, error);

	if (result)
		return result;
	result = add_side(session, compare, diff, DIFF_A, error);
	if (!result)
		result = add_side(session, compare, diff, DIFF_B, error);
	if (!result)
		result = diff_finish(diff, &compare->result, &compare->arena, error);
	if (!result)
		result = keep_keys(compare, error);
	diff_free(diff);
	return result;
}

bool compare_take(struct session *session)
{
	struct compare *compare = session->compare;
	const struct frame *b = &compare->other->frame;
	struct compare_key key = {.begin_ns = {session->frame.begin_ns, b->begin_ns},
		.end_ns = {session->frame.end_ns, b->end_ns}};
	struct error error;

	key.top = compare->top, key.count = compare->room, key.depth = session->state.depth;
	key.by = compare->by, key.rows = compare->pair_rows;
	if (compare->is_apart) {
		snprintf(compare->trouble, sizeof(compare->trouble), "B has no time on the screen.");
		compare->is_loaded = false;
		return false;
	}
	if (!compare->is_loaded || memcmp(&key, &compare->key, sizeof(key)) != 0) {
		compare->result = (struct diff_result){0};
		arena_fini(&compare->arena);
		compare->trouble[0] = '\0';
		if (compute(session, &error))
			snprintf(compare->trouble, sizeof(compare->trouble), "%s", error.text);
		compare->key = key;
		compare->is_loaded = true;
	}
	return compare->trouble[0] == '\0';
}

/* ---- keys ---- */

static void show_command(struct session *session)
{
	struct compare *compare = session->compare;
	char a[96], b[96];

	put_window(a, sizeof(a), session);
	put_window(b, sizeof(b), compare->other);
	session_say(session, "hpct diff %s %s --time %s --time-b %s --depth %u --by %s",
		run_path(session->run), run_path(compare->other->run), a, b, session->state.depth,
		stats_by_name(compare->by));
}

static void next_by(struct session *session)
{
	static const enum stats_by order[] = {STATS_FUNCTION, STATS_PATH, STATS_MODULE, STATS_LINE, STATS_OP};
	struct compare *compare = session->compare;
	size_t at = 0;

	while (at < 4 && order[at] != compare->by)
		at++;
	compare->by = order[(at + 1) % 5];
	session_say(session, "difference by %s", stats_by_name(compare->by));
}

static void move_line(struct compare *compare, int by)
{
	int64_t line = (int64_t)compare->line + by;

	if (line >= compare->pair_count)
		line = (int64_t)compare->pair_count - 1;
	compare->line = line < 0 ? 0 : (uint32_t)line;
}

static void shift(struct session *session, int columns)
{
	struct frame *frame = &session->frame;
	int64_t column_ns = frame->columns.count
				    ? (int64_t)((frame->end_ns - frame->begin_ns) / frame->columns.count)
				    : 1;

	session->compare->offset_ns -= columns * column_ns;
	session->compare->shift_ns += columns * column_ns;
}

/* Pans of one run alone leave the other where it is on the screen. */
static bool pan_one(struct session *session, enum keys_action action)
{
	int count = (int)session->frame.columns.count, quarter = count / 4 ? count / 4 : 1;
	int columns = action == KEYS_DO_PAN_LEFT    ? -quarter
		      : action == KEYS_DO_PAN_RIGHT ? quarter
		      : action == KEYS_DO_PAGE_LEFT ? -count
						    : count;
	struct compare *compare = session->compare;
	uint64_t before_ns = session->state.begin_ns;

	if (action != KEYS_DO_PAN_LEFT && action != KEYS_DO_PAN_RIGHT && action != KEYS_DO_PAGE_LEFT &&
		action != KEYS_DO_PAGE_RIGHT)
		return false;
	if (compare->side == COMPARE_B) {
		shift(session, -columns);
		return true;
	}
	act(session, action);
	compare->offset_ns -= (int64_t)(session->state.begin_ns - before_ns);
	compare->shift_ns += (int64_t)(session->state.begin_ns - before_ns);
	return true;
}

static bool act_move(struct compare *compare, enum keys_action action)
{
	switch (action) {
	case KEYS_DO_UP:
		move_line(compare, -1);
		return true;
	case KEYS_DO_DOWN:
		move_line(compare, 1);
		return true;
	case KEYS_DO_GROUP_UP:
	case KEYS_DO_SCROLL_UP:
		move_line(compare, -(int)compare->room);
		return true;
	case KEYS_DO_GROUP_DOWN:
	case KEYS_DO_SCROLL_DOWN:
		move_line(compare, (int)compare->room);
		return true;
	default:
		return false;
	}
}

bool compare_act(struct session *session, enum keys_action action)
{
	static const char *const sides[] = {"both runs", "A alone", "B alone"};
	struct compare *compare = session->compare;

	if (!compare)
		return false;
	if (act_move(compare, action) || (compare->side != COMPARE_BOTH && pan_one(session, action)))
		return true;
	switch (action) {
	case KEYS_DO_SORT_LEFT:
	case KEYS_DO_SORT_RIGHT:
		shift(session, action == KEYS_DO_SORT_RIGHT ? 1 : -1);
		return true;
	case KEYS_DO_ZERO:
		next_align(session);
		return true;
	case KEYS_DO_NEXT_PANE:
		compare->side = (compare->side + 1) % COMPARE_SIDES;
		session_say(session, "a d A D move %s", sides[compare->side]);
		return true;
	case KEYS_DO_GROUP_BY:
		next_by(session);
		return true;
	case KEYS_DO_COMMAND_LINE:
		show_command(session);
		return true;
	case KEYS_DO_FULL:
	case KEYS_DO_COMPARE:
		return true;
	default:
		return false;
	}
}
