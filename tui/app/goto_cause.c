/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goto_cause.c - Enter on a wait of the timeline: the cursor goes to who it was for (blame/wait/wait_end.h),
 * to the stretch in which that stream did most meanwhile; from a queue's idle time to the launch that ends
 * it. Backspace goes back. `b` shows that wait or gap alone: its blame, or what ran meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>

#include "blame/wait/wait_end.h"
#include "tui/app/actions.h"
#include "tui/models/blame_page.h"
#include "tui/models/stretch.h"
#include "tui/models/wait_whom.h"
#include "tui/screen/format_number.h"
#include "tui/views/views.h"

#define LOOK_NS 60000000000u /* more would be read for longer than a key may take */
#define NAME_CELLS 40
#define BACK "   Backspace goes back"

/* Of what a stream did in [from, until), or in its last minute, the longest stretch of one function; false:
 * nothing is known. */
static bool longest_of(struct session *session, uint32_t stream, uint64_t from_ns, uint64_t until_ns,
	struct stretch *longest)
{
	struct stretches list = {0};
	struct error error;

	*longest = (struct stretch){0};
	if (until_ns - from_ns > LOOK_NS)
		from_ns = until_ns - LOOK_NS;
	if (stretch_list(session, &list, stream, from_ns, until_ns, stretch_span, NULL, &error) == 0)
		for (size_t i = 0; i < list.count; i++)
			if (list.items[i].key && list.items[i].end_ns - list.items[i].begin_ns >
							 longest->end_ns - longest->begin_ns)
				*longest = list.items[i];
	free(list.items);
	return longest->end_ns > longest->begin_ns;
}

/* A column that is the stretch's own, its first one: that of its begin may be mostly of what was before. */
static uint64_t inside(const struct session *session, const struct stretch *stretch)
{
	uint64_t half_ns = (stretch->end_ns - stretch->begin_ns) / 2;
	uint64_t column_ns = (uint64_t)session_columns_ns(session, 1);

	return stretch->begin_ns + (half_ns < column_ns ? half_ns : column_ns);
}

static void say_untold(struct session *session, uint32_t stream, const struct wait_end *end)
{
	char wait[FORMAT_NUMBER_BYTES], text[SESSION_TEXT];

	format_number_short(wait, end->end_ns - end->begin_ns);
	if (end->by == WAIT_END_ITSELF)
		session_say(session, "this one came last: it waited for nobody");
	else if (wait_end_is_open(session->run, stream, end) &&
		 wait_whom_put_circle_near(session, text, sizeof(text), stream))
		session_say(session, "%s: this wait does not end", text);
	else if (wait_end_is_open(session->run, stream, end))
		session_say(session, "this wait has not ended, and no record says who it is for");
	else
		session_say(session, "no record says who ended this wait of %s; 1 shows what ran meanwhile",
			wait);
}

static void go_to(struct session *session, uint32_t stream, const struct wait_end *end)
{
	uint64_t until_ns =
		end->until_ns < run_end_ns(session->run) ? end->until_ns : run_end_ns(session->run);
	uint64_t at_ns = end->from_ns;
	char wait[FORMAT_NUMBER_BYTES], text[SESSION_TEXT];
	struct stretch longest;

	format_number_short(
		wait, (end->end_ns < run_end_ns(session->run) ? end->end_ns : run_end_ns(session->run)) -
			      end->begin_ns);
	if (end->by != WAIT_END_OPERATION &&
		longest_of(session, end->stream, end->from_ns, until_ns, &longest))
		at_ns = inside(session, &longest);
	if (!session_go_to(session, end->stream, at_ns))
		return;
	if (end->by == WAIT_END_HOLDER && wait_end_is_open(session->run, stream, end) &&
		wait_whom_put_circle(session, text, sizeof(text), stream)) {
		session_say(session, "%s" BACK, text);
		return;
	}
	wait_whom_put(session, text, sizeof(text), stream, end, NAME_CELLS);
	session_say(session, "%s: the wait took %s" BACK, text, wait);
}

bool goto_cause(struct session *session, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, bool is_last)
{
	struct error error = {0};
	struct wait_end end;

	if (wait_end_find(&end, session->run, stream, begin_ns, end_ns, &error)) {
		session_say(session, "%s", error.text);
		return true;
	}
	if (end.by == WAIT_END_NO_WAIT || (end.by < WAIT_END_HOLDER && !is_last))
		return false;
	if (end.by >= WAIT_END_HOLDER)
		go_to(session, stream, &end);
	else
		say_untold(session, stream, &end);
	return true;
}

/* ---- the blame of one gap ---- */

/* The part of the cursor's column that one gap or wait fills; false: it fills less than half. */
static bool find_piece(struct session *session, uint32_t stream, struct stretch *piece)
{
	uint32_t column = session_column(session);
	uint64_t begin_ns = frame_column_ns(&session->frame, column);
	uint64_t end_ns = frame_column_ns(&session->frame, column + 1);
	struct stretches list = {0};
	struct error error;

	*piece = (struct stretch){0};
	if (stretch_list(session, &list, stream, begin_ns, end_ns, stretch_gap, NULL, &error) == 0)
		for (size_t i = 0; i < list.count; i++)
			if (list.items[i].key && list.items[i].end_ns - list.items[i].begin_ns >
							 piece->end_ns - piece->begin_ns)
				*piece = list.items[i];
	free(list.items);
	return piece->end_ns > piece->begin_ns && (piece->end_ns - piece->begin_ns) * 2 >= end_ns - begin_ns;
}

/* The whole gap at the cursor: what the column shows may be a part of it. */
static bool find_gap(struct session *session, uint32_t stream, struct stretch *gap)
{
	uint64_t last_ns = session_limits(session).end_ns, end_ns;
	struct stretches list = {0};
	struct stretch before;
	struct error error;

	if (!find_piece(session, stream, gap))
		return false;
	if (stretch_next(session, stream, gap->end_ns, true, stretch_gap, NULL, &before))
		gap->begin_ns = before.begin_ns;
	end_ns = gap->end_ns;
	do { /* windows that double: nothing beyond its end is read in vain */
		end_ns = last_ns - end_ns > end_ns - gap->begin_ns ? end_ns + (end_ns - gap->begin_ns)
								   : last_ns;
		if (stretch_list(session, &list, stream, gap->begin_ns, end_ns, stretch_gap, NULL, &error) ||
			!list.count)
			break;
		gap->end_ns = list.items[0].end_ns;
	} while (gap->end_ns == end_ns && end_ns < last_ns);
	free(list.items);
	return true;
}

/* Of a queue's idle time whom it waited for; of a thread's wait what ran meanwhile, and who it was for. */
static void open_blame(struct session *session, uint32_t stream, const struct stretch *gap)
{
	bool is_queue = run_stream(session->run, stream)->s.kind == STORE_STREAM_GPU;
	struct blame_page *page = blame_page_of(session);
	char length[FORMAT_NUMBER_BYTES], text[SESSION_TEXT] = "who it was for is not told";
	struct error error;
	struct wait_end end;

	session->full = NULL;
	session->pane = NULL;
	session_open_pane(session, is_queue ? &view_blame : &view_stats);
	format_number_short(length, gap->end_ns - gap->begin_ns);
	if (is_queue) {
		page->is_of_chosen = false;
		session_say(session, "the blame of these %s alone" BACK, length);
		return;
	}
	if (!wait_end_find(&end, session->run, stream, gap->begin_ns, gap->end_ns, &error) &&
		end.by >= WAIT_END_HOLDER)
		wait_whom_put(session, text, sizeof(text), stream, &end, NAME_CELLS);
	session_say(session, "%s; below is what ran in these %s" BACK, text, length);
}

bool goto_blame(struct session *session)
{
	struct stretch gap;
	uint32_t stream;

	if (!blame_page_of(session) || !session_stream(session, &stream) || !session->frame.columns.count ||
		!find_gap(session, stream, &gap))
		return false;
	session_leave_place(session);
	session_keep(session);
	session->state.is_following = false;
	view_state_set_window(
		&session->state, session_limits(session), gap.begin_ns, gap.end_ns - gap.begin_ns);
	open_blame(session, stream, &gap);
	return true;
}
