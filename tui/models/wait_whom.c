/* SPDX-License-Identifier: Apache-2.0 */
/* wait_whom.c - see wait_whom.h. */
#include "tui/models/wait_whom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/base/progress.h"
#include "tui/screen/format_number.h"
#include "tui/screen/label.h"
#include "tui/session/deadline.h"

#define THREADS_MOST 64u /* that are looked at for a deadlock: each costs a scan */
#define FOUND_MOST 256u	 /* more than the list has lines: what is dropped is looked up again */
#define NAME_CELLS 40
#define LISTED_CELLS 24	     /* of a name in the list */
#define RECORDS_MOST 2000000 /* in the wait's time: a scan of more takes longer than a second */

static const char *words_of(const struct wait_end *end)
{
	switch (end->by) {
	case WAIT_END_HOLDER:
		return strcmp(end->cause, "gil") == 0 ? "held the GIL" : "held the lock";
	case WAIT_END_LAST:
		return "came last";
	case WAIT_END_OPERATION:
		return "was waited for";
	case WAIT_END_CHILD:
		return "is the child that ended";
	case WAIT_END_THREAD:
		return "is the thread that ended";
	case WAIT_END_PEER:
		return "was at the other end";
	default:
		return "let it go on";
	}
}

/* Of a thread of the waiter's own process its name there. LABEL_BYTES. */
static void put_name(struct session *session, char *out, uint32_t waiter, uint32_t stream, int cells)
{
	const struct rows *rows = &session->rows;
	uint32_t own = rows_node_of(rows, waiter), node = rows_node_of(rows, stream);
	bool is_near = own != UINT32_MAX && node != UINT32_MAX &&
		       rows_process(rows, own) == rows_process(rows, node);

	if (is_near)
		label_stream(out, rows_label(rows, node), cells, session->looks.is_ascii);
	else
		label_stream(out, rows_stream_label(rows, stream), cells, session->looks.is_ascii);
}

void wait_whom_put(struct session *session, char *out, size_t size_bytes, uint32_t waiter,
	const struct wait_end *end, int cells)
{
	uint64_t held_ns = end->until_ns - end->from_ns;
	const char *words = words_of(end), *cause = end->by == WAIT_END_HOLDER ? "" : end->cause;
	char held[FORMAT_NUMBER_BYTES], name[LABEL_BYTES];

	put_name(session, name, waiter, end->stream, cells);
	format_number_short(held, held_ns);
	if (end->by == WAIT_END_HOLDER && held_ns < end->end_ns - end->begin_ns)
		snprintf(out, size_bytes, "%s %s for %s", name, words, held);
	else
		snprintf(out, size_bytes, "%s %s%s%s%s", name, words, cause[0] ? " (" : "", cause,
			cause[0] ? ")" : "");
}

bool wait_whom_put_circle(struct session *session, char *out, size_t size_bytes, uint32_t stream)
{
	uint32_t circle[WAIT_END_CIRCLE], count = 0;
	char name[2][LABEL_BYTES];
	size_t used;
	struct error error;

	if (wait_end_circle(circle, &count, session->run, stream, &error) || count < 2)
		return false;
	used = (size_t)snprintf(out, size_bytes, "deadlock: ");
	for (uint32_t i = 0; i < count && used < size_bytes; i++) {
		put_name(session, name[0], stream, circle[i], NAME_CELLS);
		put_name(session, name[1], stream, circle[(i + 1) % count], NAME_CELLS);
		used += (size_t)snprintf(out + used, size_bytes - used, "%s%s %sfor %s", i ? ", " : "",
			name[0], i ? "" : "waits ", name[1]);
	}
	return true;
}

bool wait_whom_put_circle_near(struct session *session, char *out, size_t size_bytes, uint32_t stream)
{
	const struct run_stream *own = run_stream(session->run, stream);
	uint32_t looked = 0;

	for (uint32_t i = 0; i < run_stream_count(session->run) && looked < THREADS_MOST; i++) {
		const struct run_stream *s = run_stream(session->run, i);

		if (i == stream || s->s.kind != STORE_STREAM_CPU || s->store != own->store ||
			s->s.pid != own->s.pid || s->s.generation != own->s.generation)
			continue;
		looked++;
		if (wait_whom_put_circle(session, out, size_bytes, i))
			return true;
	}
	return false;
}

/* ---- what was found ---- */

struct found {
	uint32_t stream;
	uint64_t begin_ns, length_ns;
	char text[SESSION_TEXT];
};

struct wait_whom {
	struct found found[FOUND_MOST];
	uint32_t count;
	uint64_t end_ns, records; /* of the run: what it grows by may end a wait */
};

void wait_whom_free(struct wait_whom *whom)
{
	free(whom);
}

static uint64_t count_records(const struct rows *rows)
{
	uint64_t records = 0;

	for (uint32_t i = 0; i < rows->node_count; i++)
		records += rows_is_group(&rows->nodes[i]) ? 0 : rows->nodes[i].records;
	return records;
}

/* NULL: memory is out. */
static struct wait_whom *whom_of(struct session *session)
{
	struct wait_whom *whom = session->whom;

	if (!whom)
		whom = session->whom = calloc(1, sizeof(*whom));
	if (whom && whom->end_ns != run_end_ns(session->run)) {
		whom->count = 0;
		whom->end_ns = run_end_ns(session->run);
		whom->records = count_records(&session->rows);
	}
	return whom;
}

const char *wait_whom_text(struct session *session, uint32_t stream, uint64_t begin_ns, uint64_t length_ns)
{
	const struct wait_whom *whom = whom_of(session);

	for (uint32_t i = 0; whom && i < whom->count; i++)
		if (whom->found[i].stream == stream && whom->found[i].begin_ns == begin_ns &&
			whom->found[i].length_ns == length_ns)
			return whom->found[i].text;
	return whom ? NULL : "";
}

/* By the even spread of the run's records. */
static bool is_too_many(const struct session *session, const struct wait_whom *whom, uint64_t length_ns)
{
	double run_ns = (double)(run_end_ns(session->run) - run_begin_ns(session->run)) + 1;

	return (double)whom->records * (double)length_ns / run_ns > RECORDS_MOST;
}

static int look_up(struct session *session, struct found *found, struct error *error)
{
	struct wait_end end;
	int result = wait_end_find(&end, session->run, found->stream, found->begin_ns,
		found->begin_ns + found->length_ns, error);
	bool is_open =
		!result && end.by != WAIT_END_NO_WAIT && wait_end_is_open(session->run, found->stream, &end);

	if (result || end.by == WAIT_END_NO_WAIT)
		return result;
	if (is_open && (wait_whom_put_circle(session, found->text, sizeof(found->text), found->stream) ||
			       (end.by < WAIT_END_HOLDER && wait_whom_put_circle_near(session, found->text,
								    sizeof(found->text), found->stream))))
		return 0;
	found->text[0] = '\0';
	if (end.until_ns - end.from_ns >= (end.end_ns - end.begin_ns) / 10 * 9) { /* nearly: in a list, all */
		end.from_ns = end.begin_ns;
		end.until_ns = end.end_ns;
	}
	if (end.by >= WAIT_END_HOLDER)
		wait_whom_put(session, found->text, sizeof(found->text), found->stream, &end, LISTED_CELLS);
	return 0;
}

bool wait_whom_find(struct session *session, uint32_t stream, uint64_t begin_ns, uint64_t length_ns)
{
	struct wait_whom *whom = whom_of(session);
	struct found *found;
	struct error error;
	int result = 0;

	if (!whom)
		return true;
	if (whom->count == FOUND_MOST)
		whom->count = 0;
	found = &whom->found[whom->count];
	*found = (struct found){.stream = stream, .begin_ns = begin_ns, .length_ns = length_ns};
	if (!is_too_many(session, whom, length_ns))
		result = look_up(session, found, &error);
	/* the search for a circle gives no error: what it says after a key is not all */
	if (deadline_put_off(session, progress_is_stopped() ? -1 : result))
		return false;
	whom->count++; /* what cannot be read is told where it is asked for */
	return true;
}
