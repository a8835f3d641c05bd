/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_page.c - runs the blame sweep over all streams of the processes that have a row on the screen: the
 * threads that a GPU waits for may have no row, and may be of processes that have none.
 */
#include "tui/models/blame_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/base/hash.h"
#include "timeline/select/select_time.h"
#include "tui/screen/format_number.h"
#include "tui/session/deadline.h"

struct blame_page *blame_page_of(struct session *session)
{
	if (!session->blame) {
		session->blame = calloc(1, sizeof(*session->blame));
		if (session->blame) {
			session->blame->by = ROW_KEY_PATH;
			session->blame->min_ns = BLAME_MIN_NS;
		}
	}
	return session->blame;
}

static void forget(struct blame_page *page)
{
	gaps_free(page->gaps);
	page->gaps = NULL;
	page->has_rows = false;
	page->rows = (struct exact_share_rows){0};
	arena_fini(&page->row_arena);
	arena_fini(&page->arena);
}

void blame_page_free(struct blame_page *page)
{
	if (!page)
		return;
	forget(page);
	wait_functions_free(page->waits);
	free(page);
}

/* All streams of the processes on the screen; the caller's to free. */
static uint32_t *list_streams(struct session *session, uint32_t *count, bool *has_queue)
{
	const struct rows *rows = &session->rows;
	uint32_t *streams = calloc((size_t)rows->stream_count + 1, sizeof(*streams));
	uint32_t top, shown = session_rows_on_screen(session, &top);

	*count = 0;
	*has_queue = false;
	for (uint32_t r = top; streams && r < top + shown; r++) {
		uint32_t process = rows_process(rows, rows->shown[r]);
		bool is_there = false;

		for (uint32_t before = top; before < r && !is_there; before++) /* pinned ones stand apart */
			is_there = rows_process(rows, rows->shown[before]) == process;
		for (uint32_t i = process; i < rows->nodes[process].next && !is_there; i++) {
			if (rows_is_group(&rows->nodes[i]))
				continue;
			streams[(*count)++] = rows->nodes[i].stream;
			*has_queue = *has_queue || rows->nodes[i].kind == ROWS_QUEUE;
		}
	}
	return streams;
}

/* Whoever keeps a GPU idle is blamed, also a process that only feeds it (related.h): threads that were chosen
 * would leave out those of others. */
static uint32_t keep_queues(const struct session *session, uint32_t *streams, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (run_stream(session->run, streams[i])->s.kind == STORE_STREAM_GPU)
			streams[kept++] = streams[i];
	return kept;
}

char *blame_page_expression(struct session *session)
{
	const struct blame_page *page = blame_page_of(session);
	uint32_t count;
	bool has_queue;
	uint32_t *streams = list_streams(session, &count, &has_queue);
	char *text;

	if (streams && page && page->of == BLAME_GPU_IDLE && has_queue)
		count = keep_queues(session, streams, count);
	text = streams ? session_expression_of(session, streams, count) : NULL;

	free(streams);
	return text;
}

const char *blame_page_name_by(enum row_key_by by)
{
	static const char *const names[] = {
		"function", "path", "module", "line", "loop", "inline", "file", "instruction", "script"};

	return names[by];
}

/* Without the gaps: any window of a long run costs little (blame/idle/idle_cache.h). */
static int sweep(struct session *session, struct blame_page *page, const uint32_t *streams, uint32_t count,
	bool wants_gaps, struct error *error)
{
	struct idle_question question = {.streams = streams,
		.stream_count = count,
		.begin_ns = session->frame.begin_ns,
		.end_ns = session->frame.end_ns,
		.busy = IDLE_BUSY_ANY,
		.group = IDLE_GROUP_PROCESS};
	int result = page->waits ? 0 : wait_functions_new(&page->waits, session->run, NULL, error);

	if (!result && wants_gaps && page->of == BLAME_GPU_IDLE)
		result = gaps_new(&page->gaps, page->min_ns, SIZE_MAX, error);
	if (result)
		return result;
	question.waits = page->waits;
	question.gaps = page->gaps;
	switch (page->of) {
	case BLAME_WAITING:
		return threads_sweep(&page->threads, session->run, &question, &page->arena, error);
	case BLAME_CAUSES:
		return wait_cause_sums_find(&page->causes, session->run, &question, &page->arena, error);
	case BLAME_WAITED:
		return wait_sweep(&page->wait, session->run, &question, &page->arena, error);
	case BLAME_HOLDERS:
		return lock_sweep(&page->lock, session->run, &question, LOCK_ALL, &page->arena, error);
	case BLAME_LATE:
		return last_arrival_sweep(&page->late, session->run, &question, &page->arena, error);
	default:
		return idle_sweep(&page->idle, session->run, &question, &page->arena, error);
	}
}

/* The shares behind the rows; sets their total and the rest that no row has. */
static const struct exact_share *take_shares(struct blame_page *page, size_t *count)
{
	switch (page->of) {
	case BLAME_WAITING:
		page->whole_ns = page->threads.sync_ns + page->threads.blocked_ns + page->threads.spin_ns;
		page->rest_ns = page->threads.pathless_ns;
		*count = page->threads.waited_count;
		return page->threads.waited;
	case BLAME_WAITED:
		page->whole_ns = page->wait.sync_ns;
		page->rest_ns = page->wait.uncovered_ns;
		*count = page->wait.cause_count;
		return page->wait.causes;
	case BLAME_HOLDERS:
		page->whole_ns = page->lock.waited_ns;
		page->rest_ns = page->lock.unknown_ns;
		*count = page->lock.holder_count;
		return page->lock.holders;
	default:
		page->whole_ns = page->idle.idle_ns;
		page->rest_ns = page->idle.all_idle_ns;
		*count = page->idle.blamed_count;
		return page->idle.blamed;
	}
}

const char *blame_page_name_of(enum blame_of of)
{
	static const char *const names[] = {
		"gpu-idle", "waiting", "waiting", "cpu-idle-cause", "late", "lock-holder"};

	return names[of];
}

static const char *party_name(struct session *session, const struct last_arrival_party *party)
{
	const struct rows *rows = &session->rows;
	uint32_t node = rows_node_of(rows, party->stream);

	if (node == UINT32_MAX)
		return run_stream(session->run, party->stream)->text;
	return rows_long_label(rows, party->role == LAST_ARRIVAL_THREAD ? node : rows_process(rows, node));
}

/* A process of one thread is called by its own name. */
static const char *stream_name(struct session *session, uint32_t stream)
{
	const struct rows *rows = &session->rows;
	uint32_t node = rows_node_of(rows, stream), process;

	if (node == UINT32_MAX)
		return run_stream(session->run, stream)->text;
	process = rows_process(rows, node);
	return rows_long_label(rows, rows->nodes[process].next - process > 2 ? node : process);
}

/* ---- for whom ---- */

static const char *cause_text(
	struct session *session, struct blame_page *page, const struct wait_cause_row *row)
{
	const char *kind = row->kind == CAUSE_UNKNOWN ? "<unknown>" : wait_cause_names[row->kind];
	const char *party = row->party == CAUSE_NOBODY ? "" : stream_name(session, row->party);

	return arena_printf(&page->row_arena, "%s%s%s: %llu wait%s", kind, *party ? " of " : "", party,
		(unsigned long long)row->waits, row->waits == 1 ? "" : "s");
}

/* Whom first; what lasts as long as another thread or process does tells least, and comes last. */
static int cause_place(const struct wait_cause_row *row)
{
	if (row->kind == CAUSE_JOIN || row->kind == CAUSE_CHILD)
		return 2;
	return row->party == CAUSE_NOBODY || row->kind == CAUSE_CPU ? 1 : 0;
}

static int make_causes(struct session *session, struct blame_page *page, struct error *error)
{
	size_t count = page->causes.row_count;

	page->whole_ns = page->causes.waiting_ns;
	page->rest_ns = 0;
	page->rows = (struct exact_share_rows){.total_ns = page->whole_ns};
	page->rows.rows = arena_calloc(&page->row_arena, count + 1, sizeof(*page->rows.rows));
	page->row_streams = arena_calloc(&page->row_arena, count + 1, sizeof(*page->row_streams));
	if (!page->rows.rows || !page->row_streams)
		return error_memory(error);
	for (int place = 0; place < 3; place++)
		for (size_t i = 0; i < count; i++) {
			const struct wait_cause_row *row = &page->causes.rows[i];
			size_t at = page->rows.count;

			if (cause_place(row) != place)
				continue;
			page->rows.rows[at] =
				(struct exact_share_row){cause_text(session, page, row), row->time_ns, 0};
			if (!page->rows.rows[at].key)
				return error_memory(error);
			page->row_streams[at] = row->party;
			page->rows.count++;
		}
	return 0;
}

/* ---- who came last ---- */

/* "rank 1 as sender: last at 40 of 81, after work". */
static const char *party_text(
	struct session *session, struct blame_page *page, const struct last_arrival_party *party)
{
	static const char *const roles[] = {"", "", " as sender", " as receiver"};
	bool is_shorter;
	uint32_t function =
		party->context ? frame_function(&session->frame, party->context, &is_shorter) : UINT32_MAX;

	return arena_printf(&page->row_arena, "%s%s: last at %llu of %llu%s%s", party_name(session, party),
		roles[party->role], (unsigned long long)party->last, (unsigned long long)party->occasions,
		function == UINT32_MAX ? "" : ", after ",
		function == UINT32_MAX ? "" : run_function(session->run, function)->name);
}

static bool put_parties(struct session *session, struct blame_page *page,
	const struct last_arrival_party *parties, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct exact_share_row *row = &page->rows.rows[page->rows.count];

		if (!parties[i].held_ns)
			continue;
		*row = (struct exact_share_row){
			party_text(session, page, &parties[i]), parties[i].held_ns, parties[i].context};
		if (!row->key)
			return false;
		page->row_streams[page->rows.count++] = parties[i].stream;
		page->rows.total_ns += parties[i].held_ns;
	}
	return true;
}

/* Processes, then messages, then threads, each by what they held up. */
static int make_late(struct session *session, struct blame_page *page, struct error *error)
{
	const struct last_arrival *late = &page->late;
	size_t most = (size_t)late->count + late->message_count + late->thread_count + 1;

	page->whole_ns = late->held_ns + late->message_held_ns + late->thread_held_ns;
	page->rest_ns = late->untold_ns + late->message_untold_ns;
	page->rows = (struct exact_share_rows){0};
	page->rows.rows = arena_calloc(&page->row_arena, most, sizeof(*page->rows.rows));
	page->row_streams = arena_calloc(&page->row_arena, most, sizeof(*page->row_streams));
	if (!page->rows.rows || !page->row_streams ||
		!put_parties(session, page, late->parties, late->count) ||
		!put_parties(session, page, late->messages, late->message_count) ||
		!put_parties(session, page, late->threads, late->thread_count))
		return error_memory(error);
	return 0;
}

void blame_page_next_of(struct session *session, struct blame_page *page)
{
	bool has_queue = session->rows.device_count > 0;

	do
		page->of = (enum blame_of)((page->of + 1) % BLAME_OF_COUNT);
	while (!has_queue && (page->of == BLAME_GPU_IDLE || page->of == BLAME_WAITED));
	page->is_of_chosen = true;
	page->line = page->first = 0;
}

/* The next picture repeats a sweep that a key interrupted. */
static void take_trouble(struct session *session, struct blame_page *page, const struct error *error)
{
	bool is_later = deadline_read_later(session);

	snprintf(page->trouble, sizeof(page->trouble), "%s", is_later ? "reading ..." : error->text);
	if (is_later)
		page->end_ns = 0;
}

static void take_sweep(struct session *session, struct blame_page *page, bool wants_gaps)
{
	uint32_t count;
	bool has_queue;
	uint32_t *streams = list_streams(session, &count, &has_queue);
	uint64_t key;
	struct error error;

	if (!page->is_of_chosen)
		page->of = has_queue ? BLAME_GPU_IDLE : BLAME_WAITING;
	if (streams && page->of == BLAME_GPU_IDLE && has_queue)
		count = keep_queues(session, streams, count);
	key = streams ? store_hash64(streams, count * sizeof(*streams), run_end_ns(session->run)) : 0;
	if (streams &&
		(page->begin_ns != session->frame.begin_ns || page->end_ns != session->frame.end_ns ||
			page->streams != key || page->swept_of != page->of || page->has_gaps < wants_gaps ||
			(page->has_gaps && page->swept_min_ns != page->min_ns))) {
		forget(page);
		page->begin_ns = session->frame.begin_ns;
		page->end_ns = session->frame.end_ns;
		page->streams = key;
		page->swept_min_ns = page->min_ns;
		page->has_gaps = wants_gaps;
		page->swept_of = page->of;
		page->trouble[0] = '\0';
		if (!has_queue && (page->of == BLAME_GPU_IDLE || page->of == BLAME_WAITED))
			snprintf(page->trouble, sizeof(page->trouble),
				"No process on the screen has a GPU queue; %s shows what CPU threads wait "
				"in.",
				wants_gaps ? "2" : "i");
		else if (sweep(session, page, streams, count, wants_gaps, &error))
			take_trouble(session, page, &error);
	}
	free(streams);
}

static int make_rows(struct session *session, struct blame_page *page, struct error *error)
{
	const struct exact_share *shares;
	size_t count;

	if (page->of == BLAME_CAUSES)
		return make_causes(session, page, error);
	if (page->of == BLAME_LATE)
		return make_late(session, page, error);
	shares = take_shares(page, &count);
	return exact_share_rows_make(&page->rows, session->run, shares, count, NULL, page->by, page->depth,
		NULL, &page->row_arena, error);
}

static bool take(struct session *session, struct blame_page *page, bool wants_gaps)
{
	struct error error;

	take_sweep(session, page, wants_gaps);
	if (page->trouble[0])
		return false;
	if (page->has_rows && page->depth == session->state.depth && page->rows_by == page->by)
		return true;
	arena_fini(&page->row_arena);
	page->depth = session->state.depth;
	page->rows_by = page->by;
	page->has_rows = true;
	if (make_rows(session, page, &error)) {
		page->rows = (struct exact_share_rows){0};
		session_say(session, "%s", error.text);
	}
	return true;
}

bool blame_page_take(struct session *session, struct blame_page *page)
{
	return take(session, page, false);
}

bool blame_page_take_gaps(struct session *session, struct blame_page *page)
{
	enum blame_of of = page->of;
	bool is_chosen = page->is_of_chosen, is_there;

	page->of = BLAME_GPU_IDLE;
	page->is_of_chosen = true;
	is_there = take(session, page, true);
	page->of = of;
	page->is_of_chosen = is_chosen;
	return is_there;
}

void blame_page_go_to_gap(struct session *session, const struct gap *gap)
{
	uint64_t length_ns = gap->end_ns - gap->begin_ns;
	uint32_t node = rows_node_of(&session->rows, gap->stream);
	char length[FORMAT_NUMBER_BYTES];

	session_leave_place(session);
	session_keep(session);
	if (node != UINT32_MAX)
		session->state.node = node;
	session->state.is_following = false;
	view_state_set_window(&session->state, session_limits(session),
		gap->begin_ns > length_ns ? gap->begin_ns - length_ns : 0, length_ns * 3);
	view_state_go(&session->state, session_limits(session), gap->begin_ns);
	session->gap_ns = length_ns;
	session_go_home(session);
	format_number_short(length, length_ns);
	session_say(session, "gap: %s, %s", length, gap_cause_text(gap->cause));
}

void blame_page_set_min(struct session *session, const char *value)
{
	struct blame_page *page = blame_page_of(session);
	uint64_t ns;

	if (page && select_duration(value, &ns))
		page->min_ns = ns;
	else
		session_say(
			session, ":min needs a duration, such as 10us: shorter gaps are counted, not listed");
}
