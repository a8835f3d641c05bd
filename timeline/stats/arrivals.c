/* SPDX-License-Identifier: Apache-2.0 */
/* arrivals.c - see arrivals.h: who is in a call at that moment, then who of the others should be. */
#include "timeline/stats/arrivals.h"

#include <stdlib.h>
#include <string.h>

#include "store/base/attribute.h"
#include "timeline/scan/scan.h"

#define CALLS_MAX 256u		       /* that go on at once */
#define KILLED_NS UINT64_C(1000000000) /* processes of one job die one after the other */
#define RANKS_MOST (UINT64_C(1) << 21) /* of all calls: their lists are by process until all is read */
#define BACK_MOST_NS \
	UINT64_C(64000000000)	     /* before the call: who was not on its communicator then is no member */
#define BACK_NS UINT64_C(1000000000) /* the first look back; the next ones are each twice as long */

/* A process: its threads and its GPU queues, of each kind neighbours in the order of the streams. */
enum part { THREADS, QUEUES, PARTS };
struct peer {
	struct {
		uint32_t first, end; /* streams */
	} part[PARTS];
	int64_t rank;
};

struct search {
	struct run *run;
	struct arena *arena;
	uint64_t time_ns;
	struct peer *peers;
	uint32_t peer_count, peer_last; /* peer_last: the last one found */
	struct arrivals_call *calls;	/* [CALLS_MAX] */
	uint32_t call_count;
};

/* A span of a collective call. */
struct told {
	char call[ARRIVALS_CALL_BYTES], communicator[ARRIVALS_COMMUNICATOR_BYTES];
	uint64_t number, ranks, rank;
	bool is_unfinished;
};

/* ---- one span ---- */

static bool is_nccl(const struct run *run, uint32_t operation)
{
	return operation >= STORE_OP_COUNT && !strcmp(run_op_name(run, operation), "nccl");
}

/* False: it is no collective call, or of a communicator that means nothing to others. */
static bool told_read(struct told *told, const struct run *run, const struct batch *batch, size_t row)
{
	uint32_t operation = batch->what[row];
	const char *text;
	size_t size;

	if (operation != STORE_OP_MPI && operation != STORE_OP_KERNEL && !is_nccl(run, operation))
		return false;
	text = batch_attributes(run, batch, row, &size);
	memset(told, 0, sizeof(*told));
	told->number = attribute_number(text, size, "seq", 0);
	if (!told->number ||
		!attribute_get(text, size, "comm", told->communicator, sizeof(told->communicator)))
		return false;
	attribute_get(text, size, "call", told->call, sizeof(told->call));
	told->ranks = attribute_number(text, size, "ranks", 0);
	told->rank = attribute_number(text, size, "rank", UINT32_MAX);
	told->is_unfinished = attribute_number(text, size, "unfinished", 0) != 0;
	return strncmp(told->communicator, "0x", 2) != 0;
}

/* ---- who is in a call ---- */

static struct arrivals_call *call_find(struct search *search, const struct told *told)
{
	struct arrivals_call *call = search->calls;

	for (; call < search->calls + search->call_count; call++)
		if (call->number == told->number && !strcmp(call->communicator, told->communicator))
			return call;
	if (search->call_count == CALLS_MAX ||
		(search->call_count && (search->call_count + 1) * (uint64_t)search->peer_count > RANKS_MOST))
		return NULL;
	*call = (struct arrivals_call){.number = told->number,
		.since_ns = UINT64_MAX,
		.ranks = told->ranks < UINT32_MAX ? (uint32_t)told->ranks : 0,
		.list = arena_calloc(search->arena, search->peer_count, sizeof(*call->list))};
	if (!call->list)
		return NULL;
	strcpy(call->communicator, told->communicator);
	strcpy(call->call, told->call);
	search->call_count++;
	return call;
}

/* The list is by peer until all is read. */
static void enter(struct search *search, uint32_t peer, const struct told *told, uint64_t begin_ns)
{
	struct arrivals_call *call = call_find(search, told);
	struct arrivals_rank *rank = call ? &call->list[peer] : NULL;

	if (!rank)
		return;
	if (!rank->since_ns || begin_ns < rank->since_ns)
		rank->since_ns = begin_ns ? begin_ns : 1;
	if (begin_ns < call->since_ns)
		call->since_ns = begin_ns;
	if (search->peers[peer].rank < 0 && told->rank != UINT32_MAX)
		search->peers[peer].rank = (int64_t)told->rank;
}

typedef void visit_call(
	struct search *search, void *own, const struct told *told, uint64_t from_ns, uint64_t to_ns);

/* Visits the collective calls among the spans of a stream that overlap the window. */
static int each_call(struct search *search, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	visit_call *visit, void *own, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	struct told told;
	long count;
	int rc = scan_open(&scan, search->run, stream, STORE_SPANS, begin_ns, end_ns,
		STORE_END | STORE_WHAT | STORE_ATTRIBUTES, 0, error);

	if (rc)
		return rc;
	while ((count = scan_next(scan, &batch, error)) > 0)
		for (size_t row = 0; row < batch->count; row++)
			if (told_read(&told, search->run, batch, row))
				visit(search, own, &told, batch->begin_ns[row], batch->end_ns[row]);
	scan_close(scan);
	return (int)count;
}

static void visit_now(
	struct search *search, void *own, const struct told *told, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns <= search->time_ns &&
		(to_ns > search->time_ns || (told->is_unfinished && to_ns + KILLED_NS > search->time_ns)))
		enter(search, *(const uint32_t *)own, told, from_ns);
}

static uint64_t before(uint64_t time_ns, uint64_t length_ns)
{
	return time_ns > length_ns ? time_ns - length_ns : 0;
}

/* Visits the collective calls of a process that overlap the window. */
static int each_call_of(struct search *search, const struct peer *peer, uint64_t begin_ns, uint64_t end_ns,
	visit_call *visit, void *own, struct error *error)
{
	int rc = 0;

	for (unsigned k = 0; k < PARTS; k++)
		for (uint32_t s = peer->part[k].first; s < peer->part[k].end && !rc; s++)
			if (run_stream(search->run, s)->s.count[STORE_SPANS])
				rc = each_call(search, s, begin_ns, end_ns, visit, own, error);
	return rc;
}

static int find_now(struct search *search, struct error *error)
{
	int rc = 0;

	for (uint32_t p = 0; p < search->peer_count && !rc; p++)
		rc = each_call_of(search, &search->peers[p], before(search->time_ns, KILLED_NS),
			search->time_ns + 1, visit_now, &p, error);
	return rc;
}

/* ---- who is not ---- */

struct last {
	const char *communicator;
	uint64_t begin_ns;
	struct told told;
};

static void visit_last(
	struct search *search, void *own, const struct told *told, uint64_t from_ns, uint64_t to_ns)
{
	struct last *last = own;

	(void)to_ns;
	if (from_ns > search->time_ns || strcmp(told->communicator, last->communicator) ||
		(last->told.number && from_ns < last->begin_ns))
		return;
	last->begin_ns = from_ns;
	last->told = *told;
}

/* The last call of a process on a communicator, looked for further and further back. */
static int find_last(struct search *search, const struct peer *peer, uint64_t since_ns, struct last *last,
	struct error *error)
{
	uint64_t end_ns = search->time_ns + 1, length_ns = BACK_NS;
	uint64_t first_ns = before(since_ns, BACK_MOST_NS);
	int rc = 0;

	first_ns = first_ns > run_begin_ns(search->run) ? first_ns : run_begin_ns(search->run);
	while (!rc && !last->told.number && end_ns > first_ns) {
		uint64_t begin_ns = end_ns - first_ns > length_ns ? end_ns - length_ns : first_ns;

		rc = each_call_of(search, peer, begin_ns, end_ns, visit_last, last, error);
		end_ns = begin_ns;
		length_ns *= 2;
	}
	return rc;
}

static uint32_t first_of(const struct peer *peer)
{
	return peer->part[peer->part[THREADS].end ? THREADS : QUEUES].first;
}

/* Keeps of the list who is in it and who should be. */
static int call_fill(struct search *search, struct arrivals_call *call, struct error *error)
{
	bool is_world = !strcmp(call->communicator, "world");
	uint32_t count = 0, gone = 0;

	for (uint32_t p = 0; p < search->peer_count; p++) {
		const struct peer *peer = &search->peers[p];
		struct arrivals_rank rank = call->list[p];
		struct last last = {.communicator = call->communicator};

		if (!rank.since_ns) {
			int rc = find_last(search, peer, call->since_ns, &last, error);

			if (rc)
				return rc;
			gone += last.told.number >= call->number;
			if (last.told.number >= call->number ||
				(!last.told.number && !(is_world && peer->rank >= 0)))
				continue;
			rank.last_number = last.told.number;
			memcpy(rank.last, last.told.call, sizeof(rank.last));
		}
		rank.stream = first_of(peer);
		rank.rank = peer->rank;
		if (rank.rank < 0 && last.told.number && last.told.rank != UINT32_MAX)
			rank.rank = (int64_t)last.told.rank;
		call->in += rank.since_ns != 0;
		call->list[count++] = rank;
	}
	call->count = count;
	call->unknown = call->ranks > count + gone ? call->ranks - count - gone : 0;
	return 0;
}

/* ---- the whole ---- */

static bool is_same(const struct run_stream *a, const struct run_stream *b)
{
	return a->s.pid == b->s.pid && a->s.generation == b->s.generation && a->s.rank == b->s.rank &&
	       !strcmp(a->host, b->host);
}

/* The stream's process; neighbours are of one, and queues come in the order of the threads. */
static struct peer *peer_of(struct search *search, const struct run_stream *stream)
{
	uint32_t count = search->peer_count;

	for (uint32_t i = 0; i < count; i++) {
		struct peer *peer = &search->peers[(search->peer_last + i) % count];

		if (is_same(run_stream(search->run, first_of(peer)), stream)) {
			search->peer_last = (uint32_t)(peer - search->peers);
			return peer;
		}
		if (stream->s.kind == STORE_STREAM_CPU)
			break;
	}
	search->peer_last = search->peer_count++;
	search->peers[search->peer_last] = (struct peer){.rank = stream->s.rank};
	return &search->peers[search->peer_last];
}

static int peers_make(struct search *search, struct error *error)
{
	uint32_t count = run_stream_count(search->run);

	search->peers = arena_calloc(search->arena, count + 1, sizeof(*search->peers));
	search->calls = arena_calloc(search->arena, CALLS_MAX, sizeof(*search->calls));
	if (!search->peers || !search->calls)
		return error_memory(error);
	for (uint32_t s = 0; s < count; s++) {
		const struct run_stream *stream = run_stream(search->run, s);
		struct peer *peer;
		enum part part = stream->s.kind == STORE_STREAM_GPU ? QUEUES : THREADS;

		if (stream->s.kind != STORE_STREAM_CPU && stream->s.kind != STORE_STREAM_GPU)
			continue;
		peer = peer_of(search, stream);
		if (!peer->part[part].end)
			peer->part[part].first = s;
		peer->part[part].end = s + 1;
	}
	return 0;
}

static int call_compare(const void *left, const void *right)
{
	const struct arrivals_call *a = left, *b = right;

	if (a->since_ns != b->since_ns)
		return a->since_ns < b->since_ns ? -1 : 1;
	return a->number != b->number ? (a->number < b->number ? -1 : 1)
				      : strcmp(a->communicator, b->communicator);
}

int arrivals_find(struct arrivals *arrivals, struct run *run, uint64_t time_ns, struct arena *arena,
	struct error *error)
{
	struct search search = {.run = run, .arena = arena, .time_ns = time_ns};
	int rc = peers_make(&search, error);

	*arrivals = (struct arrivals){0};
	if (!rc)
		rc = find_now(&search, error);
	arrivals->calls = search.calls;
	for (uint32_t i = 0; i < search.call_count && !rc; i++) {
		struct arrivals_call call = search.calls[i];

		rc = call_fill(&search, &call, error);
		if (!rc && (call.in < call.count || call.unknown))
			arrivals->calls[arrivals->count++] = call;
	}
	if (!rc)
		qsort(arrivals->calls, arrivals->count, sizeof(*arrivals->calls), call_compare);
	return rc;
}
