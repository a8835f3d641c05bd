/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_wait.c - what threads waited for in synchronization calls: in closed form, and on random traces
 * against a twin that looks at every nanosecond.
 */
#include "tests/unit/blame_trace.h"

#include "blame/wait/wait.h"

#define ROUNDS 200
#define LENGTH 200u
#define UNIT 27720u /* of a ns: what 1 to 12 kernels share without a rest */
#define SPANS 64u
#define NAMES 4u

static const char *const names[NAMES] = {"main;k0", "main;k1", "main;k2", "main;k3"};

struct asked {
	struct small_run small;
	struct idle_question question;
	struct wait wait;
	struct arena arena;
	struct error error;
	uint32_t streams[16];
	int result;
};

static void begin(struct asked *asked)
{
	*asked = (struct asked){.question.end_ns = 100};
	small_begin(&asked->small);
}

static void ask(struct asked *asked)
{
	struct idle_question *question = &asked->question;

	if (!asked->small.run)
		small_ready(&asked->small);
	question->stream_count = run_stream_count(asked->small.run);
	for (uint32_t i = 0; i < question->stream_count; i++)
		asked->streams[i] = i;
	question->streams = asked->streams;
	asked->result = wait_sweep(&asked->wait, asked->small.run, question, &asked->arena, &asked->error);
	assert_int_equal(asked->wait.covered_ns + asked->wait.uncovered_ns, asked->wait.sync_ns);
}

static void end(struct asked *asked)
{
	arena_fini(&asked->arena);
	small_end(&asked->small);
}

/* In 1 / UNIT ns, to the nearest. */
static uint64_t units_of(
	struct asked *asked, const struct exact_share *shares, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++) {
		const char *here =
			run_context_path(asked->small.run, shares[i].context, UINT32_MAX, &asked->arena);

		if (strcmp(here, path) == 0)
			return (uint64_t)(shares[i].amount >> 64) * UNIT +
			       (uint64_t)(((exact_share_fixed)(uint64_t)shares[i].amount * UNIT +
						  ((exact_share_fixed)1 << 63)) >>
					  64);
	}
	return 0;
}

static uint64_t cause(struct asked *asked, const char *path)
{
	return units_of(asked, asked->wait.causes, asked->wait.cause_count, path);
}

static uint64_t waited(struct asked *asked, const char *path)
{
	return units_of(asked, asked->wait.sync, asked->wait.sync_count, path);
}

static void put_kernel(
	struct store_writer *writer, uint32_t queue, uint64_t begin_ns, uint64_t end_ns, const char *path)
{
	trace_span(writer, queue, begin_ns, end_ns, STORE_OP_KERNEL, path, 0);
}

/* The wait [10, 60): k0 alone in [20, 30), both in [30, 40), k1 alone in [40, 50), nothing else. */
static void put_case(struct store_writer *writer, uint32_t second_queue)
{
	uint32_t thread = trace_thread(writer, 1, 0, 100), queue = trace_queue(writer, 1, 1, 100),
		 other = second_queue ? trace_queue(writer, 1, 2, 100) : queue;

	trace_run(writer, thread, 0, "main;a");
	trace_span(writer, thread, 10, 60, STORE_OP_SYNC, "main;sync", 0);
	put_kernel(writer, queue, 20, 40, names[0]);
	put_kernel(writer, other, 30, 50, names[1]);
	trace_span(writer, queue, 55, 58, STORE_OP_COPY, "main;copy", 0);
}

static void check_case(struct asked *asked)
{
	assert_int_equal(asked->result, 0);
	assert_int_equal(asked->wait.sync_ns, 50);
	assert_int_equal(waited(asked, "main;sync"), 50 * UNIT);
	assert_int_equal(cause(asked, names[0]), 15 * UNIT);
	assert_int_equal(cause(asked, names[1]), 15 * UNIT);
	assert_int_equal(asked->wait.uncovered_ns, 20);
}

static void test_concurrent(void **unused)
{
	(void)unused;
	for (uint32_t second_queue = 0; second_queue < 2; second_queue++) {
		struct asked asked;

		begin(&asked);
		put_case(asked.small.writer, second_queue);
		ask(&asked);
		check_case(&asked);
		asked.question.begin_ns = 35;
		asked.question.end_ns = 45;
		ask(&asked);
		assert_int_equal(cause(&asked, names[0]), 5 * UNIT / 2);
		assert_int_equal(cause(&asked, names[1]), 5 * UNIT / 2 + 5 * UNIT);
		end(&asked);
	}
}

/* Another process's kernels cover nothing, unless all are one group. */
static void test_two_processes(void **unused)
{
	struct asked asked;
	uint32_t thread;

	(void)unused;
	begin(&asked);
	put_case(asked.small.writer, 0);
	thread = trace_thread(asked.small.writer, 2, 0, 100);
	trace_run(asked.small.writer, thread, 0, "main;a");
	trace_span(asked.small.writer, thread, 20, 30, STORE_OP_SYNC, "main;sync", 0);
	ask(&asked);
	assert_int_equal(asked.wait.sync_ns, 60);
	assert_int_equal(asked.wait.uncovered_ns, 30);
	asked.question.group = IDLE_GROUP_ALL;
	ask(&asked);
	assert_int_equal(asked.wait.uncovered_ns, 20);
	assert_int_equal(cause(&asked, names[0]), 25 * UNIT);
	end(&asked);
}

static void test_empty(void **unused)
{
	struct asked asked;

	(void)unused;
	begin(&asked);
	put_case(asked.small.writer, 0);
	asked.question.begin_ns = 200;
	asked.question.end_ns = 300;
	ask(&asked);
	assert_int_equal(asked.result, -ERROR_EMPTY);
	end(&asked);
}

/* ---- random traces ---- */

struct span {
	uint64_t begin_ns, end_ns;
	uint32_t name;
};

static struct span waits[SPANS], kernels[SPANS];
static size_t wait_count, kernel_count;

static void put_random(struct asked *asked)
{
	struct store_writer *writer = asked->small.writer;

	wait_count = kernel_count = 0;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t thread = trace_thread(writer, 1, i, LENGTH);

		for (uint64_t now_ns = small_below(20); now_ns < LENGTH - 40 && wait_count < SPANS;
			now_ns += 30 + small_below(40)) {
			waits[wait_count] = (struct span){now_ns, now_ns + 1 + small_below(30), 0};
			trace_span(writer, thread, now_ns, waits[wait_count++].end_ns, STORE_OP_SYNC,
				"main;sync", 0);
		}
	}
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t queue = trace_queue(writer, 1, i + 1, LENGTH);

		for (uint64_t now_ns = small_below(20); now_ns < LENGTH - 60; now_ns += small_below(30)) {
			struct span span = {now_ns, now_ns + small_below(50), (uint32_t)small_below(NAMES)};

			if (kernel_count == SPANS)
				break;
			kernels[kernel_count++] = span;
			put_kernel(writer, queue, span.begin_ns, span.end_ns, names[span.name]);
		}
	}
}

static void check_random(struct asked *asked)
{
	uint64_t causes[NAMES] = {0}, sync_ns = 0, uncovered_ns = 0;

	for (uint64_t t = asked->question.begin_ns; t < asked->question.end_ns; t++) {
		uint64_t waiting = 0, running = 0;

		for (size_t i = 0; i < wait_count; i++)
			waiting += waits[i].begin_ns <= t && t < waits[i].end_ns;
		for (size_t i = 0; i < kernel_count; i++)
			running += kernels[i].begin_ns <= t && t < kernels[i].end_ns;
		sync_ns += waiting;
		uncovered_ns += running ? 0 : waiting;
		for (size_t i = 0; i < kernel_count; i++)
			if (kernels[i].begin_ns <= t && t < kernels[i].end_ns)
				causes[kernels[i].name] += waiting * UNIT / running;
	}
	assert_int_equal(asked->wait.sync_ns, sync_ns);
	assert_int_equal(asked->wait.uncovered_ns, uncovered_ns);
	for (uint32_t i = 0; i < NAMES; i++)
		assert_int_equal(cause(asked, names[i]), causes[i]);
}

static void test_twin(void **unused)
{
	(void)unused;
	small_seed("blame.wait");
	for (int round = 0; round < ROUNDS; round++) {
		struct asked asked;

		begin(&asked);
		put_random(&asked);
		asked.question.begin_ns = small_below(LENGTH - 1);
		asked.question.end_ns =
			asked.question.begin_ns + 1 + small_below(LENGTH - asked.question.begin_ns - 1);
		ask(&asked);
		check_random(&asked);
		end(&asked);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_concurrent),
		cmocka_unit_test(test_two_processes),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_twin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
