/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_align.c - sets the time offset of B against A: at the begins of both runs, at a common mark, or at
 * a common span.
 */
#include <stdio.h>
#include <string.h>

#include "timeline/select/bookmark.h"
#include "tui/models/compare.h"

void compare_align_begins(struct session *session)
{
	struct compare *compare = session->compare;

	compare->align = COMPARE_BEGIN;
	compare->mark[0] = '\0';
	compare->zero_ns = run_begin_ns(session->run);
	compare->offset_ns = (int64_t)(run_begin_ns(compare->other->run) - compare->zero_ns);
	compare->shift_ns = 0;
}

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
		compare_align_begins(session);
	else if (strcmp(value, "span") == 0)
		align_span(session);
	else if (value[0] == '@' && strlen(value) < COMPARE_MARK)
		align_marks(session, value);
	else
		session_say(session, ":align begin, span (the one under the cursor), @MARK or @MARK#N");
}

/* Begin, a mark, the span under the cursor. */
void compare_next_align(struct session *session)
{
	struct compare *compare = session->compare;

	if (compare->align == COMPARE_BEGIN && align_common_mark(session))
		return;
	if (compare->align != COMPARE_SPAN)
		align_span(session);
	else
		compare_align_begins(session);
	if (compare->align == COMPARE_MARKS) /* no span there: round again */
		compare_align_begins(session);
}
