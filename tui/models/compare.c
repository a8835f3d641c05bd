/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - lays B on the columns of A, reads the pairs on the screen, and computes the difference
 * (timeline/diff/diff.h). No drawing.
 */
#include "tui/models/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/hash.h"
#include "store/base/path.h"
#include "tui/models/profile_page.h"
#include "tui/session/deadline.h"

/* ---- limits ---- */

static uint64_t on_clock_of_a(const struct compare *compare, uint64_t time_ns)
{
	__int128 at = (__int128)time_ns - compare->offset_ns;

	return at < 0 ? 0 : at > INT64_MAX ? INT64_MAX : (uint64_t)at;
}

static bool is_shown(const struct session *session)
{
	return session->compare && (compare_has_screen(session) ||
					   (session->full && session->full->is_help && session->before_help &&
						   session->before_help->streams != VIEW_ROWS));
}

/* A window that was whole becomes the whole of both, and of A again when the comparison is left. A shift
 * keeps the window: B moves on a screen that stands still. */
void compare_take_limits(struct session *session)
{
	struct compare *compare = session->compare;
	struct view_state *state = &session->state;
	struct view_state_limits before = session_limits(session), limits;
	bool is_whole;

	session->second = (struct view_state_limits){0, 0};
	if (is_shown(session)) {
		limits = session_limits(compare->other);
		session->second.begin_ns = on_clock_of_a(compare, limits.begin_ns);
		session->second.end_ns = on_clock_of_a(compare, limits.end_ns);
	}
	limits = session_limits(session);
	is_whole = state->is_whole && !(compare && compare->has_shifted);
	if (compare)
		compare->has_shifted = false;
	if (limits.begin_ns == before.begin_ns && limits.end_ns == before.end_ns) {
		view_state_fit(state, limits); /* undo may have brought a window back from other limits */
		return;
	}
	if (is_whole)
		view_state_whole(state, limits);
	else
		view_state_set_window(state, limits, state->begin_ns, state->end_ns - state->begin_ns);
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
	frame_set_filters(&other->frame, a->filters, a->filter_count, a->filter_changes);
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
	const struct rows *b = &session->compare->other->rows;
	uint64_t rows = store_hash64(session->rows.shown, session->rows.shown_count * sizeof(uint32_t), 5);

	rows = store_hash64(b->shown, b->shown_count * sizeof(uint32_t), rows);

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
		if (at_ms && deadline_now_ms() >= at_ms) {
			session->is_unread = true;
			break;
		}
		if (pair->a != UINT32_MAX)
			result = frame_read(&session->frame, pair->a, &line, error);
		if (!result && pair->b != UINT32_MAX && !compare->is_apart)
			result = frame_read(&compare->other->frame, pair->b, &line, error);
		if (deadline_put_off(session, result)) {
			session->is_unread = true;
			result = 0;
			break;
		}
	}
	if (!result)
		put_cursors(session);
	if (!result)
		result = compare_choose_streams(session, error);
	return result;
}

/* ---- what view_both shows ---- */

/* The full-screen view shows the streams of the pairs on the screen. */
static bool has_list(const struct session *session)
{
	return session->full &&
	       (session->full->streams == VIEW_PAIRS ||
		       (session->full->streams == VIEW_PAIRS_IF_MERGED && profile_page_is_merged(session)));
}

bool compare_has_screen(const struct session *session)
{
	return has_list(session) || (session->full && session->full->streams == VIEW_COMPARISON);
}

const char *compare_base_name(const struct run *run)
{
	return path_base(run_path(run));
}

int compare_choose_streams(struct session *session, struct error *error)
{
	struct compare *compare = session->compare;
	struct session *of[DIFF_SIDES] = {session, compare->other};

	for (int side = DIFF_A; side <= DIFF_B; side++) {
		of[side]->only = NULL;
		of[side]->only_count = 0;
		if (!has_list(session))
			continue;
		free(compare->only[side]);
		compare->only[side] = calloc((size_t)compare->room + 1, sizeof(uint32_t));
		if (!compare->only[side])
			return error_memory(error);
		of[side]->only = compare->only[side];
		for (uint32_t i = compare->top; i < compare->pair_count && i < compare->top + compare->room &&
						of[side]->only_count < of[side]->rows.shown_count;
			i++) {
			uint32_t stream = side == DIFF_B ? compare->pairs[i].b : compare->pairs[i].a;
			if (stream != UINT32_MAX)
				compare->only[side][of[side]->only_count++] = stream;
		}
	}
	return 0;
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

static int add_side(struct session *session, const struct compare *compare, struct diff *diff,
	enum diff_side side, struct error *error)
{
	struct session *of = side == DIFF_B ? compare->other : session;
	char window[96], depth[SESSION_DEPTH], *streams = streams_of(of, compare, side == DIFF_B);
	struct select *select = NULL;
	int result = streams ? select_new(&select, error) : error_memory(error);

	session_put_window(window, sizeof(window), of);
	session_depth_option(session, depth);
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

/* Work first, states as a foot: each in the order of the difference. */
static int states_last(struct compare *compare, struct error *error)
{
	struct diff_result *result = &compare->result;
	struct diff_row *states = calloc(result->count + 1, sizeof(*states));
	size_t kept = 0, count = 0;

	if (!states)
		return error_memory(error);
	for (size_t i = 0; i < result->count; i++) {
		if (result->rows[i].is_state)
			states[count++] = result->rows[i];
		else
			result->rows[kept++] = result->rows[i];
	}
	if (count)
		memcpy(result->rows + kept, states, count * sizeof(*states));
	free(states);
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
	if (!result)
		result = states_last(compare, error);
	diff_free(diff);
	return result;
}

static bool is_off_screen(const struct session *of)
{
	return of->frame.begin_ns >= run_end_ns(of->run) || of->frame.end_ns <= run_begin_ns(of->run);
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
	key.align = compare->align == COMPARE_MARKS ? compare->offset_ns - compare->shift_ns : 0;
	if (compare->is_apart || is_off_screen(compare->other) || is_off_screen(session)) {
		snprintf(compare->trouble, sizeof(compare->trouble), "%c has no time on the screen.",
			is_off_screen(session) ? 'A' : 'B');
		compare->is_loaded = false;
		return false;
	}
	if (!compare->is_loaded || memcmp(&key, &compare->key, sizeof(key)) != 0) {
		compare->result = (struct diff_result){0};
		arena_fini(&compare->arena);
		compare->trouble[0] = '\0';
		compare->key = key;
		compare->is_loaded = true;
		if (!compute(session, &error)) {
			compare_take_steps(session);
		} else {
			compare->is_loaded = !deadline_read_later(session);
			snprintf(compare->trouble, sizeof(compare->trouble), "%s",
				compare->is_loaded ? error.text : "reading ...");
		}
	}
	return compare->trouble[0] == '\0';
}
