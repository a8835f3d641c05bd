/* SPDX-License-Identifier: Apache-2.0 */
/* last_arrival.c - see last_arrival.h: the stays of each process in collective calls, then one pass over all
 * in time order. */
#include "blame/wait/last_arrival.h"

#include <stdlib.h>

#include "blame/base/related.h"
#include "blame/base/sweep.h"
#include "blame/wait/last_arrival_internal.h"
#include "store/base/array.h"

/* A process comes in, or goes out. */
struct move {
	uint64_t time_ns;
	uint32_t party;
	bool is_arrival;
	uint32_t context;
};

struct move_search {
	struct run *run;
	const struct idle_question *question;
	const struct host_clocks *clocks;
	uint32_t *clock_of; /* by party */
	struct move *moves;
	size_t count, capacity;
};

static bool put_move(struct move_search *search, struct move move)
{
	if (!array_widen(&search->moves, &search->capacity, search->count, sizeof *search->moves))
		return false;
	search->moves[search->count++] = move;
	return true;
}

/* Walks the threads of a process; it is inside while any of them is. */
static int moves_of(struct move_search *search, struct sweep *sweep, bool *is_inside, uint32_t *work,
	uint32_t party, struct error *error)
{
	struct sweep_change change;
	uint32_t inside = 0;
	int more;

	while ((more = sweep_next(sweep, &change, error)) > 0) {
		uint32_t context = change.piece ? change.piece->context : 0;
		bool is_in =
			change.piece &&
			(extent_state_is_busy(change.piece->state) || change.piece->state == EXTENT_SYNC ||
				change.piece->state == EXTENT_BLOCKED) &&
			wait_functions_target(search->question->waits, context) == WAITS_FOR_RANKS;

		/* Without a core it is where it was. */
		if (change.piece && change.piece->state == EXTENT_RUNNABLE)
			continue;
		if (!is_in && change.piece && extent_state_is_busy(change.piece->state) &&
			!wait_functions_match(search->question->waits, context))
			work[change.line] = context;
		if (is_in == is_inside[change.line])
			continue;
		is_inside[change.line] = is_in;
		inside += is_in ? 1u : 0u - 1u;
		if (inside != (is_in ? 1u : 0u))
			continue;
		if (!put_move(search, (struct move){host_clocks_time(search->clocks, search->clock_of[party],
							    change.time_ns),
					      party, is_in, work[change.line] ? work[change.line] : context}))
			return error_memory(error);
	}
	return more;
}

static int process_moves(
	struct move_search *search, const struct process *process, uint32_t party, struct error *error)
{
	bool *is_inside = calloc(process->stream_count + 1, sizeof(*is_inside));
	uint32_t *work = calloc(process->stream_count + 1, sizeof(*work)); /* what each did last */
	struct sweep *sweep;
	int result;

	if (!is_inside || !work) {
		free(is_inside);
		free(work);
		error_memory(error);
		return -ERROR_IO;
	}
	result = sweep_new(&sweep, search->run, search->question->begin_ns, search->question->end_ns, error);
	for (uint32_t i = 0; i < process->stream_count && !result; i++)
		if (run_stream(search->run, process->streams[i])->s.kind == STORE_STREAM_CPU)
			result = sweep_add_stream(sweep, process->streams[i], error);
	if (!result)
		result = moves_of(search, sweep, is_inside, work, party, error);
	sweep_free(sweep);
	free(is_inside);
	free(work);
	return result;
}

/* Who goes out at a moment goes before others come in. */
static int move_compare(const void *left, const void *right)
{
	const struct move *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->is_arrival != b->is_arrival)
		return a->is_arrival ? 1 : -1;
	return a->party < b->party ? -1 : a->party > b->party;
}

/* Times are on the first clock by now. */
static bool is_told(
	const struct move_search *search, uint32_t last, const uint64_t *arrived_ns, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!host_clocks_is_surely(search->clocks, search->clock_of[i], arrived_ns[i],
			    search->clock_of[last], arrived_ns[last]))
			return false;
	return true;
}

/* All are inside since the last arrival: it held up the others from theirs on. */
static void occasion(struct last_arrival *late, const struct move_search *search, const struct move *last,
	const uint64_t *arrived_ns, uint64_t *most_ns)
{
	struct last_arrival_party *party = &late->parties[last->party];
	uint64_t held_ns = 0;

	for (uint32_t i = 0; i < late->count; i++) {
		late->parties[i].waited_ns += last->time_ns - arrived_ns[i];
		held_ns += last->time_ns - arrived_ns[i];
	}
	late->occasions++;
	late->held_ns += held_ns;
	if (!is_told(search, last->party, arrived_ns, late->count)) {
		late->untold++;
		late->untold_ns += held_ns;
		return;
	}
	party->last++;
	party->held_ns += held_ns;
	if (held_ns >= most_ns[last->party]) {
		most_ns[last->party] = held_ns;
		party->context = last->context;
	}
}

static int judge(
	struct last_arrival *late, struct move_search *search, struct arena *arena, struct error *error)
{
	uint64_t *arrived_ns = arena_calloc(arena, late->count + 1, sizeof(*arrived_ns));
	uint64_t *most_ns = arena_calloc(arena, late->count + 1, sizeof(*most_ns));
	uint32_t inside = 0;

	if (!arrived_ns || !most_ns)
		return error_memory(error);
	if (search->count)
		qsort(search->moves, search->count, sizeof(*search->moves), move_compare);
	for (size_t i = 0; i < search->count; i++) {
		const struct move *move = &search->moves[i];

		inside += move->is_arrival ? 1u : 0u - 1u;
		arrived_ns[move->party] = move->time_ns;
		if (move->is_arrival && inside == late->count)
			occasion(late, search, move, arrived_ns, most_ns);
	}
	return 0;
}

int last_arrival_party_compare(const void *left, const void *right)
{
	const struct last_arrival_party *a = left, *b = right;

	if (a->held_ns != b->held_ns)
		return a->held_ns > b->held_ns ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static int collect(struct last_arrival *late, struct move_search *search, const struct process *processes,
	uint32_t count, struct error *error)
{
	for (uint32_t p = 0; p < count; p++) {
		size_t before = search->count;
		int result;

		search->clock_of[late->count] = search->clocks->of[p];
		result = process_moves(search, &processes[p], late->count, error);
		if (result)
			return result;
		if (search->count > before)
			late->parties[late->count++].stream = processes[p].streams[0];
	}
	return 0;
}

/* As a rule a run has no such calls at all, and nothing needs to be read. */
static bool has_call(const struct run *run, struct wait_functions *waits, enum wait_target kind)
{
	for (uint32_t context = 1; context < run_context_count(run); context++)
		if (wait_functions_target(waits, context) == kind)
			return true;
	return false;
}

static int ranks(struct last_arrival *late, struct move_search *search, const struct process *processes,
	uint32_t count, struct arena *arena, struct error *error)
{
	int result;

	search->clock_of = arena_calloc(arena, count + 1u, sizeof(*search->clock_of));
	if (!search->clock_of)
		return error_memory(error);
	result = collect(late, search, processes, count, error);
	if (!result && late->count > 1)
		result = judge(late, search, arena, error);
	free(search->moves);
	if (late->count < 2)
		late->count = 0;
	for (uint32_t p = 0; p < late->count; p++)
		late->parties[p].occasions = late->occasions;
	if (!result && late->count)
		qsort(late->parties, late->count, sizeof(*late->parties), last_arrival_party_compare);
	return result;
}

static int teams(struct last_arrival *late, struct run *run, const struct idle_question *question,
	const struct process *processes, uint32_t count, struct arena *arena, struct error *error)
{
	bool is_sampled = has_call(run, question->waits, WAITS_FOR_THREADS);
	int result = 0;

	for (uint32_t p = 0; p < count && !result; p++) {
		bool is_known;

		result = last_arrival_regions(late, &is_known, run, question, &processes[p], arena, error);
		if (!result && !is_known && is_sampled)
			result = last_arrival_threads(late, run, question, &processes[p], error);
	}
	if (!result && late->thread_count)
		qsort(late->threads, late->thread_count, sizeof(*late->threads), last_arrival_party_compare);
	return result;
}

int last_arrival_show_clocks(
	struct last_arrival *late, const struct host_clocks *clocks, struct arena *arena, struct error *error)
{
	if (clocks->count < 2)
		return 0;
	if (!late->clocks) {
		late->clocks = arena_calloc(arena, clocks->count, sizeof(*late->clocks));
		if (!late->clocks)
			return error_memory(error);
		for (uint32_t i = 0; i < clocks->count; i++)
			late->clocks[i] = (struct last_arrival_clock){
				clocks->host[i], clocks->shift_ns[i], clocks->shift_ns[i], 0};
		late->clock_count = clocks->count;
	}
	for (uint32_t i = 0; i < clocks->count; i++) {
		struct last_arrival_clock *clock = &late->clocks[i];
		uint64_t error_ns = host_clocks_error(clocks, i);

		clock->from_ns = clocks->shift_ns[i] < clock->from_ns ? clocks->shift_ns[i] : clock->from_ns;
		clock->to_ns = clocks->shift_ns[i] > clock->to_ns ? clocks->shift_ns[i] : clock->to_ns;
		clock->error_ns = error_ns > clock->error_ns ? error_ns : clock->error_ns;
	}
	return 0;
}

static int sweep_all(struct last_arrival *late, struct run *run, const struct idle_question *question,
	struct arena *arena, struct error *error)
{
	struct host_clocks clocks;
	struct move_search search = {.run = run, .question = question, .clocks = &clocks};
	struct process *processes;
	uint32_t count;
	int result = process_list(
		&processes, &count, run, question->streams, question->stream_count, arena, error);

	if (!result)
		result = host_clocks_make(&clocks, run, processes, count, arena, error);
	if (!result)
		result = last_arrival_calls(late, run, question, processes, count, &clocks, arena, error);
	if (result)
		return result;
	/* What has none of its kind may have little room. */
	if (!late->count)
		late->parties = arena_calloc(arena, count + 1, sizeof(*late->parties));
	if (!late->thread_count)
		late->threads = arena_calloc(arena, question->stream_count + 1, sizeof(*late->threads));
	if (!late->parties || !late->threads)
		return error_memory(error);
	if (!late->count && has_call(run, question->waits, WAITS_FOR_RANKS)) {
		result = last_arrival_kernels(late, run, question, processes, count, &clocks, arena, error);
		if (!result && !late->count)
			result = ranks(late, &search, processes, count, arena, error);
		if (!result && late->count)
			result = last_arrival_show_clocks(late, &clocks, arena, error);
	}
	if (!result && !late->thread_count)
		result = teams(late, run, question, processes, count, arena, error);
	return result;
}

int last_arrival_sweep_related(struct last_arrival *late, struct run *run,
	const struct idle_question *question, struct arena *arena, struct error *error)
{
	int result;

	*late = (struct last_arrival){0};
	result = sweep_all(late, run, question, arena, error);
	late->related = question->related;
	return result;
}

int last_arrival_sweep(struct last_arrival *late, struct run *run, const struct idle_question *asked,
	struct arena *arena, struct error *error)
{
	struct idle_question question = *asked;
	struct related related = {0};
	int result = related_find(&related, run, asked->streams, asked->stream_count, true, arena, error);

	*late = (struct last_arrival){0};
	if (result)
		return result;
	question.streams = related.streams;
	question.stream_count = related.count;
	question.related = related.bits;
	return last_arrival_sweep_related(late, run, &question, arena, error);
}
