/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_minutes.h - random traces of two minutes of a process, in which work is queued for up to all of that,
 * and what plainly is to be said of a moment of them: for tests of windows.
 */
#ifndef TESTS_BLAME_MINUTES_H
#define TESTS_BLAME_MINUTES_H

#include "tests/unit/blame_trace.h"

#include "blame/base/wait_functions.h"
#include "blame/gpu/gpu_pending.h"

#define WINDOWS 6u
#define THREADS 2u /* what they share is halved: without a rest */
#define QUEUES 2u
#define LINES (THREADS + QUEUES)
#define SPANS 90u /* of a line */
#define TIMES (3 * LINES * SPANS + 2)
#define END_NS UINT64_C(120000000000)

struct drawn {
	struct store_record spans[SPANS];
	size_t count;
};

struct trace {
	struct small_run small;
	struct drawn lines[LINES];
	struct trace_links links;
	uint32_t streams[LINES], ids[LINES];
	struct wait_functions *waits;
	uint32_t main, sync, lock, kernel; /* contexts of the store */
};

/* ---- a random trace ---- */

/* Mostly at once, but seconds and minutes, too. */
static inline uint64_t any_delay(void)
{
	static const uint64_t most_ns[] = {3000, 20000000, 3000000000, 3000000000, 90000000000};

	return small_below(most_ns[small_below(5)]);
}

static inline struct store_record *line_put(
	struct drawn *line, uint64_t begin_ns, uint64_t length_ns, uint32_t op, uint32_t context)
{
	struct store_record *span = &line->spans[line->count++];
	uint64_t end_ns = begin_ns + length_ns < END_NS ? begin_ns + length_ns : END_NS;

	assert_true(line->count <= SPANS);
	*span = (struct store_record){.begin_ns = begin_ns, .end_ns = end_ns, .context = context, .what = op};
	return span;
}

/* What the call launches begins later, or somewhat sooner by a clock that is wrong. */
static inline void put_work(struct trace *trace, const struct store_record *call)
{
	struct drawn *queue = &trace->lines[THREADS + small_below(QUEUES)];
	uint64_t begin_ns = call->begin_ns + any_delay(), early_ns = small_below(9) ? 0 : 50000;

	begin_ns = begin_ns > early_ns ? begin_ns - early_ns : 0;
	if (begin_ns < END_NS && queue->count < SPANS)
		line_put(queue, begin_ns, small_below(small_below(4) ? 200000000 : 4000000000),
			STORE_OP_KERNEL, trace->kernel)
			->link = small_below(12) ? call->link : 0;
}

static inline void put_call(struct trace *trace, struct drawn *thread, uint64_t now_ns)
{
	uint64_t length_ns = small_below(small_below(5) ? 8000 : 2500000000);
	struct store_record *call = line_put(thread, now_ns, length_ns, STORE_OP_LAUNCH, trace->main);
	uint64_t again = 1 + small_below(trace->links.count + 10);

	if (length_ns < 8000 && again <= trace->links.count && trace->links.launched_ns[again - 1] <= now_ns)
		call->link = again;
	else
		call->link = trace_link_new(&trace->links, now_ns);
	for (uint64_t work = small_below(5) ? 1 : small_below(4); work; work--)
		put_work(trace, call);
}

/* Calls follow each other. Some are told once more by the runtime, as part of a call. */
static inline void put_thread(struct trace *trace, struct drawn *thread)
{
	uint64_t now_ns = small_below(2000000000);

	while (now_ns < END_NS && thread->count < SPANS - 1) {
		uint64_t what = small_below(8), length_ns = small_below(small_below(3) ? 6000000000 : 9000);

		if (what < 4) {
			put_call(trace, thread, now_ns);
		} else if (what < 7) {
			line_put(thread, now_ns, length_ns, STORE_OP_SYNC, trace->sync)->link =
				small_below(3) ? 0 : small_below(trace->links.count + 1);
		} else {
			line_put(thread, now_ns, length_ns, STORE_OP_BLOCKED, trace->lock);
		}
		now_ns = thread->spans[thread->count - 1].end_ns + small_below(2) * any_delay() / 8;
	}
}

static inline int begin_compare(const void *left, const void *right)
{
	const struct store_record *a = left, *b = right;

	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* Some launches are lost: no call has the link of their work. */
static inline void write_line(struct trace *trace, uint32_t number)
{
	struct drawn *line = &trace->lines[number];

	qsort(line->spans, line->count, sizeof(*line->spans), begin_compare);
	for (size_t i = 0; i < line->count; i++) {
		struct store_record *span = &line->spans[i];

		if (span->what == STORE_OP_LAUNCH && !small_below(20))
			span->link = 0;
		store_writer_append(trace->small.writer, trace->ids[number], STORE_SPANS, span, 1);
	}
}

static inline void trace_begin(struct trace *trace)
{
	struct store_writer *writer;
	struct error error = {0};

	memset(trace, 0, sizeof(*trace));
	small_begin(&trace->small);
	writer = trace->small.writer;
	trace->main = small_path(writer, "main");
	trace->sync = small_path(writer, "main;sync");
	trace->lock = small_path(writer, "main;lock");
	trace->kernel = small_path(writer, "main;kernel");
	for (uint32_t i = 0; i < LINES; i++)
		trace->ids[i] =
			i < THREADS ? trace_thread(writer, 1, i, END_NS) : trace_queue(writer, 1, i, END_NS);
	for (uint32_t i = 0; i < THREADS; i++) {
		trace_run(writer, trace->ids[i], 0, "main");
		put_thread(trace, &trace->lines[i]);
	}
	for (uint32_t i = 0; i < LINES; i++)
		write_line(trace, i);
	small_ready(&trace->small);
	for (uint32_t i = 0; i < LINES; i++)
		trace->streams[i] = i;
	assert_int_equal(wait_functions_new(&trace->waits, trace->small.run, NULL, &error), 0);
}

static inline void trace_end(struct trace *trace)
{
	wait_functions_free(trace->waits);
	small_end(&trace->small);
}

/* ---- the twin ---- */

/* Whether the work may be the call's: that of a long one begins within it or behind. */
static inline bool may_be_of(const struct store_record *work, const struct store_record *call)
{
	return call->what == STORE_OP_LAUNCH && call->link == work->link &&
	       (call->end_ns <= work->begin_ns + GPU_PENDING_EARLY_NS ||
		       call->end_ns - call->begin_ns >= GPU_PENDING_EARLY_NS);
}

/* From when to its end the process has this work: since its last call, or for as long as it may count. */
static inline uint64_t queued_from(const struct trace *trace, const struct store_record *work)
{
	uint64_t since_ns = work->begin_ns > GPU_PENDING_REACH_NS ? work->begin_ns - GPU_PENDING_REACH_NS : 0;

	if (!work->link)
		return work->begin_ns;
	for (uint32_t t = 0; t < THREADS; t++)
		for (size_t i = 0; i < trace->lines[t].count; i++) {
			const struct store_record *call = &trace->lines[t].spans[i];

			if (may_be_of(work, call) && call->end_ns > since_ns)
				since_ns = call->end_ns;
		}
	return since_ns < work->begin_ns ? since_ns : work->begin_ns;
}

static inline const struct store_record *span_at(const struct drawn *line, uint64_t time_ns, bool is_work)
{
	for (size_t i = 0; i < line->count; i++)
		if (line->spans[i].begin_ns <= time_ns && time_ns < line->spans[i].end_ns &&
			(is_work || line->spans[i].what != STORE_OP_LAUNCH))
			return &line->spans[i];
	return NULL;
}

static inline bool has_work(const struct trace *trace, uint64_t time_ns)
{
	for (uint32_t q = THREADS; q < LINES; q++)
		for (size_t i = 0; i < trace->lines[q].count; i++)
			if (queued_from(trace, &trace->lines[q].spans[i]) <= time_ns &&
				time_ns < trace->lines[q].spans[i].end_ns)
				return true;
	return false;
}

static inline int time_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* All times at which anything changes, and these two, in order: their number. */
static inline size_t times_find(
	const struct trace *trace, uint64_t begin_ns, uint64_t end_ns, uint64_t times_ns[TIMES])
{
	size_t count = 0;

	times_ns[count++] = begin_ns;
	times_ns[count++] = end_ns;
	for (uint32_t l = 0; l < LINES; l++)
		for (size_t i = 0; i < trace->lines[l].count; i++) {
			const struct store_record *span = &trace->lines[l].spans[i];

			times_ns[count++] = span->begin_ns;
			times_ns[count++] = span->end_ns;
			times_ns[count++] = l < THREADS ? span->begin_ns : queued_from(trace, span);
		}
	qsort(times_ns, count, sizeof(*times_ns), time_compare);
	return count;
}

/* Cuts of all of the time, in order: anywhere, some a moment apart. */
static inline void draw_cuts(uint64_t cuts_ns[WINDOWS + 1])
{
	cuts_ns[0] = 0;
	cuts_ns[WINDOWS] = END_NS;
	for (uint32_t i = 1; i < WINDOWS; i++)
		cuts_ns[i] = small_below(3) || i == 1 ? 1 + small_below(END_NS - 1)
						      : cuts_ns[i - 1] + 1 + small_below(40000000);
	for (uint32_t i = 1; i < WINDOWS; i++)
		cuts_ns[i] = cuts_ns[i] < END_NS ? cuts_ns[i] : END_NS;
	qsort(cuts_ns, WINDOWS + 1, sizeof(*cuts_ns), time_compare);
}

#endif
