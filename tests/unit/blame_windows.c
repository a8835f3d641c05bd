/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_windows.c - idleness of traces of minutes, in which work is queued for up to all of that: any window
 * says what a plain twin says that knows the whole trace, so that windows add up, swept or by kept sums, at
 * once or in blocks.
 */
#include "tests/unit/blame_trace.h"

#include <glob.h>
#include <limits.h>

#include "blame/blocks.h"
#include "blame/idle.h"
#include "blame/queued.h"
#include "blame/rolled.h"

#define ROUNDS 60
#define WINDOWS 6u
#define THREADS 2u /* what they share is halved: without a rest */
#define QUEUES 2u
#define LINES (THREADS + QUEUES)
#define SPANS 90u /* of a line */
#define END_NS UINT64_C(120000000000)
#define CONTEXTS 16u

struct drawn {
	struct store_record spans[SPANS];
	size_t count;
};

struct trace {
	struct small_run small;
	struct drawn lines[LINES];
	struct trace_links links;
	uint64_t call_end_ns[256]; /* by link */
	uint32_t streams[LINES], ids[LINES];
	struct waits *waits;
	uint32_t main, sync, lock, kernel; /* contexts of the store */
};

struct answer {
	uint64_t busy_ns, idle_ns, blamed_ns, all_idle_ns;
	uint64_t halves[2][CONTEXTS]; /* of a ns: blamed, waited; by run context */
};

/* ---- a random trace ---- */

/* Mostly at once, but seconds and minutes, too. */
static uint64_t any_delay(void)
{
	static const uint64_t most_ns[] = {3000, 20000000, 3000000000, 3000000000, 90000000000};

	return small_below(most_ns[small_below(5)]);
}

static struct store_record *line_put(
	struct drawn *line, uint64_t begin_ns, uint64_t length_ns, uint32_t op, uint32_t context)
{
	struct store_record *span = &line->spans[line->count++];
	uint64_t end_ns = begin_ns + length_ns < END_NS ? begin_ns + length_ns : END_NS;

	assert_true(line->count <= SPANS);
	*span = (struct store_record){.begin_ns = begin_ns, .end_ns = end_ns, .context = context, .what = op};
	return span;
}

/* What the call launches begins later, or somewhat sooner by a clock that is wrong. */
static void put_work(struct trace *trace, const struct store_record *call)
{
	struct drawn *queue = &trace->lines[THREADS + small_below(QUEUES)];
	uint64_t begin_ns = call->begin_ns + any_delay(), early_ns = small_below(9) ? 0 : 50000;

	begin_ns = begin_ns > early_ns ? begin_ns - early_ns : 0;
	if (begin_ns < END_NS && queue->count < SPANS)
		line_put(queue, begin_ns, small_below(small_below(4) ? 200000000 : 4000000000),
			STORE_OP_KERNEL, trace->kernel)
			->link = small_below(12) ? call->link : 0;
}

static void put_call(struct trace *trace, struct drawn *thread, uint64_t now_ns)
{
	uint64_t length_ns = small_below(small_below(5) ? 8000 : 2500000000);
	struct store_record *call = line_put(thread, now_ns, length_ns, STORE_OP_LAUNCH, trace->main);

	call->link = trace_link_new(&trace->links, now_ns);
	trace->call_end_ns[call->link] = call->end_ns;
	for (uint64_t work = small_below(5) ? 1 : small_below(4); work; work--)
		put_work(trace, call);
}

/* Calls follow each other. Some are told once more by the runtime, as part of a call. */
static void put_thread(struct trace *trace, struct drawn *thread)
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

static int begin_compare(const void *left, const void *right)
{
	const struct store_record *a = left, *b = right;

	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* Some launches are lost. */
static void write_line(struct trace *trace, uint32_t number)
{
	struct drawn *line = &trace->lines[number];

	qsort(line->spans, line->count, sizeof(*line->spans), begin_compare);
	for (size_t i = 0; i < line->count; i++) {
		struct store_record *span = &line->spans[i];

		if (span->what == STORE_OP_LAUNCH && !small_below(20)) {
			trace->call_end_ns[span->link] = 0;
			span->link = 0;
		}
		store_writer_append(trace->small.writer, trace->ids[number], STORE_SPANS, span, 1);
	}
}

static void trace_begin(struct trace *trace)
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
	assert_int_equal(waits_new(&trace->waits, trace->small.run, NULL, &error), 0);
}

static void trace_end(struct trace *trace)
{
	waits_free(trace->waits);
	small_end(&trace->small);
}

/* ---- the twin ---- */

/* From when to its end the process has this work. */
static uint64_t queued_from(const struct trace *trace, const struct store_record *work)
{
	uint64_t reach_ns = work->begin_ns > QUEUED_REACH_NS ? work->begin_ns - QUEUED_REACH_NS : 0;
	uint64_t call_ns = trace->call_end_ns[work->link];

	if (!work->link || call_ns > work->begin_ns)
		return work->begin_ns;
	return call_ns > reach_ns ? call_ns : reach_ns;
}

static const struct store_record *span_at(const struct drawn *line, uint64_t time_ns, bool is_work)
{
	for (size_t i = 0; i < line->count; i++)
		if (line->spans[i].begin_ns <= time_ns && time_ns < line->spans[i].end_ns &&
			(is_work || line->spans[i].what != STORE_OP_LAUNCH))
			return &line->spans[i];
	return NULL;
}

static bool has_work(const struct trace *trace, uint64_t time_ns)
{
	for (uint32_t q = THREADS; q < LINES; q++)
		for (size_t i = 0; i < trace->lines[q].count; i++)
			if (queued_from(trace, &trace->lines[q].spans[i]) <= time_ns &&
				time_ns < trace->lines[q].spans[i].end_ns)
				return true;
	return false;
}

static uint32_t run_context_at(const struct trace *trace, const struct store_record *span)
{
	return run_context_of(trace->small.run, 0, span ? span->context : trace->main);
}

static void charge(const struct trace *trace, struct answer *answer, uint64_t begin_ns, uint64_t length_ns)
{
	uint32_t contexts[2][THREADS], count[2] = {0, 0};
	bool is_working = has_work(trace, begin_ns);

	for (uint32_t q = THREADS; q < LINES; q++)
		if (span_at(&trace->lines[q], begin_ns, true)) {
			answer->busy_ns += length_ns;
			return;
		}
	for (uint32_t t = 0; t < THREADS; t++) {
		const struct store_record *span = span_at(&trace->lines[t], begin_ns, false);
		bool waits = span && (span->what == STORE_OP_BLOCKED || is_working);

		contexts[waits][count[waits]++] = run_context_at(trace, span);
	}
	answer->idle_ns += length_ns;
	*(count[0] ? &answer->blamed_ns : &answer->all_idle_ns) += length_ns;
	for (uint32_t i = 0, who = !count[0]; i < count[who]; i++)
		answer->halves[who][contexts[who][i]] += 2 * length_ns / count[who];
}

static int time_compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Between two of all times at which anything changes nothing does. */
static void twin(const struct trace *trace, uint64_t begin_ns, uint64_t end_ns, struct answer *answer)
{
	uint64_t times_ns[3 * LINES * SPANS + 2] = {begin_ns, end_ns};
	size_t count = 2;

	memset(answer, 0, sizeof(*answer));
	for (uint32_t l = 0; l < LINES; l++)
		for (size_t i = 0; i < trace->lines[l].count; i++) {
			const struct store_record *span = &trace->lines[l].spans[i];

			times_ns[count++] = span->begin_ns;
			times_ns[count++] = span->end_ns;
			times_ns[count++] = l < THREADS ? span->begin_ns : queued_from(trace, span);
		}
	qsort(times_ns, count, sizeof(*times_ns), time_compare);
	for (size_t i = 0; i + 1 < count; i++)
		if (times_ns[i] >= begin_ns && times_ns[i + 1] <= end_ns && times_ns[i] < times_ns[i + 1])
			charge(trace, answer, times_ns[i], times_ns[i + 1] - times_ns[i]);
}

/* ---- against each other ---- */

static void take_shares(const struct share *shares, size_t count, uint64_t halves[CONTEXTS])
{
	for (size_t i = 0; i < count; i++) {
		assert_true(shares[i].context < CONTEXTS);
		halves[shares[i].context] = (uint64_t)(shares[i].amount >> 63);
		assert_int_equal((uint64_t)(shares[i].amount << 1), 0);
	}
}

static void ask(struct trace *trace, uint64_t begin_ns, uint64_t end_ns, bool by_lines, struct answer *answer)
{
	const struct idle_question question = {.streams = trace->streams,
		.stream_count = LINES,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.is_sampled = by_lines,
		.waits = trace->waits};
	struct arena arena = {0};
	struct error error = {0};
	struct idle idle;

	memset(answer, 0, sizeof(*answer));
	assert_int_equal(idle_sweep(&idle, trace->small.run, &question, &arena, &error), 0);
	*answer = (struct answer){.busy_ns = idle.busy_ns,
		.idle_ns = idle.idle_ns,
		.blamed_ns = idle.blamed_ns,
		.all_idle_ns = idle.all_idle_ns};
	take_shares(idle.blamed, idle.blamed_count, answer->halves[0]);
	take_shares(idle.waited, idle.waited_count, answer->halves[1]);
	arena_fini(&arena);
}

static void sum_up(struct answer *sum, const struct answer *part)
{
	for (size_t i = 0; i < sizeof(*sum) / sizeof(uint64_t); i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)part)[i];
}

/* Cuts of all of the time, in order: anywhere, some a moment apart. */
static void draw_cuts(uint64_t cuts_ns[WINDOWS + 1])
{
	cuts_ns[0] = 0;
	cuts_ns[WINDOWS] = END_NS;
	for (uint32_t i = 1; i < WINDOWS; i++)
		cuts_ns[i] = small_below(3) || i == 1 ? 1 + small_below(END_NS - 1)
						      : cuts_ns[i - 1] + 1 + small_below(40000000);
	qsort(cuts_ns, WINDOWS + 1, sizeof(*cuts_ns), time_compare);
	cuts_ns[WINDOWS] = END_NS;
}

static void check_windows(struct trace *trace, bool by_lines)
{
	uint64_t cuts_ns[WINDOWS + 1];
	struct answer whole, sum = {0};

	ask(trace, 0, END_NS, by_lines, &whole);
	draw_cuts(cuts_ns);
	for (uint32_t i = 0; i < WINDOWS; i++) {
		struct answer part, told;

		if (cuts_ns[i] >= cuts_ns[i + 1])
			continue;
		ask(trace, cuts_ns[i], cuts_ns[i + 1], by_lines, &part);
		sum_up(&sum, &part);
		twin(trace, cuts_ns[i], cuts_ns[i + 1], &told);
		assert_memory_equal(&part, &told, sizeof(part));
	}
	assert_memory_equal(&whole, &sum, sizeof(whole));
}

static bool has_sums(const struct trace *trace)
{
	char pattern[PATH_MAX];
	glob_t found;
	bool is_there;

	snprintf(pattern, sizeof(pattern), "%s/cache-idle-*", run_path(trace->small.run));
	is_there = !glob(pattern, 0, NULL, &found);
	globfree(&found);
	return is_there;
}

static void test_windows(void **unused)
{
	uint64_t records = blocks_records, least = rolled_records_least;
	int waited = 0;

	(void)unused;
	small_seed("blame.windows");
	for (int round = 0; round < ROUNDS; round++) {
		static struct trace trace;
		struct answer whole, told;

		trace_begin(&trace);
		twin(&trace, 0, END_NS, &told);
		waited += told.halves[1][run_context_of(trace.small.run, 0, trace.sync)] != 0;
		for (int by_lines = 0; by_lines < 2; by_lines++) {
			blocks_records = small_below(2) ? records : 1 + small_below(40);
			ask(&trace, 0, END_NS, by_lines, &whole);
			assert_memory_equal(&whole, &told, sizeof(whole));
			check_windows(&trace, by_lines);
		}
		rolled_records_least = 16;
		ask(&trace, 0, END_NS, false, &whole);
		assert_memory_equal(&whole, &told, sizeof(whole));
		assert_true(has_sums(&trace));
		check_windows(&trace, false);
		rolled_records_least = least;
		blocks_records = records;
		trace_end(&trace);
	}
	assert_true(waited > ROUNDS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
