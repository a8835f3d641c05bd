/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_gaps.c - gaps of idle GPUs with one cause each, in closed form; and on random traces: gaps sum to the
 * idle time, classes count them all, --min leaves out the shorter ones only.
 */
#include "tests/unit/blame_trace.h"

#include "blame/base/time_slices.h"
#include "blame/idle/gaps.h"
#include "blame/idle/idle_group.h"

#define ROUNDS 100
#define LENGTH 2000u

struct asked {
	struct small_run small;
	struct idle_question question;
	struct idle idle;
	struct arena arena;
	struct error error;
	uint32_t streams[16];
	const struct gap *list;
	size_t count;
};

static void ask_limited(struct asked *asked, uint64_t min_ns, size_t limit)
{
	struct idle_question *question = &asked->question;

	if (!asked->small.run) {
		small_ready(&asked->small);
		assert_int_equal(
			wait_functions_new(&question->waits, asked->small.run, NULL, &asked->error), 0);
	}
	gaps_free(question->gaps);
	assert_int_equal(gaps_new(&question->gaps, min_ns, limit, &asked->error), 0);
	question->stream_count = run_stream_count(asked->small.run);
	for (uint32_t i = 0; i < question->stream_count; i++)
		asked->streams[i] = i;
	question->streams = asked->streams;
	assert_int_equal(
		idle_sweep(&asked->idle, asked->small.run, question, &asked->arena, &asked->error), 0);
	asked->list = gaps_list(question->gaps, &asked->count);
}

static void ask(struct asked *asked, uint64_t min_ns)
{
	ask_limited(asked, min_ns, SIZE_MAX);
}

static void end(struct asked *asked)
{
	gaps_free(asked->question.gaps);
	wait_functions_free(asked->question.waits);
	arena_fini(&asked->arena);
	small_end(&asked->small);
}

/* The gap that begins there. */
static void check_gap(
	struct asked *asked, uint64_t begin_ns, uint64_t end_ns, enum gap_cause cause, const char *path)
{
	for (size_t i = 0; i < asked->count; i++) {
		const struct gap *gap = &asked->list[i];

		if (gap->begin_ns != begin_ns)
			continue;
		assert_int_equal(gap->end_ns, end_ns);
		assert_string_equal(gap_cause_name(gap->cause), gap_cause_name(cause));
		assert_string_equal(
			run_context_path(asked->small.run, gap->context, UINT32_MAX, &asked->arena), path);
		return;
	}
	fail_msg("no gap begins at %d", (int)begin_ns);
}

/*
 *   thread  |a          |launch|b                 |blocked in c  |MPI_Wait |lost
 *   queue   |...........................|#k######|...............|#|.......|##|......
 *           0           40     50       80       100   120       150      200       230
 */
static void test_causes(void **unused)
{
	struct asked asked = {.question.end_ns = 300};
	struct store_writer *writer;
	uint32_t thread, queue;

	(void)unused;
	small_begin(&asked.small);
	writer = asked.small.writer;
	thread = trace_thread(writer, 1, 0, 300);
	queue = trace_queue(writer, 1, 1, 300);
	trace_run(writer, thread, 0, "main;a");
	trace_span(writer, queue, 40, 41, STORE_OP_COPY, "main;copy", 0);
	trace_span(writer, thread, 41, 50, STORE_OP_LAUNCH, "main;launch", 7);
	trace_run(writer, thread, 50, "main;b");
	trace_span(writer, queue, 80, 100, STORE_OP_KERNEL, "main;k", 7);
	trace_span(writer, thread, 100, 120, STORE_OP_BLOCKED, "main;c", 0);
	trace_span(writer, queue, 120, 150, STORE_OP_COPY, "main;copy", 0);
	trace_run(writer, thread, 150, "main;MPI_Wait");
	trace_span(writer, queue, 200, 210, STORE_OP_KERNEL, "main;k", 0);
	trace_span(writer, thread, 210, 300, STORE_OP_LOST, "", 0);
	ask(&asked, 0);
	assert_int_equal(asked.count, 5);
	check_gap(&asked, 0, 40, GAP_CPU, "main;a");
	check_gap(&asked, 41, 80, GAP_LAUNCH, "main;k");
	check_gap(&asked, 100, 120, GAP_THREAD, "main;c");
	check_gap(&asked, 150, 200, GAP_RANK, "main;MPI_Wait");
	check_gap(&asked, 210, 300, GAP_NOBODY, "");
	assert_int_equal(asked.list[0].begin_ns, 210);
	assert_int_equal(run_stream(asked.small.run, asked.list[1].stream)->s.kind, STORE_STREAM_GPU);
	asked.question.busy = IDLE_BUSY_KERNEL;
	ask(&asked, 0);
	assert_int_equal(asked.count, 3);
	check_gap(&asked, 100, 200, GAP_RANK, "main;MPI_Wait");
	asked.question.end_ns = 140;
	asked.question.begin_ns = 110;
	ask(&asked, 0);
	check_gap(&asked, 110, 140, GAP_COPY, "main;copy");
	end(&asked);
}

/* What takes no time does not cut a gap, be it the last of many spans or not. */
static void test_no_time(void **unused)
{
	enum { SPANS = 5000, END = 10 * SPANS + 300 };

	(void)unused;
	for (int is_last = 0; is_last < 2; is_last++) {
		struct asked asked = {.question.end_ns = END};
		struct store_writer *writer;
		uint32_t thread, queue;
		uint64_t counted = 0;

		small_begin(&asked.small);
		writer = asked.small.writer;
		thread = trace_thread(writer, 1, 0, END);
		queue = trace_queue(writer, 1, 1, END);
		trace_run(writer, thread, 0, "main;a");
		for (uint64_t i = 1; i <= SPANS; i++)
			trace_kernel(writer, queue, 10 * i, 10 * i + 1);
		trace_kernel(writer, queue, END - 200, END - 200);
		if (!is_last)
			trace_kernel(writer, queue, END - 100, END - 10);
		ask(&asked, 0);
		assert_int_equal(asked.count, SPANS + 1 + !is_last);
		check_gap(&asked, 10 * SPANS + 1, is_last ? END : END - 100, GAP_CPU, "main;a");
		ask(&asked, END);
		for (int i = 0; i < GAP_CLASSES; i++)
			counted += gaps_classes(asked.question.gaps)[i].count;
		assert_int_equal(counted, SPANS + 1 + !is_last);
		end(&asked);
	}
}

/* No path has as much of the gap as g, but three that end in f have more together, and so have two inside a
 * call of the runtime: the function with the most is named, by its largest path. */
static void test_function(void **unused)
{
	static const struct {
		uint64_t begin_ns;
		const char *path;
	} runs[] = {{0, "main;x;f"}, {10, "main;y;f"}, {25, "main;g"}, {45, "main;z;f"}, /* a kernel at 60 */
		{70, "main;cuModule;cudaLoad;p"}, {80, "main;h"}, {95, "main;cuModule;cudaLoad;q;r"}};
	struct asked asked = {.question.end_ns = 120};
	uint32_t thread, queue;

	(void)unused;
	small_begin(&asked.small);
	thread = trace_thread(asked.small.writer, 1, 0, 120);
	queue = trace_queue(asked.small.writer, 1, 1, 120);
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
		trace_run(asked.small.writer, thread, runs[i].begin_ns, runs[i].path);
	trace_kernel(asked.small.writer, queue, 60, 70);
	trace_kernel(asked.small.writer, queue, 109, 120);
	ask(&asked, 0);
	assert_int_equal(asked.count, 2);
	check_gap(&asked, 0, 60, GAP_CPU, "main;y;f");
	check_gap(&asked, 70, 109, GAP_CPU, "main;cuModule;cudaLoad;q;r");
	end(&asked);
}

/* A thread that would feed the GPU waits for a core, beside one that waits for work: the first is what the
 * gap is about. */
static void test_core(void **unused)
{
	struct asked asked = {.question.end_ns = 100};
	struct store_writer *writer;
	uint32_t feeder, helper, queue;

	(void)unused;
	small_begin(&asked.small);
	writer = asked.small.writer;
	feeder = trace_thread(writer, 1, 0, 100);
	helper = trace_thread(writer, 1, 1, 100);
	queue = trace_queue(writer, 1, 1, 100);
	trace_span(writer, queue, 0, 10, STORE_OP_KERNEL, "main;k", 0);
	trace_run(writer, feeder, 0, "main;feed");
	trace_span(writer, feeder, 10, 90, STORE_OP_RUNNABLE, "main;feed", 0);
	trace_run(writer, feeder, 90, "main;launch");
	trace_run(writer, helper, 0, "pool");
	trace_span(writer, helper, 5, 100, STORE_OP_BLOCKED, "pool;wait", 0);
	ask(&asked, 0);
	assert_int_equal(asked.count, 1);
	check_gap(&asked, 10, 100, GAP_CORE, "main;feed");
	assert_int_equal(asked.idle.no_core_ns, 80);
	assert_int_equal(asked.idle.all_idle_ns, 80);
	end(&asked);
}

static void check_laws(struct asked *asked)
{
	const struct gap_class *classes = gaps_classes(asked->question.gaps);
	uint64_t sum = 0, counted = 0, summed = 0;

	for (size_t i = 0; i < asked->count; i++) {
		uint64_t size = asked->list[i].end_ns - asked->list[i].begin_ns;

		sum += size;
		if (i)
			assert_true(asked->list[i - 1].end_ns - asked->list[i - 1].begin_ns >= size);
	}
	for (int i = 0; i < GAP_CLASSES; i++) {
		counted += classes[i].count;
		summed += classes[i].time_ns;
	}
	assert_int_equal(sum, asked->idle.idle_ns);
	assert_int_equal(summed, sum);
	assert_int_equal(counted, asked->count);
}

/* The same gaps, of the longest so many. */
static void check_same(const struct asked *asked, const struct gap *list, size_t count)
{
	assert_int_equal(asked->count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(asked->list[i].begin_ns, list[i].begin_ns);
		assert_int_equal(asked->list[i].end_ns, list[i].end_ns);
		assert_int_equal(asked->list[i].stream, list[i].stream);
		assert_int_equal(asked->list[i].cause, list[i].cause);
		assert_int_equal(asked->list[i].context, list[i].context);
	}
}

/* Swept in blocks, or line by line; and when only the longest are wanted. */
static void check_otherwise(struct asked *asked)
{
	uint64_t records = time_slices_records;
	size_t count = asked->count, limit = small_below(count + 2);
	struct gap *list = arena_calloc(&asked->arena, count + 1, sizeof(*list));
	struct gap_class classes[GAP_CLASSES];

	assert_non_null(list);
	for (size_t i = 0; i < count; i++)
		list[i] = asked->list[i];
	memcpy(classes, gaps_classes(asked->question.gaps), sizeof(classes));
	time_slices_records = 4 + small_below(20);
	ask(asked, 0);
	check_same(asked, list, count);
	time_slices_records = records;
	asked->question.is_sampled = true;
	ask(asked, 0);
	check_same(asked, list, count);
	asked->question.is_sampled = false;
	ask_limited(asked, 0, limit);
	check_same(asked, list, limit < count ? limit : count);
	assert_memory_equal(gaps_classes(asked->question.gaps), classes, sizeof(classes));
	ask(asked, 0);
}

/* Threads that launch, wait and switch; queues that are simple (queues.h) or lose records. */
static void put_process(struct store_writer *writer, uint32_t pid, bool is_simple)
{
	static const char *const paths[] = {"main;a", "main;b", "main;MPI_Wait", "main;c;d"};

	for (uint32_t t = 0; t < 1 + pid; t++) {
		uint32_t thread = trace_thread(writer, pid, t, LENGTH);

		for (uint64_t now = small_below(LENGTH / 2); now < LENGTH; now += 1 + small_below(100)) {
			uint64_t what = small_below(6), end_ns = now + 1 + small_below(60);

			if (what < 3)
				trace_run(writer, thread, now, paths[small_below(4)]);
			else
				trace_span(writer, thread, now, end_ns,
					what == 3   ? STORE_OP_SYNC
					: what == 4 ? STORE_OP_BLOCKED
						    : STORE_OP_LAUNCH,
					paths[small_below(4)], what == 5 ? 1 + small_below(60) : 0);
			now = what < 3 ? now : end_ns;
		}
	}
	for (uint32_t q = 1; q < 4; q++) {
		uint32_t queue = trace_queue(writer, pid, q, LENGTH);

		for (uint64_t now = small_below(100); now < LENGTH; now += small_below(100)) {
			uint32_t op = !is_simple && !small_below(9) ? STORE_OP_LOST
				      : small_below(4)		    ? STORE_OP_KERNEL
								    : STORE_OP_COPY;
			uint64_t end_ns = now + 1 + small_below(60);

			end_ns = is_simple && end_ns > LENGTH ? LENGTH : end_ns;
			trace_span(writer, queue, now, end_ns, op, small_below(3) ? "main;k" : "main;l",
				op == STORE_OP_LOST ? 0 : small_below(61));
			now = is_simple ? end_ns : now;
		}
	}
}

static void test_random(void **unused)
{
	(void)unused;
	small_seed("blame.gaps");
	for (int round = 0; round < ROUNDS; round++) {
		struct asked asked = {.question.end_ns = LENGTH};
		uint64_t min_ns = small_below(40);
		size_t longer = 0;

		small_begin(&asked.small);
		for (uint32_t pid = 1; pid < 3; pid++)
			put_process(asked.small.writer, pid, small_below(2));
		ask(&asked, 0);
		check_laws(&asked);
		check_otherwise(&asked);
		for (size_t i = 0; i < asked.count; i++)
			longer += asked.list[i].end_ns - asked.list[i].begin_ns >= min_ns;
		ask(&asked, min_ns);
		assert_int_equal(asked.count, longer);
		end(&asked);
	}
}

/*
 * A kernel in every ms, for longer than queues are read ahead. One in 1500 was launched at the very begin,
 * and counts as queued for a second before it begins: of 1500 gaps before it 1000 wait for their launch.
 */
static void test_far(void **unused)
{
	const uint64_t ms = 1000000, kernels = 30000;
	struct asked asked = {.question.end_ns = kernels * ms};
	struct store_writer *writer;
	uint32_t thread, queue;
	size_t launched = 0;

	(void)unused;
	small_begin(&asked.small);
	writer = asked.small.writer;
	thread = trace_thread(writer, 1, 0, kernels * ms);
	queue = trace_queue(writer, 1, 1, kernels * ms);
	trace_run(writer, thread, 0, "main;a");
	for (uint64_t i = 1; i <= kernels / 1500; i++)
		trace_span(writer, thread, i, i + 1, STORE_OP_LAUNCH, "main;launch", i);
	for (uint64_t i = 0; i < kernels; i++)
		trace_span(writer, queue, i * ms + ms / 2, (i + 1) * ms, STORE_OP_KERNEL, "main;k",
			i % 1500 == 1499 ? (i + 1) / 1500 : 0);
	ask(&asked, 0);
	assert_int_equal(asked.count, kernels);
	for (size_t i = 0; i < asked.count; i++)
		launched += asked.list[i].cause == GAP_LAUNCH;
	assert_int_equal(launched, kernels / 1500 * 1000);
	ask_limited(&asked, 0, 7);
	assert_int_equal(asked.count, 7);
	end(&asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_causes), cmocka_unit_test(test_core),
		cmocka_unit_test(test_no_time), cmocka_unit_test(test_function), cmocka_unit_test(test_far),
		cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
