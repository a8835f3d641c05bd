/* SPDX-License-Identifier: Apache-2.0 */
/*
 * last_arrival_kernels.c - see last_arrival.h: a collective call on GPUs (NCCL's) is a kernel on each, which
 * runs from its own arrival until all have finished. Where NCCL told its calls (record/agent/gpu/nccl.c), the
 * kernels of one call have the same communicator and number, and `ranks=` says how many there are. Where not,
 * time tells which are one call: no rank's next call begins before the first rank has left, and from the last
 * arrival on all work together and leave together.
 *
 *   rank 0   |~~kernel~~~~~~~~~~~~~~~|  |~~~|     a round is all that begin before the earliest end; it is
 *   rank 1               |~~kernel~~~~|   |~~|    a call if all processes are in it and none leaves much
 *                        ^ last: the call takes   later than another
 *                          time from here on
 */
#include <stdlib.h>
#include <string.h>

#include "blame/wait/last_arrival_internal.h"
#include "store/base/array.h"
#include "store/base/attribute.h"
#include "timeline/base/key_ids.h"
#include "timeline/scan/scan.h"

/* They leave so far apart: by their clocks, and by a part of what the call takes. Neighbours in an all-reduce
 * of two H200s leave within 2 to 12 us of 80 to 170. */
#define TOGETHER_NS 20000u
#define TOGETHER_PART 16u
#define GPUS_MOST 64u /* of a process, in one call */
#define KERNEL_COMMUNICATOR_BYTES 64

struct kernel_stay {
	uint64_t begin_ns, end_ns;
	uint32_t party, context;
	uint32_t call;	/* KEY_IDS_NONE: not told */
	uint32_t ranks; /* that take part; 0: not told */
};

/* The same on all ranks. */
struct kernel_call {
	char communicator[KERNEL_COMMUNICATOR_BYTES];
	uint64_t number;
};

struct kernel_search {
	struct run *run;
	const struct idle_question *question;
	uint64_t begin_ns, end_ns, reach_ns; /* that begin there are taken; how far the longest reaches */
	struct kernel_stay *stays;
	size_t count, capacity;
	uint8_t *is_collective; /* of a context: 0 not known, 1 no, 2 yes */
	const struct host_clocks *clocks;
	uint32_t *clock_of;   /* by party */
	uint64_t *arrived_ns; /* of a party in the round at hand; 0: it is not in it */
	uint64_t *most_ns;
	struct key_ids calls;
	size_t told; /* stays with a call */
};

/* What begins and ends one call. */
struct round {
	size_t count; /* stays */
	uint32_t parties;
	uint64_t left_ns, over_ns;	/* the first, the last */
	const struct kernel_stay *last; /* to come */
};

/* A kernel in which all ranks meet: sending and receiving are between two. */
static bool is_collective(struct kernel_search *search, uint32_t context)
{
	uint8_t *known = &search->is_collective[context];
	uint32_t scope;
	const char *name;

	if (*known)
		return *known == 2;
	*known = 1;
	scope = run_context(search->run, context)->scope;
	if (wait_functions_target(search->question->waits, context) != WAITS_FOR_RANKS || scope == UINT32_MAX)
		return false;
	name = run_function(search->run, run_scope(search->run, scope)->function)->name;
	*known = strstr(name, "SendRecv") ? 1 : 2;
	return *known == 2;
}

static bool put_stay(struct kernel_search *search, const struct kernel_stay *stay)
{
	if (!array_widen(&search->stays, &search->capacity, search->count, sizeof *search->stays))
		return false;
	search->stays[search->count++] = *stay;
	return true;
}

/* False: no memory. */
static bool call_learn(
	struct kernel_search *search, const struct batch *batch, size_t row, struct kernel_stay *stay)
{
	struct kernel_call call;
	size_t size;
	const char *text = batch_attributes(search->run, batch, row, &size);
	uint64_t ranks = attribute_number(text, size, "ranks", 0);

	memset(&call, 0, sizeof(call)); /* it is a key: no stray bytes */
	call.number = attribute_number(text, size, "seq", 0);
	if (!call.number || !attribute_get(text, size, "comm", call.communicator, sizeof(call.communicator)))
		return true;
	stay->call = key_ids_put(&search->calls, &call, NULL);
	stay->ranks = ranks < UINT32_MAX ? (uint32_t)ranks : 0;
	search->told++;
	return stay->call != KEY_IDS_NONE;
}

static int read_queue(struct kernel_search *search, uint32_t stream, uint32_t party, struct error *error)
{
	const uint32_t clock = search->clock_of[party];
	const struct batch *batch;
	struct scan *scan;
	long count = 0;
	int result = scan_open(&scan, search->run, stream, STORE_SPANS, search->begin_ns, search->end_ns,
		STORE_END | STORE_CONTEXT | STORE_WHAT | STORE_ATTRIBUTES, 0, error);

	if (result)
		return result;
	while (!result && (count = scan_next(scan, &batch, error)) > 0)
		for (size_t row = 0; row < batch->count && !result; row++) {
			struct kernel_stay stay = {batch->begin_ns[row], batch->end_ns[row], party,
				batch->context[row], KEY_IDS_NONE, 0};

			if (batch->what[row] != STORE_OP_KERNEL || !is_collective(search, stay.context) ||
				(stay.begin_ns < search->begin_ns &&
					search->begin_ns > search->question->begin_ns))
				continue;
			if (stay.end_ns > search->reach_ns)
				search->reach_ns = stay.end_ns;
			stay.begin_ns = host_clocks_time(search->clocks, clock, stay.begin_ns);
			stay.end_ns = host_clocks_time(search->clocks, clock, stay.end_ns);
			if (!call_learn(search, batch, row, &stay) || !put_stay(search, &stay))
				result = error_memory(error);
		}
	scan_close(scan);
	return result ? result : (int)count;
}

/* The party of that stream among the first `known`, or else the next new one. */
static uint32_t party_of(const struct last_arrival *late, uint32_t known, uint32_t stream)
{
	for (uint32_t party = 0; party < known; party++)
		if (late->parties[party].stream == stream)
			return party;
	return late->count;
}

/* The processes that have such kernels become parties. */
static int collect(struct last_arrival *late, struct kernel_search *search, const struct process *processes,
	uint32_t count, struct error *error)
{
	const uint32_t known = late->count; /* from the window; later ones are read next */
	int result = 0;

	for (uint32_t p = 0; p < count && !result; p++) {
		uint32_t party = party_of(late, known, processes[p].streams[0]);
		size_t before = search->count;

		search->clock_of[party] = search->clocks->of[p];
		for (uint32_t i = 0; i < processes[p].stream_count && !result; i++)
			if (run_stream(search->run, processes[p].streams[i])->s.kind == STORE_STREAM_GPU)
				result = read_queue(search, processes[p].streams[i], party, error);
		if (search->count > before && party == late->count)
			late->parties[late->count++] =
				(struct last_arrival_party){.stream = processes[p].streams[0]};
	}
	return result;
}

/* Parties still inside at the window's end wait for one that arrives later: reads until then. */
static int collect_all(struct last_arrival *late, struct kernel_search *search,
	const struct process *processes, uint32_t count, struct error *error)
{
	const struct idle_question *question = search->question;
	int result;

	search->begin_ns = question->begin_ns;
	search->end_ns = question->end_ns;
	result = collect(late, search, processes, count, error);
	if (result || search->reach_ns <= question->end_ns)
		return result;
	search->begin_ns = question->end_ns;
	search->end_ns = search->reach_ns;
	return collect(late, search, processes, count, error);
}

static int stay_compare(const void *left, const void *right)
{
	const struct kernel_stay *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->party < b->party ? -1 : a->party > b->party;
}

/* A process with several GPUs has come when the last of them has. */
static struct round round_find(
	struct kernel_search *search, const struct kernel_stay *stays, size_t count, uint32_t parties)
{
	struct round round = {.left_ns = stays[0].end_ns};

	memset(search->arrived_ns, 0, parties * sizeof(*search->arrived_ns));
	count = count < (size_t)GPUS_MOST * parties ? count : (size_t)GPUS_MOST * parties;
	for (; round.count < count && stays[round.count].begin_ns <= round.left_ns; round.count++) {
		const struct kernel_stay *stay = &stays[round.count];

		round.parties += !search->arrived_ns[stay->party];
		search->arrived_ns[stay->party] = stay->begin_ns + 1;
		round.left_ns = stay->end_ns < round.left_ns ? stay->end_ns : round.left_ns;
		round.over_ns = stay->end_ns > round.over_ns ? stay->end_ns : round.over_ns;
		round.last = stay;
	}
	return round;
}

static bool is_call(const struct round *round, uint32_t parties)
{
	return round->parties == parties &&
	       round->over_ns - round->left_ns <=
		       TOGETHER_NS + (round->left_ns - round->last->begin_ns) / TOGETHER_PART;
}

static bool is_told(const struct kernel_search *search, const struct kernel_stay *last, uint32_t count)
{
	for (uint32_t p = 0; p < count; p++)
		if (search->arrived_ns[p] &&
			!host_clocks_is_surely(search->clocks, search->clock_of[p], search->arrived_ns[p] - 1,
				search->clock_of[last->party], last->begin_ns))
			return false;
	return true;
}

static void occasion(struct last_arrival *late, struct kernel_search *search, const struct kernel_stay *first,
	const struct kernel_stay *last)
{
	struct last_arrival_party *party = &late->parties[last->party];
	uint64_t held_ns = 0;

	if (!last_arrival_is_asked(search->question, first->begin_ns, last->begin_ns))
		return;
	for (uint32_t p = 0; p < late->count; p++) {
		uint64_t waited_ns;

		if (!search->arrived_ns[p])
			continue; /* no rank of that communicator */
		waited_ns = last_arrival_within(search->question, search->arrived_ns[p] - 1, last->begin_ns);
		late->parties[p].waited_ns += waited_ns;
		late->parties[p].occasions++;
		held_ns += waited_ns;
	}
	late->occasions++;
	late->held_ns += held_ns;
	if (!is_told(search, last, late->count)) {
		late->untold++;
		late->untold_ns += held_ns;
		return;
	}
	party->last++;
	party->held_ns += held_ns;
	if (held_ns >= search->most_ns[last->party]) {
		search->most_ns[last->party] = held_ns;
		party->context = last->context;
	}
}

/* Where most kernels are in no call of all, the processes meet in groups, and nothing here is known of them.
 * A window may begin in the middle of a call: then the next is looked for from the next kernel on. */
static void judge(struct last_arrival *late, struct kernel_search *search)
{
	size_t others = 0, count;

	qsort(search->stays, search->count, sizeof(*search->stays), stay_compare);
	for (size_t i = 0; i < search->count; i += count) {
		struct round round = round_find(search, &search->stays[i], search->count - i, late->count);
		bool is_one = is_call(&round, late->count);

		if (is_one)
			occasion(late, search, &search->stays[i], round.last);
		count = is_one ? round.count : 1;
		others += !is_one;
	}
	if (others > search->count - others)
		late->occasions = late->held_ns = late->untold = late->untold_ns = late->count = 0;
}

static int call_compare(const void *left, const void *right)
{
	const struct kernel_stay *a = left, *b = right;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return stay_compare(left, right);
}

/* Kernels of one call; one that not all its ranks are known to have come to tells nothing. */
static void call_judge(struct last_arrival *late, struct kernel_search *search,
	const struct kernel_stay *stays, size_t count)
{
	uint32_t parties = 0;

	memset(search->arrived_ns, 0, late->count * sizeof(*search->arrived_ns));
	for (size_t i = 0; i < count; i++) {
		parties += !search->arrived_ns[stays[i].party];
		search->arrived_ns[stays[i].party] = stays[i].begin_ns + 1;
	}
	if (parties > 1 && (!stays[0].ranks || count == stays[0].ranks))
		occasion(late, search, &stays[0], &stays[count - 1]);
}

static void judge_told(struct last_arrival *late, struct kernel_search *search)
{
	size_t count;

	qsort(search->stays, search->count, sizeof(*search->stays), call_compare);
	for (size_t i = 0; i < search->count; i += count) {
		for (count = 1; i + count < search->count; count++)
			if (search->stays[i + count].call != search->stays[i].call)
				break;
		call_judge(late, search, &search->stays[i], count);
	}
	if (!late->occasions)
		late->count = 0;
}

int last_arrival_kernels(struct last_arrival *late, struct run *run, const struct idle_question *question,
	const struct process *processes, uint32_t count, const struct host_clocks *clocks,
	struct arena *arena, struct error *error)
{
	struct kernel_search search = {.run = run,
		.question = question,
		.clocks = clocks,
		.clock_of = arena_calloc(arena, count + 1u, sizeof(*search.clock_of)),
		.is_collective = arena_calloc(arena, run_context_count(run) + 1u, 1),
		.arrived_ns = arena_calloc(arena, count + 1u, sizeof(*search.arrived_ns)),
		.most_ns = arena_calloc(arena, count + 1u, sizeof(*search.most_ns))};
	int result;

	if (!search.clock_of || !search.is_collective || !search.arrived_ns || !search.most_ns)
		return error_memory(error);
	key_ids_init(&search.calls, sizeof(struct kernel_call));
	result = count > 1 ? collect_all(late, &search, processes, count, error) : 0;
	if (!result && late->count > 1 && search.count && search.told == search.count)
		judge_told(late, &search);
	else if (!result && late->count > 1 && search.count)
		judge(late, &search);
	else
		late->count = 0;
	if (late->count)
		qsort(late->parties, late->count, sizeof(*late->parties), last_arrival_party_compare);
	else
		memset(late->parties, 0, (count + 1) * sizeof(*late->parties));
	key_ids_fini(&search.calls);
	free(search.stays);
	return result;
}
