/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_run_replay.c - what a shorter kernel saves of the whole window: in closed form, and on random traces
 * never more than Amdahl has, nor less than time in which nothing else happens.
 */
#include "tests/unit/blame_trace.h"

#include "blame/advise/run_replay.h"

#define ROUNDS 200
#define WINDOW 1000u
#define QUEUES 3u

struct traced {
	struct small_run small;
	struct select *select;
	struct run_replay *replay;
	uint32_t thread, queues[QUEUES];
	uint64_t saved_ns, union_ns;
};

static void traced_begin(struct traced *traced)
{
	*traced = (struct traced){0};
	small_begin(&traced->small);
	traced->thread = trace_thread(traced->small.writer, 1, 0, WINDOW);
	for (uint32_t q = 0; q < QUEUES; q++)
		traced->queues[q] = trace_queue(traced->small.writer, 1, q + 1, WINDOW);
	trace_run(traced->small.writer, traced->thread, 0, "main");
}

static void launch(struct traced *traced, uint64_t begin_ns, uint64_t end_ns, uint64_t link)
{
	trace_span(
		traced->small.writer, traced->thread, begin_ns, end_ns, STORE_OP_LAUNCH, "main;launch", link);
}

static void wait_all(struct traced *traced, uint64_t begin_ns, uint64_t end_ns)
{
	trace_span(traced->small.writer, traced->thread, begin_ns, end_ns, STORE_OP_SYNC, "main;sync", 0);
}

static void kernel(struct traced *traced, uint32_t queue, uint64_t begin_ns, uint64_t end_ns,
	const char *name, uint64_t link)
{
	char path[32];

	snprintf(path, sizeof path, "main;%s", name);
	trace_span(
		traced->small.writer, traced->queues[queue], begin_ns, end_ns, STORE_OP_KERNEL, path, link);
}

static uint32_t row_of(void *own, uint32_t context)
{
	const struct run *run = own;
	const struct run_context *c = run_context(run, context);

	return c->scope != UINT32_MAX &&
			       !strcmp(run_function(run, run_scope(run, c->scope)->function)->name, "A")
		       ? 0
		       : RUN_REPLAY_NO_ROW;
}

static void traced_ready(struct traced *traced)
{
	struct error error = {0};

	small_ready(&traced->small);
	assert_int_equal(select_new(&traced->select, &error), 0);
	assert_int_equal(select_bind(traced->select, traced->small.run, &error), 0);
	if (run_replay_new(&traced->replay, traced->small.run, traced->select,
		    &(struct run_replay_rows){1, row_of, traced->small.run}, &error))
		fail_msg("%s", error.text);
	assert_non_null(traced->replay);
	assert_int_equal(run_replay_window_ns(traced->replay), WINDOW);
}

/* If A is that much faster. */
static void ask(struct traced *traced, double speedup)
{
	const double speedups[RUN_REPLAY_SPEEDUPS] = {speedup, 1};
	uint64_t saved_ns[RUN_REPLAY_SPEEDUPS];

	assert_true(run_replay_ask(traced->replay, 0, speedups, saved_ns, &traced->union_ns));
	traced->saved_ns = saved_ns[0];
	assert_int_equal(saved_ns[1], 0);
}

static void traced_end(struct traced *traced)
{
	run_replay_free(traced->replay);
	select_free(traced->select);
	small_end(&traced->small);
}

/* A twice as fast. */
static void expect(struct traced *traced, uint64_t saved_ns, uint64_t union_ns)
{
	traced_ready(traced);
	ask(traced, 2);
	assert_int_equal(traced->saved_ns, saved_ns);
	assert_int_equal(traced->union_ns, union_ns);
	traced_end(traced);
}

/* Amdahl: of 1000 the kernel has 400. */
static void test_serial(void **unused)
{
	struct traced traced;

	(void)unused;
	traced_begin(&traced);
	launch(&traced, 90, 100, 1);
	kernel(&traced, 0, 100, 500, "A", 1);
	wait_all(&traced, 100, 500);
	expect(&traced, 200, 400);
}

/* Another queue's kernel ends 20 before A: the synchronization may be for both. */
static void test_overlapped(void **unused)
{
	struct traced traced;

	(void)unused;
	traced_begin(&traced);
	launch(&traced, 80, 90, 1);
	launch(&traced, 90, 100, 2);
	kernel(&traced, 0, 100, 500, "A", 1);
	kernel(&traced, 1, 100, 480, "B", 2);
	wait_all(&traced, 100, 500);
	expect(&traced, 20, 400);
}

/* A queue of another process that ends 20 before A is not waited for. */
static void test_other_process(void **unused)
{
	struct traced traced;

	(void)unused;
	traced_begin(&traced);
	traced.queues[1] = trace_queue(traced.small.writer, 2, 1, WINDOW);
	launch(&traced, 90, 100, 1);
	kernel(&traced, 0, 100, 500, "A", 1);
	kernel(&traced, 1, 100, 480, "B", 0);
	wait_all(&traced, 100, 500);
	expect(&traced, 200, 400);
}

/* The thread never waits for A. */
static void test_hidden(void **unused)
{
	struct traced traced;

	(void)unused;
	traced_begin(&traced);
	launch(&traced, 90, 100, 1);
	kernel(&traced, 0, 100, 500, "A", 1);
	expect(&traced, 0, 400);
}

/* The thread works for half of A, and waits for the other half: that is all that can go. */
static void test_half_hidden(void **unused)
{
	struct traced traced;

	(void)unused;
	traced_begin(&traced);
	launch(&traced, 90, 100, 1);
	kernel(&traced, 0, 100, 500, "A", 1);
	wait_all(&traced, 400, 500);
	expect(&traced, 100, 400);
}

/* A in two queues at once: both are shorter, and the union is no sum. */
static void test_two_queues(void **unused)
{
	struct traced traced;

	(void)unused;
	traced_begin(&traced);
	launch(&traced, 80, 90, 1);
	launch(&traced, 90, 100, 2);
	kernel(&traced, 0, 100, 500, "A", 1);
	kernel(&traced, 1, 120, 480, "A", 2);
	wait_all(&traced, 100, 500);
	expect(&traced, 200, 400);
}

/* Launched ahead: A A B in a queue, and a synchronization at the end. */
static void test_queue(void **unused)
{
	struct traced traced;

	(void)unused;
	traced_begin(&traced);
	launch(&traced, 70, 80, 1);
	launch(&traced, 80, 90, 2);
	launch(&traced, 90, 100, 3);
	kernel(&traced, 0, 80, 200, "A", 1);
	kernel(&traced, 0, 200, 320, "A", 2);
	kernel(&traced, 0, 320, 700, "B", 3);
	wait_all(&traced, 100, 700);
	expect(&traced, 120, 240);
}

/* C may have waited for D of another queue, which is as long as it was. */
static void test_gap(bool has_other, uint64_t saved_ns)
{
	struct traced traced;

	traced_begin(&traced);
	launch(&traced, 80, 90, 1);
	launch(&traced, 90, 100, 2);
	kernel(&traced, 0, 100, 300, "A", 1);
	wait_all(&traced, 100, 300);
	launch(&traced, 300, 310, 3);
	kernel(&traced, 0, 330, 400, "C", 3);
	if (has_other)
		kernel(&traced, 1, 100, 325, "D", 2);
	wait_all(&traced, 310, 400);
	expect(&traced, saved_ns, 200);
}

static void test_gaps(void **unused)
{
	(void)unused;
	test_gap(false, 100);
	test_gap(true, 0);
}

/* Kernels in random queues, each launched before it runs; now and then the thread waits for all. */
static void draw(struct traced *traced, uint64_t *alone_ns)
{
	uint64_t now_ns = 10, free_ns[QUEUES] = {0}, link = 0;

	*alone_ns = 0;
	while (now_ns < WINDOW - 300) {
		unsigned queue = (unsigned)small_below(QUEUES);
		bool is_of_a = small_below(2);
		uint64_t begin_ns, end_ns, latest_ns = now_ns, others_ns = now_ns;

		launch(traced, now_ns, now_ns + 5, ++link);
		now_ns += 5;
		begin_ns = (free_ns[queue] > now_ns ? free_ns[queue] : now_ns) + small_below(10);
		end_ns = begin_ns + 2 + small_below(80);
		kernel(traced, queue, begin_ns, end_ns, is_of_a ? "A" : "B", link);
		for (unsigned q = 0; q < QUEUES; q++)
			others_ns = free_ns[q] > others_ns ? free_ns[q] : others_ns;
		free_ns[queue] = end_ns;
		for (unsigned q = 0; q < QUEUES; q++)
			latest_ns = free_ns[q] > latest_ns ? free_ns[q] : latest_ns;
		if (small_below(2)) {
			now_ns += small_below(30);
			continue;
		}
		if (latest_ns > now_ns) {
			wait_all(traced, now_ns, latest_ns);
			others_ns = others_ns > begin_ns ? others_ns : begin_ns;
			*alone_ns += is_of_a && end_ns > others_ns ? end_ns - others_ns : 0;
			now_ns = latest_ns;
		}
		now_ns += 1 + small_below(20);
	}
}

static void test_random(void **unused)
{
	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t alone_ns, before_ns = 0;
		struct traced traced;

		traced_begin(&traced);
		draw(&traced, &alone_ns);
		traced_ready(&traced);
		for (unsigned speedup = 1; speedup <= 8; speedup *= 2) {
			ask(&traced, speedup);
			assert_true(traced.saved_ns >= before_ns);
			/* Each kernel is rounded. */
			assert_true((double)traced.saved_ns <=
				    (double)traced.union_ns * (1 - 1. / speedup) + 100);
			before_ns = traced.saved_ns;
		}
		ask(&traced, 1e9);
		/* A nanosecond of a kernel stays, and ties are parted by one. */
		if (traced.saved_ns + 3 * (uint64_t)QUEUES + 40 < alone_ns)
			fail_msg("%lu of %lu", (unsigned long)traced.saved_ns, (unsigned long)alone_ns);
		traced_end(&traced);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_serial), cmocka_unit_test(test_overlapped),
		cmocka_unit_test(test_other_process), cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_half_hidden), cmocka_unit_test(test_two_queues),
		cmocka_unit_test(test_queue), cmocka_unit_test(test_gaps), cmocka_unit_test(test_random)};

	small_seed("blame_run_replay");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
