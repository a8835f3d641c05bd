/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_arrival_calls.c - see last_arrival.h: collective calls recorded as spans. The stays of all parties in
 * one call share a key: for MPI the communicator's name and the call's number on it; for a barrier of
 * threads the process and the barrier, whose rounds are separated by time: no thread enters the next round
 * before the first has left the last one.
 *
 *   stays, by (key, begin)  --rounds-->  occasions: the last to arrive delays those still inside
 *
 * Those who are still there when the window ends wait for somebody who comes behind it: so far is read on.
 *
 * Where processes have several clocks, each call bounds what they differ by (base/host_clocks.h), and times
 * are put on the first of them before anybody is judged.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/wait/last_arrival_internal.h"
#include "store/base/arena.h"
#include "store/base/array.h"
#include "store/base/attribute.h"
#include "timeline/base/key_ids.h"
#include "timeline/scan/scan.h"

#define COMMUNICATOR_BYTES 48
#define CLOCKS_PAIRED 64u /* more are not compared each with each in every call */

struct call_key {
	uint64_t number;  /* of MPI's call, else 0 */
	uint32_t process; /* plus 1; of MPI's calls 0 */
	uint32_t _pad;
	char communicator[COMMUNICATOR_BYTES];
};

struct call_stay {
	uint32_t call; /* number of its key */
	uint32_t party;
	uint64_t begin_ns, end_ns;
	uint32_t context, clock;
	uint16_t kind;
	bool is_root;
};

/* What must be over in a call before it ends: each begin before each end, and nothing else is sure of what
 * MPI's standard leaves to the library. */
enum call_kind {
	CALL_LOOSE,  /* nothing, or not known */
	CALL_ALL,    /* all have come before any leaves */
	CALL_SPREAD, /* the root has come before any leaves */
	CALL_GATHER  /* all have come before the root leaves */
};

/* The stays of one call, when several clocks are put together. */
struct call_meeting {
	size_t first, count;
	uint64_t begin_ns; /* by whatever clock: calls far apart in time keep their order */
};

/* Of a party, where it held up longest. */
struct most {
	uint64_t held_ns, begin_ns;
};

struct call_search {
	struct run *run;
	const struct idle_question *question;
	struct key_ids calls;
	struct key_ids parties; /* by stream, as a thread or for its process */
	struct call_stay *stays;
	size_t count, capacity;
	struct host_clocks *clocks;
	struct call_reach *reach; /* scratch, by clock */
	struct call_meeting *meetings;
	size_t meeting_count, meeting_capacity;
	uint32_t process;
	uint32_t first;			     /* stream of the process */
	uint64_t begin_ns, end_ns, reach_ns; /* that begin there are taken; how far the longest reaches */
};

static bool put_stay(struct call_search *search, const struct call_stay *stay)
{
	if (!array_widen(&search->stays, &search->capacity, search->count, sizeof *search->stays))
		return false;
	search->stays[search->count++] = *stay;
	return true;
}

/* False: this span is no collective call, or its communicator means nothing to other processes. */
static bool key_of(
	const struct call_search *search, const struct batch *batch, size_t row, struct call_key *key)
{
	bool is_barrier = batch->what[row] >= STORE_OP_COUNT &&
			  !strcmp(run_op_name(search->run, batch->what[row]), "barrier");
	const char *text;
	size_t size;

	*key = (struct call_key){0};
	if (!is_barrier && batch->what[row] != STORE_OP_MPI)
		return false;
	text = batch_attributes(search->run, batch, row, &size);
	if (!attribute_get(text, size, "comm", key->communicator, sizeof(key->communicator)))
		return false;
	key->number = attribute_number(text, size, "seq", 0);
	key->process = is_barrier ? search->process + 1 : 0;
	return is_barrier || (key->number && strncmp(key->communicator, "0x", 2));
}

static enum call_kind kind_of(const char *call)
{
	static const struct {
		const char *call;
		enum call_kind kind;
	} kinds[] = {{"MPI_Barrier", CALL_ALL}, {"MPI_Allreduce", CALL_ALL}, {"MPI_Allgather", CALL_ALL},
		{"MPI_Alltoall", CALL_ALL}, {"MPI_Reduce_scatter_block", CALL_ALL},
		{"MPI_Comm_split", CALL_ALL}, {"MPI_Bcast", CALL_SPREAD}, {"MPI_Scatter", CALL_SPREAD},
		{"MPI_Reduce", CALL_GATHER}, {"MPI_Gather", CALL_GATHER}};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(call, kinds[i].call))
			return kinds[i].kind;
	return CALL_LOOSE;
}

/* A root is a number in its communicator: of `world` alone it is the rank. */
static void learn_kind(const struct call_search *search, struct call_stay *stay, const struct call_key *key,
	const char *text, size_t size)
{
	char call[32];
	uint64_t root = attribute_number(text, size, "peer", UINT64_MAX);

	stay->kind = attribute_get(text, size, "call", call, sizeof call) ? kind_of(call) : CALL_LOOSE;
	if (stay->kind != CALL_SPREAD && stay->kind != CALL_GATHER)
		return;
	if (strcmp(key->communicator, "world") || root == UINT64_MAX)
		stay->kind = CALL_LOOSE;
	stay->is_root = run_stream(search->run, search->first)->s.rank == (int64_t)root;
}

static int take(struct call_search *search, const struct batch *batch, size_t row, struct error *error)
{
	struct call_key key;
	const char *text;
	size_t size;
	struct call_stay stay = {.begin_ns = batch->begin_ns[row],
		.end_ns = batch->end_ns[row],
		.context = batch->context[row],
		.clock = search->clocks->of[search->process]};
	struct last_arrival_party party;

	if ((stay.begin_ns < search->begin_ns && search->begin_ns > search->question->begin_ns) ||
		!key_of(search, batch, row, &key))
		return 0;
	if (stay.end_ns > search->reach_ns)
		search->reach_ns = stay.end_ns;
	memset(&party, 0, sizeof(party)); /* it is a key: no stray bytes */
	party.stream = key.process ? batch->stream : search->first;
	party.is_thread = key.process != 0;
	text = batch_attributes(search->run, batch, row, &size);
	if (!key.process && search->clocks->count > 1)
		learn_kind(search, &stay, &key, text, size);
	stay.call = key_ids_put(&search->calls, &key, NULL);
	stay.party = key_ids_put(&search->parties, &party, NULL);
	if (stay.call == KEY_IDS_NONE || stay.party == KEY_IDS_NONE || !put_stay(search, &stay))
		return error_memory(error);
	return 0;
}

static int read_stream(struct call_search *search, uint32_t stream, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count = 0;
	int result = scan_open(&scan, search->run, stream, STORE_SPANS, search->begin_ns, search->end_ns,
		STORE_END | STORE_CONTEXT | STORE_WHAT | STORE_ATTRIBUTES, 0, error);

	if (result)
		return result;
	while (!result && (count = scan_next(scan, &batch, error)) > 0)
		for (size_t row = 0; row < batch->count && !result; row++)
			if (batch->what[row] == STORE_OP_MPI || batch->what[row] >= STORE_OP_COUNT)
				result = take(search, batch, row, error);
	scan_close(scan);
	return result ? result : (int)count;
}

static int stay_compare(const void *left, const void *right)
{
	const struct call_stay *a = left, *b = right;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->party < b->party ? -1 : a->party > b->party;
}

static void occasion(struct last_arrival *late, const struct call_search *search,
	const struct call_stay *stays, size_t count, struct most *most);

/* ---- the clocks of several hosts ---- */

/* Of one call, by clock: when the last of it came, and the first left, as far as that is sure. */
struct call_reach {
	uint64_t in_ns, out_ns; /* 0, UINT64_MAX: none */
};

static void reach_of(struct call_reach *reach, uint32_t clocks, const struct call_stay *stays, size_t count)
{
	for (uint32_t i = 0; i < clocks; i++)
		reach[i] = (struct call_reach){0, UINT64_MAX};
	for (size_t i = 0; i < count; i++) {
		const struct call_stay *stay = &stays[i];
		struct call_reach *here = &reach[stay->clock];
		bool is_in = stay->kind == CALL_ALL || stay->kind == CALL_GATHER || stay->is_root;
		bool is_out = stay->kind == CALL_ALL || stay->kind == CALL_SPREAD || stay->is_root;

		if (stay->kind == CALL_LOOSE)
			continue;
		if (is_in && stay->begin_ns + 1 > here->in_ns)
			here->in_ns = stay->begin_ns + 1;
		if (is_out && stay->end_ns < here->out_ns)
			here->out_ns = stay->end_ns;
	}
}

/* Each with each. Of many, each with the last to come and the first to leave: fewer bounds, none of them
 * wrong. */
static void order(struct call_search *search, const struct call_stay *stays, size_t count)
{
	struct call_reach *reach = search->reach;
	const uint32_t clocks = search->clocks->count;
	uint32_t last = 0, first = 0;

	reach_of(reach, clocks, stays, count);
	for (uint32_t i = 1; i < clocks; i++) {
		last = reach[i].in_ns > reach[last].in_ns ? i : last;
		first = reach[i].out_ns < reach[first].out_ns ? i : first;
	}
	for (uint32_t i = 0; i < clocks; i++)
		for (uint32_t j = 0; j < clocks; j++)
			if (i != j && reach[i].in_ns && reach[j].out_ns != UINT64_MAX &&
				(clocks <= CLOCKS_PAIRED || i == last || j == first))
				host_clocks_order(search->clocks, i, reach[i].in_ns - 1, j, reach[j].out_ns);
}

static int put_meeting(struct call_search *search, size_t first, size_t count, struct error *error)
{
	if (!array_widen((void **)&search->meetings, &search->meeting_capacity, search->meeting_count,
		    sizeof *search->meetings))
		return error_memory(error);
	search->meetings[search->meeting_count++] =
		(struct call_meeting){first, count, search->stays[first].begin_ns};
	return 0;
}

static int meeting_compare(const void *left, const void *right)
{
	const struct call_meeting *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static void shift(struct call_search *search, const struct call_meeting *meeting)
{
	struct call_stay *stays = &search->stays[meeting->first];

	for (size_t i = 0; i < meeting->count; i++) {
		stays[i].begin_ns = host_clocks_time(search->clocks, stays[i].clock, stays[i].begin_ns);
		stays[i].end_ns = host_clocks_time(search->clocks, stays[i].clock, stays[i].end_ns);
	}
	qsort(stays, meeting->count, sizeof(*stays), stay_compare);
}

static bool fit(struct call_search *search, size_t first, size_t count)
{
	host_clocks_clear(search->clocks);
	for (size_t i = first; i < first + count; i++)
		order(search, &search->stays[search->meetings[i].first], search->meetings[i].count);
	return host_clocks_close(search->clocks);
}

/* Clocks run differently fast: where one shift fits not all calls, each half of them gets its own. */
static int judge_meetings(struct last_arrival *late, struct call_search *search, size_t first, size_t count,
	struct most *most, struct arena *arena, struct error *error)
{
	int result;

	if (!fit(search, first, count) && count > 1) {
		result = judge_meetings(late, search, first, count / 2, most, arena, error);
		return result ? result
			      : judge_meetings(late, search, first + count / 2, count - count / 2, most,
					arena, error);
	}
	for (size_t i = first; i < first + count; i++) {
		const struct call_meeting *meeting = &search->meetings[i];

		shift(search, meeting);
		if (meeting->count > 1)
			occasion(late, search, &search->stays[meeting->first], meeting->count, most);
	}
	return last_arrival_show_clocks(late, search->clocks, arena, error);
}

/* The stays [0, count) of one call or round; the last is the last to come. Of a call that does not hold its
 * callers up (a broadcast) some have left by then: those waited for nobody. */
static bool is_told(const struct host_clocks *clocks, const struct call_stay *stays, size_t count)
{
	const struct call_stay *last = &stays[count - 1];

	for (size_t i = 0; i + 1 < count; i++)
		if (!host_clocks_is_surely(
			    clocks, stays[i].clock, stays[i].begin_ns, last->clock, last->begin_ns))
			return false;
	return true;
}

static void occasion(struct last_arrival *late, const struct call_search *search,
	const struct call_stay *stays, size_t count, struct most *most)
{
	const struct idle_question *question = search->question;
	const struct call_stay *last = &stays[count - 1];
	struct last_arrival_party *party = &late->parties[last->party];
	uint64_t held_ns = 0;

	if (!last_arrival_is_asked(question, stays[0].begin_ns, last->begin_ns))
		return;
	for (size_t i = 0; i + 1 < count; i++) {
		uint64_t waited_ns =
			stays[i].end_ns >= last->begin_ns
				? last_arrival_within(question, stays[i].begin_ns, last->begin_ns)
				: 0;

		late->parties[stays[i].party].waited_ns += waited_ns;
		held_ns += waited_ns;
	}
	for (size_t i = 0; i < count; i++)
		late->parties[stays[i].party].occasions++;
	late->occasions += !party->is_thread;
	*(party->is_thread ? &late->thread_held_ns : &late->held_ns) += held_ns;
	if (!is_told(search->clocks, stays, count)) {
		late->untold++;
		late->untold_ns += held_ns;
		return;
	}
	party->last++;
	party->held_ns += held_ns;
	if (held_ns >= most[last->party].held_ns) {
		most[last->party] = (struct most){held_ns, last->begin_ns};
		party->context = last->context;
	}
}

/* Instead of the barrier, what a thread did before it came there, where that is known. */
static int name_work(struct last_arrival_party *party, struct call_search *search, const struct most *most,
	struct error *error)
{
	struct extent extent;
	int result;

	if (!party->is_thread || !party->last || !most->begin_ns)
		return 0;
	result = extent_at(search->run, party->stream, most->begin_ns - 1, &extent, error);
	if (!result && extent.state == EXTENT_WORK && extent.context &&
		!wait_functions_match(search->question->waits, extent.context))
		party->context = extent.context;
	return result;
}

/* How many of the stays, which begin with one call's, are one round of it. */
static size_t round_count(const struct call_stay *stays, size_t count)
{
	uint64_t left_ns = stays[0].end_ns;
	size_t i = 1;

	while (i < count && stays[i].call == stays[0].call && stays[i].begin_ns <= left_ns) {
		if (stays[i].end_ns < left_ns)
			left_ns = stays[i].end_ns;
		i++;
	}
	return i;
}

static size_t call_count(const struct call_stay *stays, size_t count)
{
	size_t i = 1;

	while (i < count && stays[i].call == stays[0].call)
		i++;
	return i;
}

static int judge(
	struct last_arrival *late, struct call_search *search, struct arena *arena, struct error *error)
{
	struct most *most = arena_calloc(arena, search->parties.count + 1, sizeof(*most));
	size_t count;
	int result = 0;

	late->parties = arena_calloc(arena, search->parties.count + 1, sizeof(*late->parties));
	if (!most || !late->parties)
		return error_memory(error);
	late->count = search->parties.count;
	for (uint32_t i = 0; i < late->count; i++)
		late->parties[i] = *(const struct last_arrival_party *)key_ids_key(&search->parties, i);
	qsort(search->stays, search->count, sizeof(*search->stays), stay_compare);
	for (size_t i = 0; i < search->count && !result; i += count) {
		const struct call_stay *stays = &search->stays[i];
		const struct call_key *key = key_ids_key(&search->calls, stays->call);
		bool is_barrier = key->process != 0;

		count = is_barrier ? round_count(stays, search->count - i)
				   : call_count(stays, search->count - i);
		if (!is_barrier && search->clocks->count > 1)
			result = put_meeting(search, i, count, error);
		else if (count > 1)
			occasion(late, search, stays, count, most);
	}
	if (!result && search->meeting_count) {
		qsort(search->meetings, search->meeting_count, sizeof(*search->meetings), meeting_compare);
		result = judge_meetings(late, search, 0, search->meeting_count, most, arena, error);
	}
	for (uint32_t i = 0; i < late->count && !result; i++)
		result = name_work(&late->parties[i], search, &most[i], error);
	return result;
}

/* Processes and threads are lists of their own; one alone meets nobody, nor (`are_asked`) one of those that
 * were read for their clocks and met nobody in the window. */
static int part(struct last_arrival *late, bool are_asked, struct arena *arena, struct error *error)
{
	struct last_arrival_party *all = late->parties;
	uint32_t count = late->count;

	late->threads = arena_calloc(arena, count + 1, sizeof(*late->threads));
	if (!late->threads)
		return error_memory(error);
	late->count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (are_asked && !all[i].occasions)
			continue;
		else if (all[i].is_thread)
			late->threads[late->thread_count++] = all[i];
		else
			all[late->count++] = all[i];
	late->count = late->count < 2 ? 0 : late->count;
	late->thread_count = late->thread_count < 2 ? 0 : late->thread_count;
	qsort(late->parties, late->count, sizeof(*late->parties), last_arrival_party_compare);
	qsort(late->threads, late->thread_count, sizeof(*late->threads), last_arrival_party_compare);
	return 0;
}

static int read_all(struct call_search *search, const struct process *processes, uint32_t count,
	uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	int result = 0;

	search->begin_ns = begin_ns;
	search->end_ns = end_ns;
	for (uint32_t p = 0; p < count && !result; p++) {
		search->process = p;
		search->first = processes[p].streams[0];
		for (uint32_t i = 0; i < processes[p].stream_count && !result; i++)
			if (run_stream(search->run, processes[p].streams[i])->s.kind == STORE_STREAM_CPU)
				result = read_stream(search, processes[p].streams[i], error);
	}
	return result;
}

int last_arrival_calls(struct last_arrival *late, struct run *run, const struct idle_question *question,
	const struct process *processes, uint32_t count, struct host_clocks *clocks, struct arena *arena,
	struct error *error)
{
	struct call_search search = {.run = run, .question = question, .clocks = clocks};
	uint64_t end_ns = question->end_ns;
	int result;

	search.reach = arena_calloc(arena, clocks->count + 1u, sizeof(*search.reach));
	if (!search.reach)
		return error_memory(error);
	key_ids_init(&search.calls, sizeof(struct call_key));
	key_ids_init(&search.parties, sizeof(struct last_arrival_party));
	/* All calls tell of the clocks, also those outside the window. */
	if (clocks->count > 1)
		result = read_all(&search, processes, count, run_begin_ns(run), run_end_ns(run), error);
	else
		result = read_all(&search, processes, count, question->begin_ns, end_ns, error);
	if (!result && clocks->count < 2 && search.reach_ns > end_ns)
		result = read_all(&search, processes, count, end_ns, search.reach_ns, error);
	if (!result && search.count)
		result = judge(late, &search, arena, error);
	if (!result && late->count)
		result = part(late, clocks->count > 1, arena, error);
	free(search.stays);
	free(search.meetings);
	key_ids_fini(&search.calls);
	key_ids_fini(&search.parties);
	return result;
}
