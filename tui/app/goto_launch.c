/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goto_launch.c - Enter on the timeline: jumps from a GPU operation to the call that launched it, and back;
 * from a queue's idle time to the launch of what ends it; from a wait to who ended it (goto_cause.c). Both
 * records of a link belong to one process and are close in time.
 */
#include <string.h>

#include "timeline/scan/scan.h"
#include "tui/app/actions.h"
#include "tui/models/stretch.h"
#include "tui/screen/format_number.h"
#include "tui/session/session.h"

#define GOTO_LAUNCH_REACH_NS 10000000000u /* a queue may be so far behind its launches */

/* A record with a link. */
struct linked {
	uint64_t begin_ns, end_ns, link;
};

static uint64_t overlap_ns(const struct linked *span, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t from = span->begin_ns > begin_ns ? span->begin_ns : begin_ns;
	uint64_t until = span->end_ns < end_ns ? span->end_ns : end_ns;

	return until > from ? until - from : 0;
}

/* Of a stream's records with a link in [begin, end) the one with that link; with `link` 0 the one that fills
 * most of it. */
static int find_linked(struct session *session, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	uint64_t link, struct linked *found, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count = 0;
	int result = scan_open(
		&scan, session->run, stream, STORE_SPANS, begin_ns, end_ns, STORE_END | STORE_REST, 0, error);

	found->link = 0;
	if (result)
		return result;
	while (!(link && found->link) && (count = scan_next(scan, &batch, error)) > 0) {
		for (size_t i = 0; i < batch->count; i++) {
			struct linked span = {batch->begin_ns[i], batch->end_ns[i], batch->link[i]};
			bool is_better = !found->link || overlap_ns(&span, begin_ns, end_ns) >
								 overlap_ns(found, begin_ns, end_ns);
			if (span.link && (link ? span.link == link : is_better))
				*found = span;
		}
	}
	scan_close(scan);
	return count < 0 ? (int)count : 0;
}

static bool is_same_process(const struct run_stream *a, const struct run_stream *b)
{
	return a->store == b->store && a->s.pid == b->s.pid && a->s.generation == b->s.generation;
}

static void go_to(
	struct session *session, uint32_t stream, const struct linked *from, const struct linked *to)
{
	const struct run_stream *s = run_stream(session->run, stream);
	bool is_launch = s->s.kind == STORE_STREAM_CPU;
	uint64_t delay_ns = is_launch ? from->begin_ns - to->begin_ns : to->begin_ns - from->begin_ns;
	char delay[FORMAT_NUMBER_BYTES];

	if (!session_go_to(session, stream, to->begin_ns))
		return;
	format_number_short(delay, delay_ns);
	session_say(session, "%s %s %s   Enter or Backspace goes back",
		is_launch ? "launched here," : "runs here,", delay,
		is_launch ? "before it began" : "after its launch");
}

/* To the other end of a link; false: there is no such record. */
static int go_along(struct session *session, uint32_t stream, const struct linked *here, bool *is_there,
	struct error *error)
{
	const struct run_stream *own = run_stream(session->run, stream);
	uint64_t at_ns = here->begin_ns;
	struct linked there;
	int result = 0;

	*is_there = false;
	for (uint32_t i = 0; i < run_stream_count(session->run) && !result && !*is_there; i++) {
		const struct run_stream *s = run_stream(session->run, i);

		if (s->s.kind == own->s.kind || !is_same_process(s, own))
			continue;
		result = find_linked(session, i,
			at_ns > GOTO_LAUNCH_REACH_NS ? at_ns - GOTO_LAUNCH_REACH_NS : 0,
			at_ns < STORE_OPEN_NS - GOTO_LAUNCH_REACH_NS ? at_ns + GOTO_LAUNCH_REACH_NS
								     : STORE_OPEN_NS,
			here->link, &there, error);
		*is_there = !result && there.link;
		if (*is_there)
			go_to(session, i, here, &there);
	}
	return result;
}

/* A queue's idle time ends with its next operation: the one to look for. */
static uint64_t end_of_search(struct session *session, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
	struct stretch next;

	if (run_stream(session->run, stream)->s.kind == STORE_STREAM_GPU &&
		stretch_next(session, stream, begin_ns, false, stretch_work, NULL, &next))
		return next.begin_ns + 1 > end_ns ? next.begin_ns + 1 : end_ns;
	return end_ns;
}

/* What the column shows most of: a wait is followed first where the cell is one. */
void goto_launch_or_cause(struct session *session)
{
	const struct frame_line *line;
	struct linked here = {0};
	struct error error = {0};
	uint32_t stream, column = session_column(session);
	uint64_t begin_ns, end_ns;
	bool is_there = false;
	struct cell cell;

	if (!session_stream(session, &stream) || session->frame.columns.count == 0)
		return;
	begin_ns = frame_column_ns(&session->frame, column);
	end_ns = frame_column_ns(&session->frame, column + 1);
	if (session_cell(session, &line, &cell) && !extent_state_is_busy((enum extent_state)cell.state) &&
		goto_cause(session, stream, begin_ns, end_ns, false))
		return;
	end_ns = end_of_search(session, stream, begin_ns, end_ns);
	if (find_linked(session, stream, begin_ns, end_ns, 0, &here, &error) ||
		(here.link && go_along(session, stream, &here, &is_there, &error)))
		session_say(session, "%s", error.text);
	else if (here.link && !is_there)
		session_say(session, "the other end of it was not recorded");
	else if (!here.link && !goto_cause(session, stream, begin_ns, end_ns, true))
		session_say(session, "nothing here waits, was launched or launches: Enter follows waits and "
				     "GPU operations");
}
