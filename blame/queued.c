/* SPDX-License-Identifier: Apache-2.0 */
/* queued.c - see queued.h: joins the queues' operations with their launches by link, and unites them. */
#include "blame/queued.h"

#include <stdlib.h>

#include "blame/launches.h"
#include "store/line.h"
#include "timeline/scan.h"

#define EXPECTED_MOST 8388608u /* what is not needed costs no memory, only room for it */
#define SPAN_COLUMNS (STORE_BEGIN | STORE_END | STORE_WHAT | STORE_LINK)

/* Spans that a thread's line is made of. */
struct states {
	struct batch batch; /* with columns of its own, as long as need be */
	size_t room;
	uint64_t ops; /* bits of the operations that say something */
	bool wants_texts;
};

struct search {
	struct states *states; /* of the threads in turn; NULL: not wanted */
	uint32_t state_count;
	struct run *run;
	uint64_t begin_ns, end_ns; /* window */
	struct launches launches;
	struct sweep_span *spans;
	size_t span_count, span_room;
	bool is_wanted; /* a thread is in a synchronization call */
};

static uint64_t before(uint64_t time_ns)
{
	return time_ns > QUEUED_REACH_NS ? time_ns - QUEUED_REACH_NS : 0;
}

static uint64_t after(uint64_t time_ns)
{
	return time_ns < UINT64_MAX - QUEUED_REACH_NS ? time_ns + QUEUED_REACH_NS : UINT64_MAX;
}

/* Room for one more of `size` bytes each. */
static bool widen(void **items, size_t *room, size_t count, size_t size)
{
	size_t wider = *room ? 2 * *room : 256;
	void *grown;

	if (count < *room)
		return true;
	grown = realloc(*items, wider * size);
	if (!grown)
		return false;
	*items = grown;
	*room = wider;
	return true;
}

/* ---- launches ---- */

/* Room for one more. */
static bool states_widen(struct states *states)
{
	struct batch *to = &states->batch;
	size_t room = states->room ? 2 * states->room : 256;
	uint64_t *begin_ns = realloc(to->begin_ns, room * sizeof(*begin_ns)), *end_ns;
	uint32_t *context, *what;

	to->begin_ns = begin_ns ? begin_ns : to->begin_ns;
	end_ns = realloc(to->end_ns, room * sizeof(*end_ns));
	to->end_ns = end_ns ? end_ns : to->end_ns;
	context = realloc(to->context, room * sizeof(*context));
	to->context = context ? context : to->context;
	what = realloc(to->what, room * sizeof(*what));
	to->what = what ? what : to->what;
	if (!begin_ns || !end_ns || !context || !what)
		return false;
	states->room = room;
	return true;
}

/* Whether any of eight operations may. */
static bool says_something(const uint32_t *what, uint64_t ops)
{
	uint64_t says = 0, texts = 0;

	for (int i = 0; i < 8; i++) {
		says |= ops >> (what[i] & 63);
		texts |= what[i];
	}
	return says & 1 || texts >= STORE_OP_TEXT;
}

static bool take_states(struct states *states, const struct batch *batch)
{
	struct batch *to = &states->batch;
	uint64_t ops = states->ops;

	for (size_t i = 0; i < batch->count; i++) {
		uint32_t op;

		/* Launches say nothing, and are most. */
		while (!(i & 7) && i + 8 < batch->count && !says_something(batch->what + i, ops))
			i += 8;
		op = batch->what[i];
		if (!(op < STORE_OP_TEXT ? ops >> op & 1 : states->wants_texts))
			continue;
		if (to->count == states->room && !states_widen(states))
			return false;
		to->begin_ns[to->count] = batch->begin_ns[i];
		to->end_ns[to->count] = batch->end_ns[i];
		to->context[to->count] = batch->context[i];
		to->what[to->count++] = op;
	}
	return true;
}

/* The next thread's. */
static void states_begin(struct search *search, uint32_t stream)
{
	struct states *states = &search->states[search->state_count++];
	bool has_samples = run_stream(search->run, stream)->s.count[STORE_SAMPLES] != 0;

	states->batch.stream = stream;
	states->batch.track = STORE_SPANS;
	for (uint32_t op = 0; op < STORE_OP_TEXT; op++)
		states->ops |= (uint64_t)(line_kind_of(op, false, has_samples) != LINE_KIND_COUNT) << op;
	states->wants_texts = line_kind_of(STORE_OP_TEXT, false, has_samples) != LINE_KIND_COUNT;
}

static void states_free(struct states *states, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		free(states[i].batch.begin_ns);
		free(states[i].batch.end_ns);
		free(states[i].batch.context);
		free(states[i].batch.what);
	}
	free(states);
}

static bool is_sync_within(const struct search *search, const struct batch *batch, size_t row)
{
	return batch->what[row] == STORE_OP_SYNC && batch->end_ns[row] > search->begin_ns &&
	       batch->begin_ns[row] < search->end_ns;
}

static bool take_thread(struct search *search, const struct batch *batch)
{
	for (size_t i = 0; i < batch->count && !search->is_wanted; i++)
		search->is_wanted = is_sync_within(search, batch, i);
	if (search->states && !take_states(&search->states[search->state_count - 1], batch))
		return false;
	return launches_put(&search->launches, batch->link, batch->end_ns, batch->count);
}

/* ---- operations ---- */

static bool is_work(uint32_t op)
{
	return !store_op_is_state(op) && op != STORE_OP_NONE && op != STORE_OP_SYNC && op != STORE_OP_RANGE;
}

/* Spans of a queue come in order of begin: what overlaps its predecessor is united with it at once. */
static bool put_span(struct search *search, uint64_t begin_ns, uint64_t end_ns)
{
	if (search->span_count) {
		struct sweep_span *last = &search->spans[search->span_count - 1];

		if (begin_ns >= last->begin_ns && begin_ns <= last->end_ns) {
			last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
			return true;
		}
	}
	if (!widen((void **)&search->spans, &search->span_room, search->span_count, sizeof(*search->spans)))
		return false;
	search->spans[search->span_count++] = (struct sweep_span){begin_ns, end_ns};
	return true;
}

static inline uint64_t since(const struct search *search, uint64_t link, uint64_t begin_ns)
{
	uint64_t queued_ns = launches_end(&search->launches, link);

	if (queued_ns < before(begin_ns))
		return before(begin_ns);
	return queued_ns < begin_ns ? queued_ns : begin_ns;
}

static bool take_queue(struct search *search, const struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		if (is_work(batch->what[i]) && batch->end_ns[i] > batch->begin_ns[i] &&
			!put_span(
				search, since(search, batch->link[i], batch->begin_ns[i]), batch->end_ns[i]))
			return false;
	return true;
}

/* Hands the spans of a stream to `take`, batch by batch. */
static int each_span(struct search *search, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	bool (*take)(struct search *search, const struct batch *batch), struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count;
	int result = scan_open(&scan, search->run, stream, STORE_SPANS, begin_ns, end_ns,
		search->states ? SPAN_COLUMNS | STORE_CONTEXT : SPAN_COLUMNS, 0, error);

	if (result)
		return result;
	while (!result && (count = scan_next(scan, &batch, error)) != 0)
		result = count < 0 ? (int)count : take(search, batch) ? 0 : error_memory(error);
	scan_close(scan);
	return result;
}

static int span_compare(const void *left, const void *right)
{
	const struct sweep_span *a = left, *b = right;

	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* Unites what overlaps, of all queues. */
static void spans_unite(struct search *search)
{
	size_t count = 0;

	if (search->span_count)
		qsort(search->spans, search->span_count, sizeof(*search->spans), span_compare);
	for (size_t i = 0; i < search->span_count; i++) {
		const struct sweep_span span = search->spans[i];
		struct sweep_span *last = count ? &search->spans[count - 1] : NULL;

		if (!last || span.begin_ns > last->end_ns)
			search->spans[count++] = span;
		else if (span.end_ns > last->end_ns)
			last->end_ns = span.end_ns;
	}
	search->span_count = count;
}

/* At most so many, as a rule. */
static uint64_t launches_expected(const struct run *run, const struct process *process)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < process->stream_count; i++) {
		const struct store_stream *s = &run_stream(run, process->streams[i])->s;

		count += s->kind == STORE_STREAM_CPU ? s->count[STORE_SPANS] : 0;
	}
	return count < EXPECTED_MOST ? count : EXPECTED_MOST;
}

/* Launches of the threads, in order of their links. */
static int search_threads(struct search *search, const struct process *process, struct error *error)
{
	int result = 0;

	search->launches.expected = launches_expected(search->run, process);

	for (uint32_t i = 0; i < process->stream_count && !result; i++) {
		if (run_stream(search->run, process->streams[i])->s.kind != STORE_STREAM_CPU)
			continue;
		if (search->states)
			states_begin(search, process->streams[i]);
		result = each_span(search, process->streams[i], before(search->begin_ns), search->end_ns,
			take_thread, error);
	}
	if (!result)
		launches_sort(&search->launches);
	return result;
}

static int search_queues(struct search *search, const struct process *process, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < process->stream_count && !result; i++)
		if (run_stream(search->run, process->streams[i])->s.kind == STORE_STREAM_GPU)
			result = each_span(search, process->streams[i], search->begin_ns,
				after(search->end_ns), take_queue, error);
	return result;
}

int queued_find(struct sweep_span **spans, size_t *count, struct run *run, const struct process *process,
	uint64_t begin_ns, uint64_t end_ns, bool is_wanted_anyway, struct error *error)
{
	struct search search = {
		.run = run, .begin_ns = begin_ns, .end_ns = end_ns, .is_wanted = is_wanted_anyway};
	int result = search_threads(&search, process, error);

	if (!result && search.is_wanted)
		result = search_queues(&search, process, error);

	launches_fini(&search.launches);
	if (result) {
		free(search.spans);
		return result;
	}
	spans_unite(&search);
	*spans = search.spans;
	*count = search.span_count;
	return 0;
}

/* ---- launches alone ---- */

struct queued_launches {
	struct search search;
};

int queued_launches_new(struct queued_launches **launches, struct run *run, const struct process *process,
	uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	struct search *search;
	int result;

	*launches = calloc(1, sizeof(**launches));
	if (!*launches)
		return error_memory(error);
	search = &(*launches)->search;
	*search = (struct search){.run = run, .begin_ns = begin_ns, .end_ns = end_ns};
	search->states = calloc(process->stream_count + 1u, sizeof(*search->states));
	result = search->states ? search_threads(search, process, error) : error_memory(error);
	if (result) {
		queued_launches_free(*launches);
		*launches = NULL;
	}
	return result;
}

bool queued_is_wanted(const struct queued_launches *launches)
{
	return launches->search.is_wanted;
}

const struct batch *queued_thread_spans(
	const struct queued_launches *launches, uint32_t thread, uint64_t *since_ns)
{
	*since_ns = before(launches->search.begin_ns);
	return &launches->search.states[thread].batch;
}

void queued_launches_free(struct queued_launches *launches)
{
	if (!launches)
		return;
	states_free(launches->search.states, launches->search.state_count);
	launches_fini(&launches->search.launches);
	free(launches);
}

void queued_since(const struct queued_launches *launches, const uint64_t *links, const uint64_t *begins_ns,
	uint64_t *since_ns, size_t count)
{
	const struct launches of = launches->search.launches; /* what is written here is no part of it */

	for (size_t i = 0; i < count; i++) {
		uint64_t begin_ns = begins_ns[i], least_ns = before(begin_ns);
		uint64_t queued_ns = launches_end(&of, links[i]);

		queued_ns = queued_ns > least_ns ? queued_ns : least_ns;
		since_ns[i] = queued_ns < begin_ns ? queued_ns : begin_ns;
	}
}
