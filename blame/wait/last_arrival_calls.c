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
 * A call of MPI that does not block has come with the call, and waits in the Wait that names its request
 * (call_requests.h). Sends and receives meet by pairs of ranks (call_messages.h).
 *
 * Where processes have several clocks, each call bounds what they differ by (base/host_clocks.h), and times
 * are put on the first of them before anybody is judged.
 */
#include <stdlib.h>
#include <string.h>

#include "blame/wait/last_arrival_calls.h"
#include "store/base/arena.h"
#include "store/base/array.h"
#include "store/base/attribute.h"
#include "timeline/scan/scan.h"

#define CALL_BYTES 40
#define REQUESTS_BYTES 256

/* A span of MPI, by its attributes. */
struct mpi_span {
	const struct batch *batch;
	size_t row;
	const char *text;
	size_t size;
	char call[CALL_BYTES], communicator[COMMUNICATOR_BYTES], requests[REQUESTS_BYTES];
	bool has_requests;
};

uint32_t last_arrival_party(struct call_search *search, uint32_t stream, enum last_arrival_role role)
{
	struct last_arrival_party party;

	memset(&party, 0, sizeof(party)); /* it is a key: no stray bytes */
	party.stream = stream;
	party.role = role;
	return key_ids_put(&search->parties, &party, NULL);
}

static bool put_stay(struct call_search *search, const struct call_stay *stay)
{
	if (!array_widen(&search->stays, &search->capacity, search->count, sizeof *search->stays))
		return false;
	search->stays[search->count++] = *stay;
	return true;
}

static enum call_kind kind_of(const char *call)
{
	static const struct {
		const char *call;
		enum call_kind kind;
	} kinds[] = {{"barrier", CALL_ALL}, {"allreduce", CALL_ALL}, {"allgather", CALL_ALL},
		{"alltoall", CALL_ALL}, {"reduce_scatter_block", CALL_ALL}, {"comm_split", CALL_ALL},
		{"bcast", CALL_SPREAD}, {"scatter", CALL_SPREAD}, {"reduce", CALL_GATHER},
		{"gather", CALL_GATHER}};

	call += strncmp(call, "MPI_", 4) ? 0 : 4;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcasecmp(call, kinds[i].call) || ((*call == 'I') && !strcmp(call + 1, kinds[i].call)))
			return kinds[i].kind;
	return CALL_LOOSE;
}

/* A root is a number in its communicator: of `world` alone it is the rank. */
static void learn_kind(const struct call_search *search, struct call_stay *stay, const struct mpi_span *span)
{
	uint64_t root = attribute_number(span->text, span->size, "peer", UINT64_MAX);

	stay->kind = kind_of(span->call);
	stay->state = call_wait_state_of(span->call);
	if (stay->kind != CALL_SPREAD && stay->kind != CALL_GATHER) {
		stay->state = stay->state > CALL_WAIT_N_TO_N ? CALL_WAIT_COLLECTIVE : stay->state;
		return;
	}
	if (strcmp(span->communicator, "world") || root == UINT64_MAX)
		stay->kind = CALL_LOOSE;
	if (stay->kind == CALL_LOOSE && stay->state > CALL_WAIT_N_TO_N)
		stay->state = CALL_WAIT_COLLECTIVE;
	stay->is_root = run_stream(search->run, search->first)->s.rank == (int64_t)root;
}

/* A barrier of threads, or a collective call on a communicator that means something to other processes. */
static int take_stay(struct call_search *search, const struct batch *batch, size_t row, struct call_key *key,
	const struct mpi_span *span, uint32_t window, struct error *error)
{
	const bool is_thread = key->process != 0;
	struct call_stay stay = {.begin_ns = batch->begin_ns[row],
		.wait_begin_ns = batch->begin_ns[row],
		.raw_wait_ns = batch->begin_ns[row],
		.end_ns = batch->end_ns[row],
		.raw_end_ns = batch->end_ns[row],
		.context = batch->context[row],
		.work = {search->since_ns, batch->begin_ns[row], batch->stream},
		.window = window,
		.state = is_thread ? CALL_WAIT_THREADS : CALL_WAIT_COLLECTIVE,
		.clock = search->clocks->of[search->process]};

	if (span)
		learn_kind(search, &stay, span);
	stay.call = key_ids_put(&search->calls, key, NULL);
	stay.party = last_arrival_party(search, is_thread ? batch->stream : search->first,
		is_thread ? LAST_ARRIVAL_THREAD : LAST_ARRIVAL_PROCESS);
	if (stay.call == KEY_IDS_NONE || stay.party == KEY_IDS_NONE || !put_stay(search, &stay))
		return error_memory(error);
	return 0;
}

static int take_barrier(
	struct call_search *search, const struct batch *batch, size_t row, struct error *error)
{
	struct call_key key;
	size_t size;
	const char *text = batch_attributes(search->run, batch, row, &size);

	memset(&key, 0, sizeof key);
	key.process = search->process + 1;
	if (!attribute_get(text, size, "comm", key.communicator, sizeof key.communicator))
		return 0;
	return take_stay(search, batch, row, &key, NULL, CALL_WINDOW_NONE, error);
}

/* ---- messages ---- */

static uint32_t small_attribute(const struct mpi_span *span, const char *key, uint32_t otherwise)
{
	uint64_t value = attribute_number(span->text, span->size, key, otherwise);

	return value < UINT32_MAX ? (uint32_t)value : otherwise;
}

/* `peer` or `source`: false: the message is none, to or from no process. */
static bool other_rank(const struct mpi_span *span, const char *key, uint32_t *rank)
{
	char value[16];

	if (!attribute_get(span->text, span->size, key, value, sizeof value))
		return false;
	*rank = strcmp(value, "any") ? small_attribute(span, key, MESSAGE_RANK_ANY) : MESSAGE_RANK_ANY;
	return true;
}

/* In `world` a rank is the process's own. False: not known. */
static bool own_rank(const struct call_search *search, const struct mpi_span *span, uint32_t *rank)
{
	int64_t world = run_stream(search->run, search->first)->s.rank;
	bool is_world = !strcmp(span->communicator, "world");

	*rank = small_attribute(span, "as", is_world && world >= 0 ? (uint32_t)world : UINT32_MAX);
	return *rank != UINT32_MAX;
}

/* A probe waits for the message that the next receive takes. */
static void probe_put(struct call_search *search, const struct mpi_span *span)
{
	struct call_probe *probe = &search->probe;

	probe->stream = span->batch->stream;
	probe->begin_ns = span->batch->begin_ns[span->row];
	probe->context = span->batch->context[span->row];
	probe->tag = small_attribute(span, "tag", MESSAGE_TAG_ANY);
	memcpy(probe->communicator, span->communicator, sizeof probe->communicator);
	probe->is_there = other_rank(span, "peer", &probe->rank) && probe->rank != MESSAGE_RANK_ANY;
}

static bool is_probed(const struct call_search *search, const struct message_side *receive, uint32_t rank,
	const char *communicator)
{
	const struct call_probe *probe = &search->probe;

	return probe->is_there && probe->stream == receive->stream && rank == probe->rank &&
	       !strcmp(probe->communicator, communicator) &&
	       (probe->tag == MESSAGE_TAG_ANY || probe->tag == receive->tag);
}

static bool take_side(
	struct call_search *search, const struct mpi_span *span, bool is_receive, bool waits, uint32_t window)
{
	const struct batch *batch = span->batch;
	const bool is_second = is_receive && strncmp(span->call, "MPI_Sendrecv", 12) == 0;
	uint64_t begin_ns = batch->begin_ns[span->row], end_ns = batch->end_ns[span->row];
	struct message_side side = {.begin_ns = begin_ns,
		.raw_ns = begin_ns,
		.wait_begin_ns = waits ? begin_ns : end_ns,
		.end_ns = end_ns,
		.since_ns = search->since_ns,
		.bytes = is_second ? 0 : batch->bytes[span->row],
		.process = search->process,
		.stream = batch->stream,
		.clock = search->clocks->of[search->process],
		.context = batch->context[span->row],
		.tag = small_attribute(span, is_second ? "source_tag" : "tag", MESSAGE_TAG_ANY),
		.window = window,
		.is_receive = is_receive};
	uint32_t own, other;

	if (!other_rank(span, is_second ? "source" : "peer", &other) || !own_rank(search, span, &own))
		return true;
	if (is_receive && is_probed(search, &side, other, span->communicator)) {
		side.wait_begin_ns = search->probe.begin_ns;
		side.context = search->probe.context;
		search->probe.is_there = false;
	}
	side.party = last_arrival_party(
		search, search->first, is_receive ? LAST_ARRIVAL_RECEIVER : LAST_ARRIVAL_SENDER);
	return side.party != KEY_IDS_NONE && call_messages_add(&search->messages, side, span->communicator,
						     is_receive ? other : own, is_receive ? own : other);
}

/* What both sends and receives waits once, as a receive. */
static bool take_message(struct call_search *search, const struct mpi_span *span, uint32_t window)
{
	static const char *const sends[] = {"MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend", "MPI_Isend",
		"MPI_Issend", "MPI_Irsend", "MPI_Ibsend"};

	if (!strcmp(span->call, "MPI_Probe"))
		probe_put(search, span);
	if (!strcmp(span->call, "MPI_Recv") || !strcmp(span->call, "MPI_Irecv") ||
		!strcmp(span->call, "MPI_Mprobe"))
		return take_side(search, span, true, true, window);
	if (!strcmp(span->call, "MPI_Sendrecv") || !strcmp(span->call, "MPI_Sendrecv_replace"))
		return take_side(search, span, false, false, window) &&
		       take_side(search, span, true, true, window);
	for (size_t i = 0; i < sizeof sends / sizeof *sends; i++)
		if (!strcmp(span->call, sends[i]))
			return take_side(search, span, false, true, window);
	return true;
}

/* ---- reading ---- */

/* A call that ends others has no communicator. */
static bool take_requests(struct call_search *search, const struct mpi_span *span, uint32_t *window)
{
	const struct batch *batch = span->batch;
	bool is_test = !strncmp(span->call, "MPI_Test", 8);
	bool is_for_some = !strcmp(span->call, "MPI_Waitany") || !strcmp(span->call, "MPI_Waitsome");
	struct call_window wait = {
		batch->begin_ns[span->row], batch->end_ns[span->row], batch->stream, is_test, is_for_some};

	*window = CALL_WINDOW_NONE;
	if (span->has_requests && span->communicator[0]) {
		*window = call_requests_begin(&search->requests, search->process,
			strtoull(span->requests, NULL, 16), batch->end_ns[span->row]);
		return *window != CALL_WINDOW_NONE;
	}
	if (span->has_requests || !strcmp(span->call, "MPI_Waitall") || !strcmp(span->call, "MPI_Testall"))
		return call_requests_end(&search->requests, search->process,
			span->has_requests ? span->requests : NULL, &wait);
	return true;
}

static bool span_read(struct mpi_span *span, struct run *run, const struct batch *batch, size_t row)
{
	*span = (struct mpi_span){.batch = batch, .row = row};
	span->text = batch_attributes(run, batch, row, &span->size);
	attribute_get(span->text, span->size, "call", span->call, sizeof span->call);
	attribute_get(span->text, span->size, "comm", span->communicator, sizeof span->communicator);
	span->has_requests =
		attribute_get(span->text, span->size, "request", span->requests, sizeof span->requests);
	return span->call[0] || span->communicator[0];
}

/* Nobody leaves MPI's end before all have come there, in either library. */
static int take_mpi(struct call_search *search, const struct batch *batch, size_t row, struct error *error)
{
	struct mpi_span span;
	struct call_key key;
	uint32_t window;

	if (!span_read(&span, search->run, batch, row))
		return 0;
	if (!take_requests(search, &span, &window))
		return error_memory(error);
	memset(&key, 0, sizeof key);
	key.number = attribute_number(span.text, span.size, "seq", 0);
	memcpy(key.communicator, span.communicator, sizeof key.communicator);
	if (!strcmp(span.call, "MPI_Finalize")) {
		memcpy(key.communicator, "MPI_Finalize", sizeof "MPI_Finalize");
		key.number = 1;
	}
	if (!strncmp(key.communicator, "0x", 2) || !key.communicator[0])
		return 0;
	if (key.number)
		return take_stay(search, batch, row, &key, &span, window, error);
	return take_message(search, &span, window) ? 0 : error_memory(error);
}

static int take(struct call_search *search, const struct batch *batch, size_t row, struct error *error)
{
	bool is_mpi = batch->what[row] == STORE_OP_MPI;
	const char *name =
		batch->what[row] < STORE_OP_COUNT ? "" : run_op_name(search->run, batch->what[row]);
	int result;

	if (!strcmp(name, "mpi-summed") && !call_requests_sums(&search->requests, search->process))
		return error_memory(error);
	if (!is_mpi && strcmp(name, "barrier"))
		return 0;
	if (batch->begin_ns[row] < search->begin_ns && search->begin_ns > search->question->begin_ns)
		return 0;
	if (batch->end_ns[row] > search->reach_ns)
		search->reach_ns = batch->end_ns[row];
	result = is_mpi ? take_mpi(search, batch, row, error) : take_barrier(search, batch, row, error);
	search->since_ns = batch->end_ns[row];
	return result;
}

static int read_stream(struct call_search *search, uint32_t stream, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count = 0;
	int result = scan_open(&scan, search->run, stream, STORE_SPANS, search->begin_ns, search->end_ns,
		STORE_END | STORE_CONTEXT | STORE_WHAT | STORE_ATTRIBUTES | STORE_BYTES, 0, error);

	if (result)
		return result;
	search->since_ns = search->begin_ns;
	while (!result && (count = scan_next(scan, &batch, error)) > 0)
		for (size_t row = 0; row < batch->count && !result; row++)
			result = take(search, batch, row, error);
	scan_close(scan);
	return result ? result : (int)count;
}

/* Processes and threads are lists of their own; one alone meets nobody; nor does a thread that was in no
 * barrier with another, or (`are_asked`) a process that was read though it met nobody in the window. */
static int part(struct last_arrival *late, bool are_asked, struct arena *arena, struct error *error)
{
	struct last_arrival_party *all = late->parties;
	uint32_t count = late->count;

	late->threads = arena_calloc(arena, count + 1, sizeof(*late->threads));
	late->messages = arena_calloc(arena, count + 1, sizeof(*late->messages));
	if (!late->threads || !late->messages)
		return error_memory(error);
	late->count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (all[i].role >= LAST_ARRIVAL_SENDER) {
			if (all[i].held_ns || all[i].waited_ns)
				late->messages[late->message_count++] = all[i];
		} else if (!all[i].occasions && (are_asked || all[i].role == LAST_ARRIVAL_THREAD)) {
			continue;
		} else if (all[i].role == LAST_ARRIVAL_THREAD) {
			late->threads[late->thread_count++] = all[i];
		} else {
			all[late->count++] = all[i];
		}
	late->count = late->count < 2 ? 0 : late->count;
	late->thread_count = late->thread_count < 2 ? 0 : late->thread_count;
	qsort(late->parties, late->count, sizeof(*late->parties), last_arrival_party_compare);
	qsort(late->messages, late->message_count, sizeof(*late->messages), last_arrival_party_compare);
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

static void search_init(struct call_search *search)
{
	key_ids_init(&search->calls, sizeof(struct call_key));
	key_ids_init(&search->parties, sizeof(struct last_arrival_party));
	call_messages_init(&search->messages);
}

static void search_fini(struct call_search *search)
{
	free(search->stays);
	free(search->meetings);
	call_requests_fini(&search->requests);
	call_messages_fini(&search->messages);
	key_ids_fini(&search->calls);
	key_ids_fini(&search->parties);
}

/* All calls tell of the clocks, and messages meet by their number, also those outside the window: false: the
 * window is enough. */
static bool needs_all(const struct call_search *search)
{
	return search->clocks->count > 1 || search->messages.side_count || search->requests.event_count;
}

static int read_calls(struct call_search *search, const struct process *processes, uint32_t count,
	bool *is_whole, struct error *error)
{
	const struct idle_question *question = search->question;
	struct run *run = search->run;
	uint64_t begin_ns = run_begin_ns(run), end_ns = run_end_ns(run);
	int result = read_all(search, processes, count, question->begin_ns, question->end_ns, error);

	*is_whole = question->begin_ns > begin_ns || question->end_ns < end_ns;
	if (!result && *is_whole && needs_all(search)) {
		struct call_search whole = {.run = run,
			.question = question,
			.clocks = search->clocks,
			.reach = search->reach,
			.told = search->told};

		search_fini(search);
		*search = whole;
		search_init(search);
		return read_all(search, processes, count, begin_ns, end_ns, error);
	}
	*is_whole = false;
	if (!result && search->reach_ns > question->end_ns)
		result = read_all(search, processes, count, question->end_ns, search->reach_ns, error);
	return result;
}

int last_arrival_calls(struct last_arrival *late, struct run *run, const struct idle_question *question,
	const struct process *processes, uint32_t count, struct host_clocks *clocks, struct arena *arena,
	struct error *error)
{
	return last_arrival_told(late, NULL, run, question, processes, count, clocks, arena, error);
}

int last_arrival_told(struct last_arrival *late, struct call_waits *told, struct run *run,
	const struct idle_question *question, const struct process *processes, uint32_t count,
	struct host_clocks *clocks, struct arena *arena, struct error *error)
{
	struct call_search search = {.run = run, .question = question, .clocks = clocks, .told = told};
	bool is_whole = false;
	int result;

	search.reach = last_arrival_reach_new(clocks, arena);
	if (!search.reach)
		return error_memory(error);
	search_init(&search);
	result = read_calls(&search, processes, count, &is_whole, error);
	if (!result && (search.count || search.messages.side_count))
		result = last_arrival_judge(late, &search, arena, error);
	late->summed = (uint32_t)search.requests.summed_count;
	if (!result && late->count)
		result = part(late, is_whole, arena, error);
	search_fini(&search);
	return result;
}
