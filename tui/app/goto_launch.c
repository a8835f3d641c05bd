/* SPDX-License-Identifier: Apache-2.0 */
/*
 * goto_launch.c - Enter on the timeline: jumps from a GPU operation to the call that launched it, and back.
 * Both records carry the same link, belong to one process and are close in time.
 */
#include <string.h>

#include "timeline/scan/scan.h"
#include "tui/app/actions.h"
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
	uint32_t node = rows_node_of(&session->rows, stream);
	bool is_launch = s->s.kind == STORE_STREAM_CPU;
	uint64_t delay_ns = is_launch ? from->begin_ns - to->begin_ns : to->begin_ns - from->begin_ns;
	char delay[FORMAT_NUMBER_BYTES];

	session_keep(session);
	if (node != UINT32_MAX)
		session->state.node = node;
	session->state.is_following = false;
	view_state_go(&session->state, session_limits(session), to->begin_ns);
	format_number_short(delay, delay_ns);
	session_say(session, "%s %s %s   Enter or u goes back", is_launch ? "launched here," : "runs here,",
		delay, is_launch ? "before it began" : "after its launch");
}

void goto_launch_or_back(struct session *session)
{
	struct linked here, there;
	struct error error = {0};
	uint32_t stream, column = session_column(session);
	const struct run_stream *own;
	uint64_t at_ns;

	if (!session_stream(session, &stream) || session->frame.columns.count == 0)
		return;
	own = run_stream(session->run, stream);
	if (find_linked(session, stream, frame_column_ns(&session->frame, column),
		    frame_column_ns(&session->frame, column + 1), 0, &here, &error)) {
		session_say(session, "%s", error.text);
		return;
	}
	at_ns = here.begin_ns;
	for (uint32_t i = 0; here.link && i < run_stream_count(session->run); i++) {
		const struct run_stream *s = run_stream(session->run, i);
		if (s->s.kind == own->s.kind || !is_same_process(s, own))
			continue;
		if (find_linked(session, i, at_ns > GOTO_LAUNCH_REACH_NS ? at_ns - GOTO_LAUNCH_REACH_NS : 0,
			    at_ns < STORE_OPEN_NS - GOTO_LAUNCH_REACH_NS ? at_ns + GOTO_LAUNCH_REACH_NS
									 : STORE_OPEN_NS,
			    here.link, &there, &error)) {
			session_say(session, "%s", error.text);
			return;
		}
		if (there.link) {
			go_to(session, i, &here, &there);
			return;
		}
	}
	session_say(session, here.link
				     ? "the other end of it was not recorded"
				     : "nothing here was launched or launches: Enter follows GPU operations");
}
