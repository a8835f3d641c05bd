/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_wait_causes.c - which wake ended which wait, on random traces against a twin that looks at all of
 * them; what is waited by cause sums to what threads.h counts.
 */
#include "tests/unit/blame_asked.h"

#include "blame/wait/threads.h"
#include "blame/wait/wait_causes.h"

#define ROUNDS 150
#define LENGTH 2000u
#define THREADS 4u
#define THINGS 3u
#define MOST 400u

struct drawn {
	uint64_t begin_ns, end_ns;
	uint32_t thread, thing;
	bool is_poll; /* of a wait: it takes the wake from nobody */
	bool is_for_all;
	bool is_done;
};

struct drawing {
	struct drawn waits[MOST], wakes[MOST];
	size_t wait_count, wake_count;
};

static void put_text(struct store_writer *writer, uint32_t stream, const struct drawn *drawn, const char *op,
	const char *key, const char *call)
{
	char text[80];

	snprintf(text, sizeof text, "call=%s,%s=pipe:%u", call, key, drawn->thing);
	small_span(writer, stream, drawn->begin_ns, drawn->end_ns, store_writer_op(writer, op, strlen(op)),
		small_path(writer, "main;call"), text);
}

/* A thread waits, works, and wakes while it works; now and then it sleeps, and no record tells why. */
static void draw_thread(
	struct drawing *drawing, struct store_writer *writer, uint32_t stream, uint32_t thread)
{
	uint64_t now_ns = small_below(40);

	trace_run(writer, stream, 0, "main;work");
	while (now_ns + 60 < LENGTH && drawing->wait_count < MOST && drawing->wake_count < MOST) {
		struct drawn drawn = {.begin_ns = now_ns,
			.end_ns = now_ns + 2 + small_below(50),
			.thread = thread,
			.thing = (uint32_t)small_below(THINGS)};

		switch (small_below(5)) {
		case 0:
		case 1:
			drawn.is_poll = !small_below(3);
			drawing->waits[drawing->wait_count++] = drawn;
			put_text(writer, stream, &drawn, "wait", "cause=pipe,from",
				drawn.is_poll ? "poll" : "read");
			trace_span(writer, stream, drawn.begin_ns, drawn.end_ns, STORE_OP_BLOCKED,
				"main;call", 0);
			break;
		case 2:
			trace_span(writer, stream, drawn.begin_ns, drawn.end_ns,
				small_below(2) ? STORE_OP_BLOCKED : STORE_OP_RUNNABLE, "", 0);
			break;
		default:
			drawn.end_ns = drawn.begin_ns + 2;
			drawn.is_for_all = !small_below(4);
			drawing->wakes[drawing->wake_count++] = drawn;
			put_text(writer, stream, &drawn, "wake", "wakes",
				drawn.is_for_all ? "pthread_cond_broadcast" : "write");
		}
		now_ns = drawn.end_ns + 1 + small_below(20);
	}
}

static bool is_before(const struct drawn *a, const struct drawn *b)
{
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->thread < b->thread;
}

static struct drawn *next_wait(struct drawing *drawing)
{
	struct drawn *next = NULL;

	for (size_t i = 0; i < drawing->wait_count; i++)
		if (!drawing->waits[i].is_done && (!next || is_before(&drawing->waits[i], next)))
			next = &drawing->waits[i];
	return next;
}

/* The twin: of all wakes the first that overlaps and has ended no other wait. */
static struct drawn *wake_of(struct drawing *drawing, const struct drawn *wait)
{
	struct drawn *first = NULL;

	for (size_t i = 0; i < drawing->wake_count; i++) {
		struct drawn *wake = &drawing->wakes[i];

		if (wake->thing == wait->thing && !wake->is_done && wake->end_ns > wait->begin_ns &&
			wake->begin_ns < wait->end_ns && (!first || is_before(wake, first)))
			first = wake;
	}
	return first;
}

static const struct wait_cause *cause_of(
	const struct wait_causes *causes, uint32_t stream, const struct drawn *wait)
{
	for (size_t i = 0; i < causes->count; i++)
		if (causes->list[i].waiter == stream && causes->list[i].begin_ns == wait->begin_ns)
			return &causes->list[i];
	return NULL;
}

static void check_causes(const struct wait_causes *causes, struct drawing *drawing)
{
	struct drawn *wait;

	while ((wait = next_wait(drawing))) {
		struct drawn *wake = wake_of(drawing, wait);
		const struct wait_cause *cause = cause_of(causes, wait->thread, wait);

		wait->is_done = true;
		assert_non_null(cause);
		assert_int_equal(cause->end_ns, wait->end_ns);
		assert_int_equal(cause->kind, CAUSE_PIPE);
		assert_int_equal(cause->party, wake ? wake->thread : CAUSE_NOBODY);
		assert_int_equal(cause->from_ns, wake ? wake->begin_ns : 0);
		if (wake && !wait->is_poll && !wake->is_for_all)
			wake->is_done = true;
	}
}

static void check_sums(struct asked *asked)
{
	struct threads threads;
	struct wait_cause_sums sums;
	uint64_t by_kind_ns = 0, by_row_ns = 0;

	assert_int_equal(
		threads_sweep(&threads, asked->small.run, &asked->question, &asked->arena, &asked->error), 0);
	assert_int_equal(
		wait_cause_sums_find(&sums, asked->small.run, &asked->question, &asked->arena, &asked->error),
		0);
	for (int kind = 0; kind < CAUSE_COUNT; kind++)
		by_kind_ns += sums.kind_ns[kind];
	for (size_t i = 0; i < sums.row_count; i++)
		by_row_ns += sums.rows[i].time_ns;
	assert_int_equal(by_kind_ns, sums.waiting_ns);
	assert_int_equal(by_row_ns, sums.waiting_ns);
	assert_int_equal(sums.waiting_ns,
		threads.sync_ns + threads.blocked_ns + threads.spin_ns + threads.runnable_ns);
	assert_int_equal(sums.kind_ns[CAUSE_CPU], threads.runnable_ns);
}

static void test_random(void **unused)
{
	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		static struct drawing drawing;
		struct wait_causes causes;
		struct asked asked = {0};

		drawing = (struct drawing){0};
		small_begin(&asked.small);
		for (uint32_t thread = 0; thread < THREADS; thread++)
			draw_thread(&drawing, asked.small.writer,
				trace_thread(asked.small.writer, 1, thread, LENGTH), thread);
		asked.question.end_ns = LENGTH;
		asked_ready(&asked);
		assert_int_equal(wait_causes_find(&causes, asked.small.run, &asked.question, &asked.arena,
					 &asked.error),
			0);
		check_causes(&causes, &drawing);
		check_sums(&asked);
		wait_causes_fini(&causes);
		asked_end(&asked);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	small_seed("blame_wait_causes");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
