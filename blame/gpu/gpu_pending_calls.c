/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_pending_calls.c - see gpu_pending.h: reads a process's threads in step with its queues, so that only
 * launches of queued work need be kept, in the cache.
 *
 *   threads   |--- read ----------->|
 *   queues    |--- read --------->|          of what begins here all launches are known
 *   sweep     |--- states taken -->          states that the sweep has not taken yet stay in a batch
 */
#include <stdlib.h>
#include <string.h>

#include "blame/gpu/gpu_pending.h"
#include "store/base/array.h"
#include "store/base/avx2.h"
#include "store/states/state_timeline.h"
#include "timeline/scan/scan.h"

#define LINES_BEFORE_NS 100000000u

/* Spans that make a thread's timeline. */
struct states {
	struct batch batch; /* with columns of its own, as long as needed */
	size_t capacity;
};

struct pending_thread {
	struct gpu_pending_launches *of;
	struct scan *scan;
	struct states read, given; /* not taken yet; the batch last returned */
	uint64_t ops;		   /* bits of the operations that say something */
	bool wants_texts;
	uint64_t read_ns; /* calls that begin before are read; UINT64_MAX: all are */
};

struct gpu_pending_launches {
	uint64_t begin_ns, end_ns; /* window */
	struct launches launches;
	struct pending_thread *threads;
	uint32_t count;
	bool is_wanted; /* a thread is in a synchronization call */
	bool are_sorted;
	struct gpu_pending_calls calls; /* of the current batch */
};

/* ---- states ---- */

/* Room for one more. */
static bool states_widen(struct states *states)
{
	struct batch *to = &states->batch;
	size_t capacity = states->capacity ? 2 * states->capacity : 256;

	if (!array_resize(&to->begin_ns, capacity, sizeof(*to->begin_ns)) ||
		!array_resize(&to->end_ns, capacity, sizeof(*to->end_ns)) ||
		!array_resize(&to->context, capacity, sizeof(*to->context)) ||
		!array_resize(&to->what, capacity, sizeof(*to->what)))
		return false;
	states->capacity = capacity;
	return true;
}

#define ROWS_LOOKED_AT 32u

/* Which of so many operations may. */
static uint32_t say_something(const uint32_t *what, uint64_t ops, bool want_texts)
{
	uint32_t low = (uint32_t)ops, all = 0, rows = 0;

	for (unsigned i = 0; i < ROWS_LOOKED_AT; i++) {
		rows |= (low >> (what[i] & 31) & 1) << i;
		all |= what[i];
	}
	if (all < 32)
		return rows;
	rows = 0;
	for (unsigned i = 0; i < ROWS_LOOKED_AT; i++)
		rows |= (uint32_t)(what[i] < STORE_OP_TEXT ? ops >> what[i] & 1 : want_texts) << i;
	return rows;
}

static bool put_state(struct states *states, const struct batch *batch, size_t row)
{
	struct batch *to = &states->batch;

	if (to->count == states->capacity && !states_widen(states))
		return false;
	to->begin_ns[to->count] = batch->begin_ns[row];
	to->end_ns[to->count] = batch->end_ns[row];
	to->context[to->count] = batch->context[row];
	to->what[to->count++] = batch->what[row];
	return true;
}

/* Launches say nothing, and are most. */
static bool take_states(struct pending_thread *thread, const struct batch *batch, size_t count)
{
	uint32_t last[ROWS_LOOKED_AT] = {0};
	const uint32_t *what = batch->what;

	for (size_t at = 0; at < count; at += ROWS_LOOKED_AT, what += ROWS_LOOKED_AT) {
		size_t left = count - at;
		uint32_t rows;

		if (left < ROWS_LOOKED_AT)
			what = memcpy(last, what, left * sizeof(*what));
		rows = say_something(what, thread->ops, thread->wants_texts);
		for (rows &= left < 32 ? (1u << left) - 1 : UINT32_MAX; rows; rows &= rows - 1)
			if (!put_state(&thread->read, batch, at + (unsigned)__builtin_ctz(rows)))
				return false;
	}
	return true;
}

static void states_fini(struct states *states)
{
	free(states->batch.begin_ns);
	free(states->batch.end_ns);
	free(states->batch.context);
	free(states->batch.what);
}

/* ---- threads ---- */

/* Of a span that launched nothing. */
static inline uint64_t is_other(const struct batch *batch, size_t row)
{
	return 0 - (uint64_t)(batch->what[row] != STORE_OP_LAUNCH);
}

static inline uint64_t is_long(const struct batch *batch, size_t row)
{
	return batch->end_ns[row] - batch->begin_ns[row] >= GPU_PENDING_EARLY_NS ? LAUNCHES_LONG : 0;
}

/* The runtime's own records within a call (memory, waits) have the call's link too. */
bool gpu_pending_put_calls(
	struct launches *launches, const struct batch *of, struct gpu_pending_calls *memory)
{
	const struct batch batch = *of; /* what is written is no part of it */
	uint64_t others = 0, lasted_ns = 0;

	for (size_t i = 0; i < batch.count; i++) {
		others |= batch.link[i] & is_other(&batch, i);
		lasted_ns |= batch.end_ns[i] - batch.begin_ns[i];
	}
	if (!others && lasted_ns < GPU_PENDING_EARLY_NS)
		return launches_put(launches, batch.link, batch.end_ns, batch.count);
	for (size_t i = 0; i < batch.count; i++) {
		memory->links[i] = batch.link[i] & ~is_other(&batch, i);
		memory->ends_ns[i] = batch.end_ns[i] | is_long(&batch, i);
	}
	return launches_put(launches, memory->links, memory->ends_ns, batch.count);
}

/* Lines begin where the thread was last sampled: they are seldom read anew. */
static uint64_t read_from(const struct gpu_pending_launches *launches)
{
	uint64_t begin_ns = launches->begin_ns, before_ns = launches->end_ns - begin_ns;

	before_ns = before_ns < LINES_BEFORE_NS ? before_ns : LINES_BEFORE_NS;
	return begin_ns > before_ns ? begin_ns - before_ns : 0;
}

static int thread_open(
	struct gpu_pending_launches *launches, struct run *run, uint32_t stream, struct error *error)
{
	struct pending_thread *thread = &launches->threads[launches->count++];
	bool has_samples = run_stream(run, stream)->s.count[STORE_SAMPLES] != 0;

	thread->of = launches;
	thread->read.batch.stream = thread->given.batch.stream = stream;
	thread->read.batch.track = thread->given.batch.track = STORE_SPANS;
	for (uint32_t op = 0; op < STORE_OP_TEXT; op++)
		thread->ops |= (uint64_t)(span_kind_of(op, false, has_samples) != SPAN_KIND_COUNT) << op;
	thread->wants_texts = span_kind_of(STORE_OP_TEXT, false, has_samples) != SPAN_KIND_COUNT;
	return scan_open(&thread->scan, run, stream, STORE_SPANS, read_from(launches),
		gpu_pending_calls_until(gpu_pending_after(launches->end_ns)),
		STORE_BEGIN | STORE_END | STORE_WHAT | STORE_LINK | STORE_CONTEXT, 0, error);
}

/* Rows that begin before. */
static size_t count_until(const struct batch *batch, uint64_t end_ns)
{
	size_t count = batch->count;

	while (count && batch->begin_ns[count - 1] >= end_ns)
		count--;
	return count;
}

static bool take_rows(struct pending_thread *thread, const struct batch *batch)
{
	struct gpu_pending_launches *of = thread->of;

	of->is_wanted = of->is_wanted || gpu_pending_waits_in(batch, of->begin_ns, of->end_ns);
	return take_states(thread, batch, count_until(batch, of->end_ns)) &&
	       gpu_pending_put_calls(&of->launches, batch, &of->calls);
}

#ifdef STORE_HAS_AVX2
STORE_AVX2 static bool take_rows_wide(struct pending_thread *thread, const struct batch *batch)
{
	return take_rows(thread, batch);
}
#endif

static bool take_rows_best(struct pending_thread *thread, const struct batch *batch)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2())
		return take_rows_wide(thread, batch);
#endif
	return take_rows(thread, batch);
}

/* One batch more, unless all is read. */
static int thread_read(struct pending_thread *thread, struct error *error)
{
	const struct batch *batch;
	long count = scan_next(thread->scan, &batch, error);

	thread->read_ns = count > 0 ? batch->begin_ns[count - 1] : UINT64_MAX;
	if (count <= 0)
		return (int)count;
	return take_rows_best(thread, batch) ? 0 : error_memory(error);
}

static long thread_next(void *own, const struct batch **batch, struct error *error)
{
	struct pending_thread *thread = own;
	struct states given = thread->given;

	while (!thread->read.batch.count && thread->read_ns != UINT64_MAX) {
		int result = thread_read(thread, error);

		if (result)
			return result;
	}
	thread->given = thread->read;
	thread->read = given;
	thread->read.batch.count = 0;
	*batch = &thread->given.batch;
	return (long)thread->given.batch.count;
}

struct extent_source gpu_pending_thread_spans(struct gpu_pending_launches *launches, uint32_t thread)
{
	return (struct extent_source){thread_next, &launches->threads[thread], read_from(launches)};
}

/* ---- all ---- */

int gpu_pending_launches_new(struct gpu_pending_launches **out, struct run *run,
	const struct process *process, uint64_t begin_ns, uint64_t end_ns, bool is_wanted_anyway,
	struct error *error)
{
	struct gpu_pending_launches *launches = calloc(1, sizeof(*launches));
	int result = 0;

	*out = launches;
	if (!launches)
		return error_memory(error);
	launches->begin_ns = begin_ns;
	launches->end_ns = end_ns;
	launches->is_wanted = is_wanted_anyway;
	launches->threads = calloc(process->stream_count + 1u, sizeof(*launches->threads));
	if (!launches->threads)
		result = error_memory(error);
	for (uint32_t i = 0; i < process->stream_count && !result; i++)
		if (run_stream(run, process->streams[i])->s.kind == STORE_STREAM_CPU)
			result = thread_open(launches, run, process->streams[i], error);
	if (result) {
		gpu_pending_launches_free(launches);
		*out = NULL;
	}
	return result;
}

void gpu_pending_launches_free(struct gpu_pending_launches *launches)
{
	if (!launches)
		return;
	for (uint32_t i = 0; i < launches->count; i++) {
		scan_close(launches->threads[i].scan);
		states_fini(&launches->threads[i].read);
		states_fini(&launches->threads[i].given);
	}
	launches_fini(&launches->launches);
	free(launches->threads);
	free(launches);
}

void gpu_pending_launches_pass(struct gpu_pending_launches *launches, uint64_t time_ns)
{
	launches_pass(&launches->launches, gpu_pending_before(time_ns));
}

static int read_all(struct gpu_pending_launches *launches, uint64_t until_ns, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < launches->count; i++)
		while (launches->threads[i].read_ns < until_ns && !result)
			result = thread_read(&launches->threads[i], error);
	return result;
}

int gpu_pending_launches_read(struct gpu_pending_launches *launches, uint64_t until_ns, struct error *error)
{
	int result = read_all(launches, gpu_pending_calls_until(until_ns), error);

	if (result || launches->are_sorted || !launches_have_pairs(&launches->launches))
		return result;
	result = read_all(launches, UINT64_MAX, error);
	launches_sort(&launches->launches);
	launches->are_sorted = true;
	return result;
}

/* ---- since when ---- */

/* Rows of the table whose calls mostly ended shortly before their work began. The sign of a difference marks
 * exceptions (calls that ended much later, or are long); without comparisons the loop is vectorized. */
static void tell_since(
	const uint64_t *rows, const uint64_t *begins_ns, uint64_t *restrict since_ns, size_t count)
{
	uint64_t signs = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t before_ns = begins_ns[i] - rows[i];

		signs |= (before_ns + GPU_PENDING_EARLY_NS) | (GPU_PENDING_REACH_NS - before_ns);
		/* Not at all before where that has a sign. */
		since_ns[i] = begins_ns[i] - (before_ns & ((before_ns >> 63) - 1));
	}
	for (size_t i = 0; signs >> 63 && i < count; i++)
		since_ns[i] = gpu_pending_since_of(rows[i], begins_ns[i]);
}

static uint64_t find_one(const struct launches *launches, uint64_t link, uint64_t begin_ns)
{
	return link ? gpu_pending_since_of(
			      launches_end(launches, link, gpu_pending_calls_until(begin_ns)), begin_ns)
		    : begin_ns;
}

static void find_since(const struct launches *launches, const uint64_t *links, const uint64_t *begins_ns,
	uint64_t *since_ns, size_t count)
{
	struct launches_part table = *launches_table(launches, 0); /* what is written here is no part of it */
	size_t i = 0;

	while (i < count) {
		const uint64_t *rows;
		size_t turn;

		if (!launches_reach(&table, links[i]))
			table = *launches_table(launches, links[i]);
		if (!links[i] || !launches_reach(&table, links[i])) {
			since_ns[i] = find_one(launches, links[i], begins_ns[i]);
			i++;
			continue;
		}
		rows = launches_row(&table, links[i]);
		turn = launches_rows(&table, links + i, count - i);
		turn = turn ? turn : 1;
		tell_since(rows, begins_ns + i, since_ns + i, turn);
		i += turn;
	}
}

#ifdef STORE_HAS_AVX2
STORE_AVX2 static void find_since_wide(const struct launches *launches, const uint64_t *links,
	const uint64_t *begins_ns, uint64_t *since_ns, size_t count)
{
	find_since(launches, links, begins_ns, since_ns, count);
}
#endif

void gpu_pending_find_since(const struct launches *launches, const uint64_t *links, const uint64_t *begins_ns,
	uint64_t *since_ns, size_t count)
{
#ifdef STORE_HAS_AVX2
	if (store_cpu_has_avx2()) {
		find_since_wide(launches, links, begins_ns, since_ns, count);
		return;
	}
#endif
	find_since(launches, links, begins_ns, since_ns, count);
}

void gpu_pending_since(const struct gpu_pending_launches *launches, const uint64_t *links,
	const uint64_t *begins_ns, uint64_t *since_ns, size_t count)
{
	if (launches->is_wanted)
		gpu_pending_find_since(&launches->launches, links, begins_ns, since_ns, count);
	else
		memcpy(since_ns, begins_ns, count * sizeof(*since_ns));
}
