/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_threads.c - waiting, serial sections, late ranks and imbalance, in closed form; the parts of the
 * threads' time sum to it on random traces.
 */
#include "tests/unit/blame_asked.h"

#include "blame/idle/imbalance.h"
#include "blame/wait/last_arrival.h"
#include "blame/wait/threads.h"

#define ROUNDS 100
#define LENGTH 1000u

static void ready(struct asked *asked, uint64_t end_ns)
{
	asked->question.end_ns = end_ns;
	asked_ready(asked);
}

/*
 *   thread 0  |a        |sync |a     |poll      |
 *   thread 1  |b  |blocked, last in b|b  |runnable|
 *   thread 2  |blocked in read                    |
 *             0   20    50    60     80  85      100
 */
static void test_waiting_and_serial(void **unused)
{
	struct asked asked = {0};
	struct threads threads;
	struct store_writer *writer;
	uint32_t first, second, third;

	(void)unused;
	small_begin(&asked.small);
	writer = asked.small.writer;
	first = trace_thread(writer, 1, 0, 100);
	second = trace_thread(writer, 1, 1, 100);
	third = trace_thread(writer, 1, 2, 100);
	trace_run(writer, third, 0, "main;c");
	trace_span(writer, third, 0, 100, STORE_OP_BLOCKED, "main;c;read", 0);
	trace_run(writer, first, 0, "main;a");
	trace_span(writer, first, 50, 60, STORE_OP_SYNC, "main;sync", 0);
	trace_run(writer, first, 80, "main;poll");
	trace_run(writer, second, 0, "main;b");
	trace_span(writer, second, 20, 80, STORE_OP_BLOCKED, "", 0);
	trace_span(writer, second, 85, 100, STORE_OP_RUNNABLE, "", 0);
	ready(&asked, 100);
	assert_int_equal(
		threads_sweep(&threads, asked.small.run, &asked.question, &asked.arena, &asked.error), 0);
	assert_int_equal(threads.work_ns, 70 + 25);
	assert_int_equal(threads.sync_ns, 10);
	assert_int_equal(threads.blocked_ns, 60 + 100);
	assert_int_equal(threads.pathless_ns, 60);
	assert_int_equal(threads.spin_ns, 20);
	assert_int_equal(threads.runnable_ns, 15);
	assert_int_equal(asked_row(&asked, threads.waited, threads.waited_count, "main;b"), 0);
	assert_int_equal(asked_row(&asked, threads.after, threads.after_count, "main;b"), 60);
	assert_int_equal(asked_row(&asked, threads.waited, threads.waited_count, "main;c;read"), 100);
	assert_int_equal(asked_row(&asked, threads.waited, threads.waited_count, "main;poll"), 20);
	assert_int_equal(asked_row(&asked, threads.waited, threads.waited_count, "main;sync"), 10);
	assert_int_equal(threads.serial_ns, 50 + 5);
	assert_int_equal(asked_row(&asked, threads.serial, threads.serial_count, "main;a"), 50);
	assert_int_equal(asked_row(&asked, threads.serial, threads.serial_count, "main;b"), 5);
	asked_end(&asked);
}

/* Rank 3 comes last to the first call, rank 1 to the second. */
static void test_late(void **unused)
{
	static const uint64_t arrivals[3][2] = {{10, 95}, {20, 70}, {40, 80}};
	struct asked asked = {0};
	struct last_arrival late;

	(void)unused;
	small_begin(&asked.small);
	for (uint32_t rank = 0; rank < 3; rank++) {
		struct store_writer *writer = asked.small.writer;
		uint32_t thread = trace_thread(writer, rank + 1, 0, 120);

		trace_run(writer, thread, 0, "main;work");
		trace_run(writer, thread, arrivals[rank][0], "main;step;MPI_Allreduce;progress");
		trace_run(writer, thread, 50, "main;work");
		trace_span(writer, thread, arrivals[rank][1], 100, STORE_OP_SYNC, "main;PMPI_Barrier", 0);
	}
	/* It computes alone: no party. */
	trace_run(asked.small.writer, trace_thread(asked.small.writer, 9, 0, 120), 0, "main;work");
	ready(&asked, 120);
	assert_int_equal(
		last_arrival_sweep(&late, asked.small.run, &asked.question, &asked.arena, &asked.error), 0);
	assert_int_equal(late.count, 3);
	assert_int_equal(late.occasions, 2);
	assert_int_equal(late.held_ns, (30 + 20) + (25 + 15));
	assert_int_equal(run_stream(asked.small.run, late.parties[0].stream)->s.rank, 3);
	assert_int_equal(late.parties[0].held_ns, 30 + 20);
	assert_int_equal(late.parties[0].last, 1);
	assert_int_equal(late.parties[0].waited_ns, 15);
	assert_string_equal(
		run_context_path(asked.small.run, late.parties[0].context, UINT32_MAX, &asked.arena),
		"main;work");
	assert_int_equal(run_stream(asked.small.run, late.parties[1].stream)->s.rank, 1);
	assert_int_equal(late.parties[1].held_ns, 25 + 15);
	assert_int_equal(late.parties[2].held_ns, 0);
	asked_end(&asked);
}

/*
 * Barrier 1: thread 2 comes at 50, is never seen inside, and all go on. Barrier 2: thread 0 comes last and is
 * seen. Then thread 1 alone leaves a barrier that two are still missing at: nobody was last.
 */
static void test_late_threads(void **unused)
{
	struct asked asked = {0};
	struct store_writer *writer;
	uint32_t threads[3];
	struct last_arrival late;

	(void)unused;
	small_begin(&asked.small);
	writer = asked.small.writer;
	for (uint32_t i = 0; i < 3; i++) {
		threads[i] = trace_thread(writer, 1, i, 200);
		trace_run(writer, threads[i], 0, "main;work");
	}
	trace_run(writer, threads[0], 10, "main;GOMP_parallel;gomp_team_barrier_wait_end;do_spin");
	trace_run(writer, threads[1], 30, "main;GOMP_parallel;gomp_team_barrier_wait_end");
	trace_run(writer, threads[2], 20, "main;slow");
	trace_run(writer, threads[0], 50, "main;work");
	trace_run(writer, threads[1], 52, "main;work");
	trace_run(writer, threads[1], 60, "main;__kmp_hyper_barrier_gather");
	trace_run(writer, threads[2], 70, "main;__kmp_hyper_barrier_gather");
	trace_run(writer, threads[0], 75, "main;other");
	trace_run(writer, threads[0], 100, "main;__kmp_hyper_barrier_gather");
	trace_run(writer, threads[0], 102, "main;work");
	trace_run(writer, threads[1], 103, "main;work");
	trace_run(writer, threads[2], 104, "main;work");
	trace_run(writer, threads[1], 120, "main;GOMP_barrier");
	trace_run(writer, threads[1], 140, "main;work");
	/* A process whose threads never meet. */
	trace_run(writer, trace_thread(writer, 9, 0, 200), 0, "main;work");
	ready(&asked, 200);
	assert_int_equal(
		last_arrival_sweep(&late, asked.small.run, &asked.question, &asked.arena, &asked.error), 0);
	assert_int_equal(late.count, 0);
	assert_int_equal(late.thread_count, 3);
	assert_int_equal(late.thread_held_ns, (40 + 20) + (40 + 30));
	assert_int_equal(run_stream(asked.small.run, late.threads[0].stream)->s.thread, 0);
	assert_int_equal(late.threads[0].held_ns, 40 + 30);
	assert_int_equal(late.threads[0].waited_ns, 40);
	assert_int_equal(late.threads[0].last, 1);
	assert_int_equal(late.threads[0].occasions, 2);
	assert_string_equal(
		run_context_path(asked.small.run, late.threads[0].context, UINT32_MAX, &asked.arena),
		"main;other");
	assert_int_equal(run_stream(asked.small.run, late.threads[1].stream)->s.thread, 2);
	assert_int_equal(late.threads[1].held_ns, 40 + 20);
	assert_string_equal(
		run_context_path(asked.small.run, late.threads[1].context, UINT32_MAX, &asked.arena),
		"main;slow");
	assert_int_equal(late.threads[2].held_ns, 0);
	assert_int_equal(late.threads[2].waited_ns, 20 + 40);
	asked_end(&asked);
}

/* One thread yields its core in the barrier, and has it back twice: it has left once. So for ranks. */
static void check_yielding(uint32_t second_pid, const char *barrier)
{
	struct asked asked = {0};
	struct store_writer *writer;
	const struct last_arrival_party *last;
	uint32_t first, second;
	struct last_arrival late;

	small_begin(&asked.small);
	writer = asked.small.writer;
	first = trace_thread(writer, 1, 0, 100);
	second = trace_thread(writer, second_pid, 1, 100);
	trace_run(writer, first, 0, "main;work");
	trace_run(writer, second, 0, "main;slow");
	trace_run(writer, first, 10, barrier);
	trace_span(writer, first, 20, 30, STORE_OP_RUNNABLE, "", 0);
	trace_span(writer, first, 40, 65, STORE_OP_RUNNABLE, "", 0);
	trace_run(writer, second, 60, barrier);
	trace_run(writer, second, 70, "main;work");
	trace_run(writer, first, 75, "main;work");
	ready(&asked, 100);
	assert_int_equal(
		last_arrival_sweep(&late, asked.small.run, &asked.question, &asked.arena, &asked.error), 0);
	assert_int_equal(late.count + late.thread_count, 2);
	last = second_pid == 1 ? late.threads : late.parties;
	assert_int_equal(run_stream(asked.small.run, last->stream)->s.thread, 1);
	assert_int_equal(last->occasions, 1);
	assert_int_equal(last->held_ns, 50);
	asked_end(&asked);
}

static void test_yielding(void **unused)
{
	(void)unused;
	check_yielding(1, "main;__kmpc_barrier;sched_yield");
	check_yielding(2, "main;mpi_allreduce_;sched_yield");
}

/* 10, 30 and 0 ns of a: mean 40/3, variance (100 + 900) / 3 - (40/3)^2 = 1400/9. */
static void test_imbalance(void **unused)
{
	struct asked asked = {0};
	struct imbalance balance;
	struct select *select;
	struct store_writer *writer;
	const struct imbalance_row *row;

	(void)unused;
	small_begin(&asked.small);
	writer = asked.small.writer;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t thread = trace_thread(writer, 1, i, 100);

		if (i < 2)
			trace_run(writer, thread, 0, "main;a");
		trace_run(writer, thread, i == 0 ? 10 : i == 1 ? 30 : 0, "main;b");
	}
	trace_kernel(writer, trace_queue(writer, 1, 1, 100), 0, 50);
	ready(&asked, 100);
	assert_int_equal(select_new(&select, &asked.error), 0);
	assert_int_equal(select_bind(select, asked.small.run, &asked.error), 0);
	assert_int_equal(imbalance_make(&balance, asked.small.run, select, asked.question.streams,
				 asked.question.stream_count, ROW_KEY_FUNCTION, &asked.arena, &asked.error),
		0);
	assert_int_equal(balance.count, 3);
	for (size_t i = 1; i < balance.count; i++)
		assert_true((double)balance.rows[i - 1].max_ns - balance.rows[i - 1].mean_ns >=
			    (double)balance.rows[i].max_ns - balance.rows[i].mean_ns);
	row = strcmp(balance.rows[0].key, "a") == 0 ? &balance.rows[0] : &balance.rows[1];
	assert_string_equal(row->key, "a");
	assert_int_equal(row->total_ns, 40);
	assert_int_equal(row->min_ns, 0);
	assert_int_equal(row->max_ns, 30);
	assert_int_equal(row->streams, 3);
	assert_int_equal(run_stream(asked.small.run, row->busiest)->s.thread, 1);
	assert_true(row->sd_ns > 12.4721 && row->sd_ns < 12.4723);
	assert_true(row->cv > 0.9354 && row->cv < 0.9355);
	select_free(select);
	asked_end(&asked);
}

/* Any trace: the parts sum to threads x window, and no more is serial than the work. */
static void test_parts(void **unused)
{
	static const uint32_t ops[] = {STORE_OP_SYNC, STORE_OP_BLOCKED, STORE_OP_RUNNABLE, STORE_OP_LOST};

	(void)unused;
	small_seed("blame.threads");
	for (int round = 0; round < ROUNDS; round++) {
		struct asked asked = {0};
		struct threads t;
		uint64_t waited = 0;

		small_begin(&asked.small);
		for (uint32_t i = 0; i < 4; i++) {
			uint32_t thread = trace_stream(asked.small.writer, STORE_STREAM_CPU, 1 + i / 3, i,
				small_below(100), LENGTH - small_below(100));

			for (uint64_t now = small_below(150); now < LENGTH; now += small_below(100)) {
				trace_run(asked.small.writer, thread, now,
					small_below(3) ? "main;a" : "main;futex_wait");
				trace_span(asked.small.writer, thread, now + small_below(50), now + 70,
					ops[small_below(4)], small_below(2) ? "main;w" : "", 0);
			}
		}
		ready(&asked, LENGTH + 50);
		asked.question.begin_ns = small_below(300);
		assert_int_equal(
			threads_sweep(&t, asked.small.run, &asked.question, &asked.arena, &asked.error), 0);
		assert_int_equal(t.work_ns + t.sync_ns + t.blocked_ns + t.spin_ns + t.runnable_ns +
					 t.unknown_ns + t.absent_ns,
			t.window_ns);
		for (size_t i = 0; i < t.waited_count; i++)
			waited += (uint64_t)(t.waited[i].amount >> 64);
		assert_int_equal(waited, t.sync_ns + t.blocked_ns + t.spin_ns - t.pathless_ns);
		waited = 0;
		for (size_t i = 0; i < t.after_count; i++)
			waited += (uint64_t)(t.after[i].amount >> 64);
		assert_int_equal(waited, t.pathless_ns);
		assert_true(t.serial_ns <= t.work_ns);
		asked_end(&asked);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waiting_and_serial),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_late_threads),
		cmocka_unit_test(test_yielding),
		cmocka_unit_test(test_imbalance),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
