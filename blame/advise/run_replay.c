/* SPDX-License-Identifier: Apache-2.0 */
/* run_replay.c - see run_replay.h. */
#include "blame/advise/run_replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "blame/advise/run_replay_split.h"
#include "blame/base/process.h"
#include "store/base/array.h"
#include "store/base/merge_sort.h"

#define RECORDS_MOST 4000000u	  /* of the window: about a second for its graph */
#define HAPPENINGS_MOST 10000000u /* of all runs forward: about a second */
#define SHARES 100000u		  /* a kernel's new time is in these parts of the old one */

struct run_replay {
	struct run *run;
	struct arena arena;
	struct wait_functions *waits;
	struct idle_question question;
	struct critical_run critical;
	struct wait_cause *causes;
	struct critical_graph graph;   /* with waits that may be for several queues */
	struct run_replay_line *lines; /* by stream */
	struct critical_replay *replay;
	uint64_t window_ns, happenings_left;
	uint32_t row_count;
	struct critical_change *changes; /* by row, stream, begin */
	size_t *first;			 /* [row_count + 1] of the row's changes */
	uint64_t *unions_ns;		 /* [row_count] */
};

/* ---- the graph ---- */

/* About as many as the window has of them: records are spread over their streams' lives. */
static double records_in(const struct run *run, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t run_ns = run_end_ns(run);
	double sum = 0;

	for (uint32_t s = 0; s < run_stream_count(run); s++) {
		const struct store_stream *stream = &run_stream(run, s)->s;
		uint64_t last_ns = stream->end_ns == STORE_OPEN_NS ? run_ns : stream->end_ns;
		uint64_t from_ns = stream->begin_ns > begin_ns ? stream->begin_ns : begin_ns;
		uint64_t to_ns = last_ns < end_ns ? last_ns : end_ns;

		if (!store_stream_has_states(stream->kind) || to_ns <= from_ns)
			continue;
		for (unsigned track = 0; track < STORE_TRACK_COUNT; track++)
			sum += (double)stream->count[track] * (double)(to_ns - from_ns) /
			       (double)(last_ns - stream->begin_ns);
	}
	return sum;
}

static bool has_thread(const struct run *run)
{
	for (uint32_t s = 0; s < run_stream_count(run); s++)
		if (run_stream(run, s)->s.kind == STORE_STREAM_CPU)
			return true;
	return false;
}

/* Pieces stand by stream. */
static int lines_make(struct run_replay *replay, struct error *error)
{
	const struct critical_run *critical = &replay->critical;
	uint32_t stream_count = critical->graph.stream_count, process_count;
	uint32_t *streams = arena_calloc(&replay->arena, (size_t)stream_count + 1, sizeof *streams);
	struct process *processes;
	int rc;

	replay->lines = arena_calloc(&replay->arena, (size_t)stream_count + 1, sizeof *replay->lines);
	if (!streams || !replay->lines)
		return error_memory(error);
	for (uint32_t s = 0; s < stream_count; s++) {
		streams[s] = s;
		replay->lines[s].is_queue = run_stream(replay->run, s)->s.kind == STORE_STREAM_GPU;
	}
	rc = process_list(
		&processes, &process_count, replay->run, streams, stream_count, &replay->arena, error);
	for (uint32_t p = 0; rc == 0 && p < process_count; p++)
		for (uint32_t i = 0; i < processes[p].stream_count; i++)
			replay->lines[processes[p].streams[i]].process = p;
	for (size_t i = 0; rc == 0 && i < critical->piece_count; i++) {
		struct run_replay_line *line = &replay->lines[critical->pieces[i].stream];

		if (!line->count++)
			line->pieces = &critical->pieces[i];
	}
	return rc;
}

static int graph_make(struct run_replay *replay, struct error *error)
{
	uint64_t end_ns;
	int rc = lines_make(replay, error);

	replay->graph = replay->critical.graph;
	if (rc == 0)
		rc = run_replay_split_waits(&replay->causes, &replay->graph.cause_count,
			&replay->critical.graph, replay->lines, error);
	replay->graph.causes = replay->causes;
	if (rc == 0)
		rc = critical_replay_new(&replay->replay, &replay->graph, error);
	if (rc)
		return rc;
	end_ns = replay->graph.streams[replay->graph.last].end_ns;
	end_ns = end_ns < replay->graph.end_ns ? end_ns : replay->graph.end_ns;
	replay->window_ns = end_ns > replay->graph.begin_ns ? end_ns - replay->graph.begin_ns : 0;
	replay->happenings_left = HAPPENINGS_MOST;
	return 0;
}

static int find(struct run_replay *replay, const struct select *select, struct error *error)
{
	int rc = wait_functions_new(&replay->waits, replay->run, NULL, error);

	replay->question.begin_ns = select_begin_ns(select);
	replay->question.end_ns = select_end_ns(select);
	replay->question.waits = replay->waits;
	if (rc == 0)
		rc = critical_run_find(
			&replay->critical, replay->run, &replay->question, SIZE_MAX, &replay->arena, error);
	return rc ? rc : graph_make(replay, error);
}

/* ---- the work of rows ---- */

static int begin_compare(const void *left, const void *right)
{
	const struct critical_change *a = left, *b = right;

	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* Of all queues together; the changes get another order. */
static uint64_t union_of(struct critical_change *changes, size_t count)
{
	uint64_t sum_ns = 0, done_ns = 0;

	merge_sort(changes, count, sizeof *changes, begin_compare);
	for (size_t i = 0; i < count; i++) {
		uint64_t begin_ns = changes[i].begin_ns > done_ns ? changes[i].begin_ns : done_ns;

		if (changes[i].end_ns <= begin_ns)
			continue;
		sum_ns += changes[i].end_ns - begin_ns;
		done_ns = changes[i].end_ns;
	}
	return sum_ns;
}

/* The row of each piece; of what is no queue's none. */
static uint32_t *rows_of_pieces(const struct run_replay *replay, const struct run_replay_rows *rows)
{
	const struct critical_run *critical = &replay->critical;
	uint32_t contexts = run_context_count(replay->run);
	uint32_t *of = malloc((critical->piece_count + 1) * sizeof *of);
	uint32_t *known = calloc((size_t)contexts + 1, sizeof *known); /* row plus 2; 1: none, 0: not asked */

	for (size_t i = 0; of && known && i < critical->piece_count; i++) {
		uint32_t context = critical->pieces[i].context, row;

		of[i] = RUN_REPLAY_NO_ROW;
		if (context >= contexts || !replay->lines[critical->pieces[i].stream].is_queue)
			continue;
		if (!known[context]) {
			row = rows->row_of(rows->own, context);
			known[context] = row == RUN_REPLAY_NO_ROW ? 1 : row + 2;
		}
		if (known[context] > 1)
			of[i] = known[context] - 2;
	}
	if (!known) {
		free(of);
		of = NULL;
	}
	free(known);
	return of;
}

/* Changes by row, in the order of the pieces. */
static bool changes_make(struct run_replay *replay, const uint32_t *of, size_t *at)
{
	const struct critical_run *critical = &replay->critical;

	for (size_t i = 0; i < critical->piece_count; i++)
		if (of[i] != RUN_REPLAY_NO_ROW)
			replay->first[of[i] + 1]++;
	for (uint32_t r = 0; r < replay->row_count; r++) {
		replay->first[r + 1] += replay->first[r];
		at[r] = replay->first[r];
	}
	replay->changes = malloc((replay->first[replay->row_count] + 1) * sizeof *replay->changes);
	for (size_t i = 0; replay->changes && i < critical->piece_count; i++)
		if (of[i] != RUN_REPLAY_NO_ROW)
			replay->changes[at[of[i]]++] = (struct critical_change){critical->pieces[i].begin_ns,
				critical->pieces[i].end_ns, critical->pieces[i].stream};
	return replay->changes != NULL;
}

static bool unions_make(struct run_replay *replay)
{
	size_t count = replay->first[replay->row_count];
	struct critical_change *copy = malloc((count + 1) * sizeof *copy);

	if (!copy)
		return false;
	memcpy(copy, replay->changes, count * sizeof *copy);
	for (uint32_t r = 0; r < replay->row_count; r++)
		replay->unions_ns[r] =
			union_of(copy + replay->first[r], replay->first[r + 1] - replay->first[r]);
	free(copy);
	return true;
}

static int rows_make(struct run_replay *replay, const struct run_replay_rows *rows, struct error *error)
{
	uint32_t *of = rows_of_pieces(replay, rows);
	size_t *at = calloc((size_t)rows->count + 1, sizeof *at);
	bool ok;

	replay->row_count = rows->count;
	replay->first = calloc((size_t)rows->count + 2, sizeof *replay->first);
	replay->unions_ns = calloc((size_t)rows->count + 1, sizeof *replay->unions_ns);
	ok = of && at && replay->first && replay->unions_ns && changes_make(replay, of, at) &&
	     unions_make(replay);
	free(of);
	free(at);
	return ok ? 0 : error_memory(error);
}

int run_replay_new(struct run_replay **out, struct run *run, const struct select *select,
	const struct run_replay_rows *rows, struct error *error)
{
	struct run_replay *replay;
	int rc;

	*out = NULL;
	if (!has_thread(run) ||
		records_in(run, select_begin_ns(select), select_end_ns(select)) > RECORDS_MOST)
		return 0;
	replay = calloc(1, sizeof *replay);
	if (!replay)
		return error_memory(error);
	replay->run = run;
	rc = find(replay, select, error);
	if (rc == 0)
		rc = rows_make(replay, rows, error);
	if (rc == 0 && replay->window_ns) {
		*out = replay;
		return 0;
	}
	run_replay_free(replay);
	/* No thread lives in the window. */
	if (rc == -ERROR_EMPTY) {
		*error = (struct error){0};
		rc = 0;
	}
	return rc;
}

void run_replay_free(struct run_replay *replay)
{
	if (!replay)
		return;
	critical_replay_free(replay->replay);
	critical_run_fini(&replay->critical);
	wait_functions_free(replay->waits);
	free(replay->causes);
	free(replay->changes);
	free(replay->first);
	free(replay->unions_ns);
	arena_fini(&replay->arena);
	free(replay);
}

/* ---- a question ---- */

uint64_t run_replay_window_ns(const struct run_replay *replay)
{
	return replay->window_ns;
}

static struct critical_what what_of(double speedup)
{
	/* Rounded up: the least gain. */
	unsigned share = speedup > 1 ? (unsigned)ceil(SHARES / speedup) : SHARES;

	return (struct critical_what){share < SHARES ? share : SHARES, SHARES, false};
}

bool run_replay_ask(struct run_replay *replay, uint32_t row, const double speedups[RUN_REPLAY_SPEEDUPS],
	uint64_t saved_ns[RUN_REPLAY_SPEEDUPS], uint64_t *union_ns)
{
	const struct critical_what whats[RUN_REPLAY_SPEEDUPS] = {what_of(speedups[0]), what_of(speedups[1])};
	uint64_t cost = replay->graph.cause_count + replay->graph.stream_count + 1;
	size_t first = replay->first[row], count = replay->first[row + 1] - first;
	struct error ignored = {0};

	if (cost > replay->happenings_left || critical_replay_saved(replay->replay, replay->changes + first,
						      count, whats, RUN_REPLAY_SPEEDUPS, saved_ns, &ignored))
		return false;
	replay->happenings_left -= cost;
	*union_ns = replay->unions_ns[row];
	return true;
}
