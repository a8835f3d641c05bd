/* SPDX-License-Identifier: Apache-2.0 */
/* wait_end.c - see wait_end.h. One scan finds the wait, one more per stream of its process who ended it. */
#include "blame/wait/wait_end.h"

#include <stdlib.h>
#include <string.h>

#include "blame/base/wait_functions.h"
#include "blame/wait/wait_causes.h"
#include "store/base/array.h"
#include "store/base/attribute.h"
#include "timeline/report/process_tree.h"
#include "timeline/scan/scan.h"

#define LATE_NS 10000000u  /* an end may be recorded so much after those who waited for it know */
#define SIGNAL_NS 5000000u /* SIGCHLD comes so soon after the end of a child */
#define NAME_BYTES 64

/* What a span says that it waits for, the least telling first. */
enum wait_class { CLASS_NONE, CLASS_BLOCKED, CLASS_SYNC, CLASS_CALL, CLASS_BARRIER, CLASS_LOCK, CLASS_COUNT };

struct wait_span {
	uint64_t begin_ns, end_ns;
	uint32_t context, op;
	const char *text; /* attributes */
	size_t size;
};

struct search {
	struct run *run;
	uint32_t stream;
	enum wait_class class;
	struct wait_span wait;
	char lock[NAME_BYTES], comm[NAME_BYTES]; /* of the lock, barrier or communicator; "": none */
	struct wait_end *found;
	uint64_t best_ns; /* by which the one found is chosen; 0: none yet */
	struct holding *holdings;
	size_t holding_count, holding_capacity;
	bool is_short; /* of memory */
};

/* ---- the wait ---- */

static enum wait_class class_of(const struct run *run, uint32_t op)
{
	static const struct {
		const char *name;
		enum wait_class class;
	} names[] = {{"lock", CLASS_LOCK}, {"gil", CLASS_LOCK}, {"barrier", CLASS_BARRIER},
		{"wait", CLASS_BLOCKED}};

	if (op == STORE_OP_BLOCKED)
		return CLASS_BLOCKED;
	if (op == STORE_OP_SYNC)
		return CLASS_SYNC;
	if (op == STORE_OP_MPI)
		return CLASS_CALL;
	for (size_t i = 0; op >= STORE_OP_COUNT && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(run_op_name(run, op), names[i].name) == 0)
			return names[i].class;
	return CLASS_NONE;
}

static uint64_t overlap_ns(const struct wait_span *span, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t from = span->begin_ns > begin_ns ? span->begin_ns : begin_ns;
	uint64_t until = span->end_ns < end_ns ? span->end_ns : end_ns;

	return until > from ? until - from : 0;
}

static struct wait_span span_of(const struct run *run, const struct batch *batch, size_t row)
{
	struct wait_span span = {.begin_ns = batch->begin_ns[row],
		.end_ns = batch->end_ns[row],
		.context = batch->context[row],
		.op = batch->what[row]};

	span.text = batch_attributes(run, batch, row, &span.size);
	return span;
}

#define WAIT_COLUMNS (STORE_END | STORE_CONTEXT | STORE_WHAT | STORE_ATTRIBUTES)

/* Calls `take` for each wait of a stream in [begin, end). */
static int each_wait(struct search *search, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
	void (*take)(struct search *search, uint32_t stream, enum wait_class class,
		const struct wait_span *span, void *own),
	void *own, struct error *error)
{
	const struct batch *batch;
	struct scan *scan;
	long count = 0;
	int result =
		scan_open(&scan, search->run, stream, STORE_SPANS, begin_ns, end_ns, WAIT_COLUMNS, 0, error);

	if (result)
		return result;
	while ((count = scan_next(scan, &batch, error)) > 0) {
		for (size_t row = 0; row < batch->count; row++) {
			enum wait_class class = class_of(search->run, batch->what[row]);
			struct wait_span span;

			if (class == CLASS_NONE)
				continue;
			span = span_of(search->run, batch, row);
			take(search, stream, class, &span, own);
		}
	}
	scan_close(scan);
	return count < 0 ? (int)count : 0;
}

/* By class, the wait that fills most of the place that was asked for. */
struct fill {
	uint64_t begin_ns, end_ns;
	struct wait_span spans[CLASS_COUNT];
	uint64_t most_ns[CLASS_COUNT];
};

static void fill_take(struct search *search, uint32_t stream, enum wait_class class,
	const struct wait_span *span, void *own)
{
	struct fill *fill = own;
	uint64_t overlap = overlap_ns(span, fill->begin_ns, fill->end_ns);

	(void)search;
	(void)stream;
	if (overlap > fill->most_ns[class]) {
		fill->most_ns[class] = overlap;
		fill->spans[class] = *span;
	}
}

/* A lock's wait has a blocked one within: the class that tells more wins where it fills half as much. */
static int find_wait(struct search *search, uint64_t begin_ns, uint64_t end_ns, struct error *error)
{
	struct fill fill = {.begin_ns = begin_ns, .end_ns = end_ns};
	int result = each_wait(search, search->stream, begin_ns, end_ns, fill_take, &fill, error);
	uint64_t most_ns = 0;

	for (int class = 0; class < CLASS_COUNT; class ++)
		most_ns = fill.most_ns[class] > most_ns ? fill.most_ns[class] : most_ns;
	for (int class = CLASS_COUNT - 1; class > CLASS_NONE && most_ns; class --) {
		if (fill.most_ns[class] < most_ns - most_ns / 2)
			continue;
		search->class = (enum wait_class) class;
		search->wait = fill.spans[class];
		break;
	}
	if (search->class == CLASS_NONE)
		return result;
	attribute_get(search->wait.text, search->wait.size, "lock", search->lock, NAME_BYTES);
	attribute_get(search->wait.text, search->wait.size, "comm", search->comm, NAME_BYTES);
	return result;
}

/* ---- streams ---- */

static bool is_same_process(const struct run_stream *a, const struct run_stream *b)
{
	return a->store == b->store && a->s.pid == b->s.pid && a->s.generation == b->s.generation;
}

static void tell(
	struct search *search, enum wait_end_by by, uint32_t stream, uint64_t from_ns, uint64_t until_ns)
{
	struct wait_end *found = search->found;

	found->by = by;
	found->stream = stream;
	found->from_ns = from_ns;
	found->until_ns = until_ns;
}

/* The thread of that number on the wait's host, alive in it; UINT32_MAX: none. */
static uint32_t thread_of(const struct search *search, uint64_t tid, bool is_own_process)
{
	const struct run_stream *own = run_stream(search->run, search->stream);

	for (uint32_t i = 0; tid && i < run_stream_count(search->run); i++) {
		const struct run_stream *s = run_stream(search->run, i);

		if (s->s.kind == STORE_STREAM_CPU && s->s.tid == tid && s->store == own->store &&
			s->s.begin_ns < search->wait.end_ns && s->s.end_ns > search->wait.begin_ns &&
			(!is_own_process || is_same_process(s, own)))
			return i;
	}
	return UINT32_MAX;
}

/* `take` for the waits, between the wait's begin and end, of all other threads of its process or, with
 * `is_other_process`, of all other processes. */
static int each_other(struct search *search, bool is_other_process,
	void (*take)(struct search *search, uint32_t stream, enum wait_class class,
		const struct wait_span *span, void *own),
	struct error *error)
{
	const struct run_stream *own = run_stream(search->run, search->stream);
	int result = 0;

	for (uint32_t i = 0; i < run_stream_count(search->run) && !result; i++) {
		const struct run_stream *s = run_stream(search->run, i);

		if (i == search->stream || s->s.kind != STORE_STREAM_CPU ||
			is_same_process(s, own) == is_other_process || s->s.begin_ns >= search->wait.end_ns ||
			s->s.end_ns <= search->wait.begin_ns)
			continue;
		result = each_wait(search, i, search->wait.begin_ns, search->wait.end_ns, take, NULL, error);
	}
	return result;
}

/* ---- locks ---- */

/* From then on that thread has the lock. */
struct holding {
	uint64_t begin_ns;
	uint32_t stream;
};

static bool holding_put(struct search *search, uint64_t begin_ns, uint32_t stream)
{
	if (!array_widen(&search->holdings, &search->holding_capacity, search->holding_count,
		    sizeof(*search->holdings)))
		return false;
	search->holdings[search->holding_count++] = (struct holding){begin_ns, stream};
	return true;
}

/* Who gets the lock in the wait, ahead of this thread. */
static void lock_take(struct search *search, uint32_t stream, enum wait_class class,
	const struct wait_span *span, void *own)
{
	char lock[NAME_BYTES];

	(void)own;
	if (class != CLASS_LOCK || span->end_ns <= search->wait.begin_ns ||
		span->end_ns >= search->wait.end_ns || attribute_number(span->text, span->size, "again", 0) ||
		!attribute_get(span->text, span->size, "lock", lock, sizeof(lock)) ||
		strcmp(lock, search->lock) != 0)
		return;
	search->is_short = search->is_short || !holding_put(search, span->end_ns, stream);
}

static int holding_compare(const void *left, const void *right)
{
	const struct holding *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (a->stream > b->stream) - (a->stream < b->stream);
}

/* Many may have it in one wait, one after the other: the one that had it longest. */
static void tell_longest(struct search *search)
{
	qsort(search->holdings, search->holding_count, sizeof(*search->holdings), holding_compare);
	for (size_t i = 0; i < search->holding_count; i++) {
		const struct holding *holding = &search->holdings[i];
		uint64_t until_ns = i + 1 < search->holding_count ? holding[1].begin_ns : search->wait.end_ns;

		if (holding->stream == UINT32_MAX || until_ns - holding->begin_ns <= search->best_ns)
			continue;
		search->best_ns = until_ns - holding->begin_ns;
		tell(search, WAIT_END_HOLDER, holding->stream, holding->begin_ns, until_ns);
		if (strcmp(run_op_name(search->run, search->wait.op), "gil") == 0)
			search->found->cause = wait_cause_names[CAUSE_GIL];
	}
}

static int find_holder(struct search *search, struct error *error)
{
	uint32_t holder =
		thread_of(search, attribute_number(search->wait.text, search->wait.size, "holder", 0), true);
	int result = 0;

	search->is_short =
		!holding_put(search, search->wait.begin_ns, holder == search->stream ? UINT32_MAX : holder);
	if (search->lock[0])
		result = each_other(search, false, lock_take, error);
	if (!result && search->is_short)
		result = error_memory(error);
	if (!result)
		tell_longest(search);
	free(search->holdings);
	return result;
}

/* ---- barriers and calls ---- */

static bool is_of_same(const struct search *search, const struct wait_span *span)
{
	char comm[NAME_BYTES];

	return attribute_get(span->text, span->size, "comm", comm, sizeof(comm)) &&
	       strcmp(comm, search->comm) == 0 &&
	       attribute_number(span->text, span->size, "seq", 0) ==
		       attribute_number(search->wait.text, search->wait.size, "seq", 0);
}

/* The last one to arrive. */
static void arrival_take(struct search *search, uint32_t stream, enum wait_class class,
	const struct wait_span *span, void *own)
{
	(void)own;
	if (class != search->class || span->begin_ns < search->best_ns || !is_of_same(search, span) ||
		span->end_ns <= search->wait.begin_ns)
		return;
	search->best_ns = span->begin_ns;
	if (span->begin_ns > search->wait.begin_ns)
		tell(search, WAIT_END_LAST, stream, search->wait.begin_ns, span->begin_ns);
	else
		search->found->by = WAIT_END_ITSELF;
}

/* First thread of the process with that rank; UINT32_MAX: none. */
static uint32_t rank_thread(const struct search *search, uint64_t rank)
{
	for (uint32_t i = 0; rank <= INT32_MAX && i < run_stream_count(search->run); i++) {
		const struct run_stream *s = run_stream(search->run, i);

		if (s->s.kind == STORE_STREAM_CPU && s->s.rank == (int32_t)rank &&
			s->s.begin_ns < search->wait.end_ns && s->s.end_ns > search->wait.begin_ns)
			return i;
	}
	return UINT32_MAX;
}

static int find_caller(struct search *search, struct error *error)
{
	const struct wait_span *wait = &search->wait;
	uint64_t peer;
	uint32_t thread;

	if (attribute_number(wait->text, wait->size, "seq", 0))
		return each_other(search, true, arrival_take, error);
	/* numbers of other communicators are no ranks */
	peer = attribute_number(wait->text, wait->size, "source",
		attribute_number(wait->text, wait->size, "peer", UINT64_MAX));
	thread = strcmp(search->comm, "world") == 0 ? rank_thread(search, peer) : UINT32_MAX;
	if (thread != UINT32_MAX && thread != search->stream)
		tell(search, WAIT_END_PEER, thread, wait->begin_ns, wait->end_ns);
	return 0;
}

/* ---- queues ---- */

static int look_at_queue(struct search *search, uint32_t queue, struct error *error)
{
	const uint64_t begin_ns = search->wait.begin_ns, end_ns = search->wait.end_ns;
	const struct batch *batch;
	struct scan *scan;
	long count = 0;
	int result = scan_open(
		&scan, search->run, queue, STORE_SPANS, begin_ns, end_ns, STORE_END | STORE_WHAT, 0, error);

	if (result)
		return result;
	while ((count = scan_next(scan, &batch, error)) > 0) {
		for (size_t row = 0; row < batch->count; row++) {
			uint64_t at_ns = batch->end_ns[row];

			if (batch->what[row] != STORE_OP_KERNEL && batch->what[row] != STORE_OP_COPY &&
				batch->what[row] != STORE_OP_SET)
				continue;
			if (at_ns <= begin_ns || at_ns > end_ns || at_ns <= search->best_ns)
				continue;
			search->best_ns = at_ns;
			tell(search, WAIT_END_OPERATION, queue, batch->begin_ns[row], at_ns);
		}
	}
	scan_close(scan);
	return count < 0 ? (int)count : 0;
}

static int find_operation(struct search *search, struct error *error)
{
	const struct run_stream *own = run_stream(search->run, search->stream);
	int result = 0;

	for (uint32_t i = 0; i < run_stream_count(search->run) && !result; i++) {
		const struct run_stream *s = run_stream(search->run, i);

		if (s->s.kind == STORE_STREAM_GPU && is_same_process(s, own))
			result = look_at_queue(search, i, error);
	}
	return result;
}

/* ---- threads and children ---- */

/* The path of the wait goes through one of these functions. */
static bool is_in(const struct search *search, const char *const *names)
{
	uint32_t scope =
		search->wait.context ? run_context(search->run, search->wait.context)->scope : UINT32_MAX;

	for (; scope != UINT32_MAX && scope != RUN_SCOPE_PROGRAM_ROOT;
		scope = run_scope(search->run, scope)->parent) {
		const char *name = run_function(search->run, run_scope(search->run, scope)->function)->name;

		for (size_t i = 0; names[i]; i++)
			if (strcmp(name, names[i]) == 0)
				return true;
	}
	return false;
}

/* It ended in the wait, later than any other so far; or, where none did, soonest after it. */
static bool is_better_end(const struct search *search, uint64_t end_ns)
{
	const struct wait_span *wait = &search->wait;
	bool is_late = search->best_ns > wait->end_ns;

	if (end_ns <= wait->begin_ns)
		return false;
	if (end_ns <= wait->end_ns)
		return is_late || end_ns > search->best_ns;
	return end_ns - wait->end_ns <= LATE_NS &&
	       (!search->best_ns || (is_late && end_ns < search->best_ns));
}

static void find_joined(struct search *search)
{
	const struct run_stream *own = run_stream(search->run, search->stream);

	for (uint32_t i = 0; i < run_stream_count(search->run); i++) {
		const struct run_stream *s = run_stream(search->run, i);

		if (i == search->stream || s->s.kind != STORE_STREAM_CPU || !is_same_process(s, own) ||
			!is_better_end(search, s->s.end_ns))
			continue;
		search->best_ns = s->s.end_ns;
		tell(search, WAIT_END_THREAD, i, search->wait.begin_ns, s->s.end_ns);
	}
}

/* `is_by_signal`: the call ends by any signal, so that only a child tells that ended just then. */
static int find_child(struct search *search, bool is_by_signal, struct error *error)
{
	struct arena arena = {0};
	struct process_tree tree;
	int result = process_tree_make(&tree, search->run, &arena, error);
	uint32_t own = result ? 0 : tree.node_of[search->stream];

	for (uint32_t i = 0; !result && i < tree.count; i++) {
		const struct process_tree_node *node = &tree.nodes[i];

		if (node->parent != own || !is_better_end(search, node->end_ns) ||
			(is_by_signal && (node->end_ns + SIGNAL_NS < search->wait.end_ns ||
						 node->end_ns > search->wait.end_ns + SIGNAL_NS)))
			continue;
		search->best_ns = node->end_ns;
		tell(search, WAIT_END_CHILD, node->stream, search->wait.begin_ns, node->end_ns);
	}
	arena_fini(&arena);
	return result;
}

static int find_waker(struct search *search, struct error *error)
{
	static const char *const joins[] = {"pthread_join", "pthread_timedjoin_np", "pthread_clockjoin_np",
		"thrd_join", "Thread.join", NULL}; /* the last one is Python's */
	static const char *const waits[] = {"wait", "wait3", "wait4", "waitpid", "waitid", NULL};
	static const char *const signals[] = {"pselect", "ppoll", "epoll_pwait", "sigsuspend", "sigwait",
		"sigwaitinfo", "sigtimedwait", "pause", NULL};
	uint32_t waker =
		thread_of(search, attribute_number(search->wait.text, search->wait.size, "waker", 0), false);

	if (waker != UINT32_MAX) {
		tell(search, WAIT_END_WAKER, waker, search->wait.begin_ns, search->wait.end_ns);
		return 0;
	}
	if (is_in(search, joins))
		find_joined(search);
	else if (is_in(search, waits))
		return find_child(search, false, error);
	else if (is_in(search, signals))
		return find_child(search, true, error);
	return 0;
}

/* ---- what the causes of waits tell of the rest ---- */

static enum wait_end_by by_of(enum wait_cause_kind kind)
{
	switch (kind) {
	case CAUSE_LOCK:
	case CAUSE_GIL:
		return WAIT_END_HOLDER;
	case CAUSE_BARRIER:
	case CAUSE_COLLECTIVE:
		return WAIT_END_LAST;
	case CAUSE_JOIN:
		return WAIT_END_THREAD;
	case CAUSE_CHILD:
		return WAIT_END_CHILD;
	case CAUSE_GPU:
		return WAIT_END_OPERATION;
	case CAUSE_MESSAGE:
		return WAIT_END_PEER;
	case CAUSE_CONDITION:
	case CAUSE_SEMAPHORE:
	case CAUSE_PIPE:
	case CAUSE_SOCKET:
	case CAUSE_EVENTFD:
	case CAUSE_SIGNAL:
		return WAIT_END_WAKER;
	default:
		return WAIT_END_UNTOLD;
	}
}

/* The longest part of the wait whose party is known. */
static void tell_cause(struct search *search, const struct wait_causes *causes)
{
	size_t count;
	const struct wait_cause *of = wait_causes_of(causes->list, causes->count, search->stream, &count);

	for (size_t i = 0; i < count; i++) {
		const struct wait_cause *cause = &of[i];
		uint64_t until_ns = cause->from_ns > cause->begin_ns && cause->from_ns < cause->end_ns
					    ? cause->from_ns
					    : cause->end_ns;

		if (cause->party == CAUSE_NOBODY || cause->party == search->stream ||
			by_of(cause->kind) == WAIT_END_UNTOLD ||
			cause->end_ns - cause->begin_ns <= search->best_ns)
			continue;
		search->best_ns = cause->end_ns - cause->begin_ns;
		tell(search, by_of(cause->kind), cause->party, cause->begin_ns, until_ns);
		search->found->cause = wait_cause_names[cause->kind];
	}
}

static int find_cause(struct search *search, struct error *error)
{
	struct idle_question question = {.begin_ns = search->wait.begin_ns, .end_ns = search->wait.end_ns};
	uint32_t count = run_stream_count(search->run);
	struct wait_causes causes = {0};
	struct arena arena = {0};
	uint32_t *streams = arena_calloc(&arena, (size_t)count + 1, sizeof(*streams));
	struct wait_functions *waits = NULL;
	int result = streams ? wait_functions_new(&waits, search->run, NULL, error) : error_memory(error);

	search->best_ns = 0;
	for (uint32_t i = 0; streams && i < count; i++)
		if (store_stream_has_states(run_stream(search->run, i)->s.kind))
			streams[question.stream_count++] = i;
	question.streams = streams;
	question.waits = waits;
	if (!result) {
		result = wait_causes_find(&causes, search->run, &question, &arena, error);
		if (!result)
			tell_cause(search, &causes);
		wait_causes_fini(&causes);
	}
	wait_functions_free(waits);
	arena_fini(&arena);
	return result;
}

static int find_by_class(struct search *search, struct error *error)
{
	switch (search->class) {
	case CLASS_LOCK:
		return find_holder(search, error);
	case CLASS_BARRIER:
		return search->comm[0] ? each_other(search, false, arrival_take, error) : 0;
	case CLASS_CALL:
		return find_caller(search, error);
	case CLASS_SYNC:
		return find_operation(search, error);
	default:
		return find_waker(search, error);
	}
}

int wait_end_find(struct wait_end *found, struct run *run, uint32_t stream, uint64_t begin_ns,
	uint64_t end_ns, struct error *error)
{
	struct search search = {.run = run, .stream = stream, .found = found};
	int result;

	*found = (struct wait_end){.stream = UINT32_MAX, .cause = ""};
	result = find_wait(&search, begin_ns, end_ns, error);
	if (result || search.class == CLASS_NONE)
		return result;
	found->by = WAIT_END_UNTOLD;
	found->begin_ns = search.wait.begin_ns;
	found->end_ns = search.wait.end_ns;
	result = find_by_class(&search, error);
	if (!result && found->by == WAIT_END_UNTOLD && found->end_ns < run_end_ns(run))
		result = find_cause(&search, error);
	return result;
}

bool wait_end_is_open(const struct run *run, uint32_t stream, const struct wait_end *end)
{
	return end->end_ns >= run_stream(run, stream)->s.end_ns;
}

int wait_end_circle(uint32_t found[WAIT_END_CIRCLE], uint32_t *count, struct run *run, uint32_t stream,
	struct error *error)
{
	uint32_t at = stream, steps = 0;

	*count = 0;
	do {
		uint64_t end_ns = run_stream(run, at)->s.end_ns;
		struct wait_end end;
		int result = wait_end_find(&end, run, at, end_ns - 1, end_ns, error);

		/* Who held it longest may have given it to another since. */
		if (result || end.by != WAIT_END_HOLDER || !wait_end_is_open(run, at, &end) ||
			end.until_ns < end.end_ns)
			return result;
		found[steps++] = at;
		at = end.stream;
	} while (at != stream && steps < WAIT_END_CIRCLE);
	*count = at == stream ? steps : 0;
	return 0;
}
