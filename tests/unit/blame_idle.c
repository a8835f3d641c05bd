/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_idle.c - blame for idle GPUs in closed form: traces of a few records whose answer is known to the
 * nanosecond.
 */
#include "tests/unit/blame_asked.h"

static void ask(struct asked *asked)
{
	asked_ready(asked);
	asked->result =
		idle_sweep(&asked->idle, asked->small.run, &asked->question, &asked->arena, &asked->error);
	if (!asked->result) {
		assert_int_equal(asked->idle.busy_ns + asked->idle.idle_ns + asked->idle.unknown_ns,
			asked->idle.window_ns);
		assert_int_equal(asked->idle.blamed_ns + asked->idle.all_idle_ns, asked->idle.idle_ns);
	}
}

static uint64_t blamed(struct asked *asked, const char *path)
{
	return asked_row(asked, asked->idle.blamed, asked->idle.blamed_count, path);
}

static uint64_t waited(struct asked *asked, const char *path)
{
	return asked_row(asked, asked->idle.waited, asked->idle.waited_count, path);
}

/* Kernels at [0, 20) and [70, 100): 50 ns idle. */
static void put_queue(struct store_writer *writer, uint32_t pid)
{
	uint32_t queue = trace_queue(writer, pid, 1, 100);

	trace_kernel(writer, queue, 0, 20);
	trace_kernel(writer, queue, 70, 100);
}

static void test_one_thread(void **unused)
{
	struct asked asked;
	uint32_t thread;

	(void)unused;
	asked_begin(&asked);
	thread = trace_thread(asked.small.writer, 1, 0, 100);
	put_queue(asked.small.writer, 1);
	trace_run(asked.small.writer, thread, 0, "main;a");
	trace_run(asked.small.writer, thread, 50, "main;b");
	ask(&asked);
	assert_int_equal(asked.result, 0);
	assert_int_equal(asked.idle.idle_ns, 50);
	assert_int_equal(asked.idle.blamed_ns, 50);
	assert_int_equal(blamed(&asked, "main;a"), 30);
	assert_int_equal(blamed(&asked, "main;b"), 20);
	asked_end(&asked);
}

/* Threads b and c wait until 30 and 40: k = 1 in [20, 30), 2 in [30, 40), 3 in [40, 70). */
static void test_three_threads(void **unused)
{
	static const char *const paths[] = {"main;a", "main;b", "main;c"};
	struct asked asked;

	(void)unused;
	asked_begin(&asked);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t thread = trace_thread(asked.small.writer, 1, i, 100);

		trace_run(asked.small.writer, thread, 0, paths[i]);
		if (i)
			trace_span(asked.small.writer, thread, 5, 20 + 10 * i, STORE_OP_BLOCKED, "", 0);
	}
	put_queue(asked.small.writer, 1);
	ask(&asked);
	assert_int_equal(asked.idle.blamed_ns, 50);
	assert_int_equal(blamed(&asked, "main;a"), 10 + 5 + 10);
	assert_int_equal(blamed(&asked, "main;b"), 5 + 10);
	assert_int_equal(blamed(&asked, "main;c"), 10);
	asked_end(&asked);
}

/* 50 ns among three: 16 2/3 each; the two missing ns go to the first two, and the sum is exact. */
static void test_rounding(void **unused)
{
	static const char *const paths[] = {"main;a", "main;b", "main;c"};
	struct asked asked;
	uint64_t sum = 0;

	(void)unused;
	asked_begin(&asked);
	for (uint32_t i = 0; i < 3; i++)
		trace_run(asked.small.writer, trace_thread(asked.small.writer, 1, i, 100), 0, paths[i]);
	put_queue(asked.small.writer, 1);
	ask(&asked);
	for (int i = 0; i < 3; i++) {
		assert_in_range(blamed(&asked, paths[i]), 16, 17);
		sum += blamed(&asked, paths[i]);
	}
	assert_int_equal(sum, 50);
	asked_end(&asked);
}

static void test_overlapping_queues(void **unused)
{
	struct asked asked;
	uint32_t first, second;

	(void)unused;
	asked_begin(&asked);
	trace_run(asked.small.writer, trace_thread(asked.small.writer, 1, 0, 100), 0, "main;a");
	first = trace_queue(asked.small.writer, 1, 1, 100);
	second = trace_queue(asked.small.writer, 1, 2, 100);
	trace_kernel(asked.small.writer, first, 10, 40);
	trace_span(asked.small.writer, second, 30, 60, STORE_OP_COPY, "main;<gpu copy>", 0);
	trace_kernel(asked.small.writer, first, 50, 55);
	ask(&asked);
	assert_int_equal(asked.idle.busy_ns, 50);
	assert_int_equal(asked.idle.kernel_ns, 35);
	assert_int_equal(asked.idle.copy_ns, 15);
	assert_int_equal(blamed(&asked, "main;a"), 50);
	asked.question.busy = IDLE_BUSY_KERNEL;
	ask(&asked);
	assert_int_equal(asked.idle.busy_ns, 35);
	assert_int_equal(blamed(&asked, "main;a"), 65);
	asked_end(&asked);
}

/* On one queue: a copy in a kernel, a kernel beside one that communicates, a copy that outlives both. Each
 * kind is unified for itself, with samples of threads counted (all lines are swept) and without. */
static void test_overlapping_kinds(void **unused)
{
	struct asked asked;
	uint32_t queue;

	(void)unused;
	asked_begin(&asked);
	trace_run(asked.small.writer, trace_thread(asked.small.writer, 1, 0, 100), 0, "main;a");
	queue = trace_queue(asked.small.writer, 1, 1, 100);
	trace_kernel(asked.small.writer, queue, 0, 40);
	trace_span(asked.small.writer, queue, 10, 20, STORE_OP_COPY, "main;<gpu copy>", 0);
	trace_span(asked.small.writer, queue, 30, 60, STORE_OP_KERNEL, "main;ncclDevKernel_AllReduce", 0);
	trace_span(asked.small.writer, queue, 50, 80, STORE_OP_COPY, "main;<gpu copy>", 0);
	for (int is_sampled = 0; is_sampled < 2; is_sampled++) {
		asked.question.is_sampled = is_sampled;
		asked.question.busy = IDLE_BUSY_ANY;
		ask(&asked);
		assert_int_equal(asked.idle.kernel_ns, 40);
		assert_int_equal(asked.idle.comm_ns, 20);
		assert_int_equal(asked.idle.copy_ns, 20);
		assert_int_equal(asked.idle.busy_ns, 80);
		assert_int_equal(blamed(&asked, "main;a"), 20);
		asked.question.busy = IDLE_BUSY_KERNEL;
		ask(&asked);
		assert_int_equal(asked.idle.busy_ns, 60);
		assert_int_equal(blamed(&asked, "main;a"), 40);
	}
	asked_end(&asked);
}

/* Each process is blamed for its own device; together the devices idle only while both do. */
static void test_two_processes(void **unused)
{
	struct asked asked;
	uint32_t queue;

	(void)unused;
	asked_begin(&asked);
	trace_run(asked.small.writer, trace_thread(asked.small.writer, 1, 0, 100), 0, "main;a");
	put_queue(asked.small.writer, 1);
	trace_run(asked.small.writer, trace_thread(asked.small.writer, 2, 0, 100), 0, "main;b");
	queue = trace_queue(asked.small.writer, 2, 1, 100);
	trace_kernel(asked.small.writer, queue, 0, 90);
	ask(&asked);
	assert_int_equal(asked.idle.groups, 2);
	assert_int_equal(asked.idle.window_ns, 200);
	assert_int_equal(blamed(&asked, "main;a"), 50);
	assert_int_equal(blamed(&asked, "main;b"), 10);
	asked.question.group = IDLE_GROUP_ALL;
	ask(&asked);
	assert_int_equal(asked.idle.idle_ns, 0);
	assert_int_equal(asked.idle.window_ns, 100);
	asked_end(&asked);
}

static void test_window_cuts(void **unused)
{
	struct asked asked;
	uint32_t thread;

	(void)unused;
	asked_begin(&asked);
	thread = trace_thread(asked.small.writer, 1, 0, 100);
	put_queue(asked.small.writer, 1);
	trace_run(asked.small.writer, thread, 0, "main;a");
	trace_run(asked.small.writer, thread, 50, "main;b");
	asked.question.begin_ns = 10;
	asked.question.end_ns = 60;
	ask(&asked);
	assert_int_equal(asked.idle.busy_ns, 10);
	assert_int_equal(blamed(&asked, "main;a"), 30);
	assert_int_equal(blamed(&asked, "main;b"), 10);
	asked_end(&asked);
}

/* Blocked in [20, 40), in a function that only waits after. */
static void test_nobody_active(void **unused)
{
	struct asked asked;
	uint32_t thread;

	(void)unused;
	asked_begin(&asked);
	thread = trace_thread(asked.small.writer, 1, 0, 100);
	put_queue(asked.small.writer, 1);
	trace_run(asked.small.writer, thread, 0, "main;read");
	trace_span(asked.small.writer, thread, 20, 40, STORE_OP_BLOCKED, "", 0);
	trace_run(asked.small.writer, thread, 40, "main;PMPI_Waitall;progress");
	ask(&asked);
	assert_int_equal(asked.idle.blamed_ns, 0);
	assert_int_equal(asked.idle.all_idle_ns, 50);
	assert_int_equal(asked.idle.unexplained_ns, 0);
	assert_int_equal(waited(&asked, "main;read"), 20);
	assert_int_equal(waited(&asked, "main;PMPI_Waitall;progress"), 30);
	asked_end(&asked);
}

/* A thread of which nothing is known is not at work. */
static void test_lost_thread(void **unused)
{
	struct asked asked;
	uint32_t thread;

	(void)unused;
	asked_begin(&asked);
	thread = trace_thread(asked.small.writer, 1, 0, 100);
	put_queue(asked.small.writer, 1);
	trace_run(asked.small.writer, thread, 0, "main;a");
	trace_span(asked.small.writer, thread, 30, 100, STORE_OP_LOST, "", 0);
	ask(&asked);
	assert_int_equal(blamed(&asked, "main;a"), 10);
	assert_int_equal(asked.idle.unexplained_ns, 40);
	asked_end(&asked);
}

/* Lost in [30, 40), unmonitored in [50, 60): neither idle nor busy. */
static void test_unknown_gpu(void **unused)
{
	struct asked asked;
	uint32_t queue;

	(void)unused;
	asked_begin(&asked);
	trace_run(asked.small.writer, trace_thread(asked.small.writer, 1, 0, 100), 0, "main;a");
	queue = trace_queue(asked.small.writer, 1, 1, 100);
	trace_kernel(asked.small.writer, queue, 0, 20);
	trace_span(asked.small.writer, queue, 30, 40, STORE_OP_LOST, "", 0);
	trace_span(asked.small.writer, queue, 50, 60, STORE_OP_UNMONITORED, "", 0);
	ask(&asked);
	assert_int_equal(asked.idle.unknown_ns, 20);
	assert_int_equal(asked.idle.lost_ns, 10);
	assert_int_equal(blamed(&asked, "main;a"), 60);
	asked.question.begin_ns = 30;
	asked.question.end_ns = 40;
	ask(&asked);
	assert_int_equal(asked.result, -ERROR_EMPTY);
	asked_end(&asked);
}

static void test_empty(void **unused)
{
	struct asked asked;

	(void)unused;
	asked_begin(&asked);
	trace_run(asked.small.writer, trace_thread(asked.small.writer, 1, 0, 100), 0, "main;a");
	ask(&asked);
	assert_int_equal(asked.result, -ERROR_EMPTY);
	asked_end(&asked);
	asked_begin(&asked);
	trace_run(asked.small.writer, trace_thread(asked.small.writer, 1, 0, 100), 0, "main;a");
	put_queue(asked.small.writer, 1);
	asked.question.begin_ns = 200;
	asked.question.end_ns = 300;
	ask(&asked);
	assert_int_equal(asked.result, -ERROR_EMPTY);
	asked_end(&asked);
}

/* A queue that is born at 50: before, its device was idle. */
static void test_late_queue(void **unused)
{
	struct asked asked;
	uint32_t queue;

	(void)unused;
	asked_begin(&asked);
	trace_run(asked.small.writer, trace_thread(asked.small.writer, 1, 0, 80), 0, "main;a");
	queue = trace_stream(asked.small.writer, STORE_STREAM_GPU, 1, 1, 50, 80);
	trace_kernel(asked.small.writer, queue, 50, 80);
	ask(&asked);
	assert_int_equal(blamed(&asked, "main;a"), 50);
	assert_int_equal(asked.idle.busy_ns, 30);
	assert_int_equal(asked.idle.unknown_ns, 20);
	asked_end(&asked);
}

/* Two processes, of which one has ended at 60: nobody misses its GPU any more, and before the other's window
 * is over nothing else is unknown. */
static void test_ended_process(void **unused)
{
	struct asked asked;
	uint32_t queue;

	(void)unused;
	asked_begin(&asked);
	trace_run(asked.small.writer, trace_thread(asked.small.writer, 1, 0, 60), 0, "main;a");
	queue = trace_stream(asked.small.writer, STORE_STREAM_GPU, 1, 1, 0, 60);
	trace_kernel(asked.small.writer, queue, 10, 30);
	trace_run(asked.small.writer, trace_thread(asked.small.writer, 2, 0, 100), 0, "main;b");
	queue = trace_stream(asked.small.writer, STORE_STREAM_GPU, 2, 1, 0, 100);
	trace_kernel(asked.small.writer, queue, 0, 90);
	ask(&asked);
	assert_int_equal(blamed(&asked, "main;a"), 40);
	assert_int_equal(blamed(&asked, "main;b"), 10);
	assert_int_equal(asked.idle.busy_ns, 110);
	assert_int_equal(asked.idle.unknown_ns, 40);
	assert_int_equal(asked.idle.ended_ns, 40);
	assert_int_equal(asked.idle.window_ns, 200);
	asked_end(&asked);
}

/* The same, but its recorder says that the process used no GPU before. */
static void test_first_use(void **unused)
{
	struct asked asked;
	uint32_t queue;

	(void)unused;
	asked_begin(&asked);
	trace_run(asked.small.writer, trace_thread(asked.small.writer, 1, 0, 100), 0, "main;a");
	queue = trace_stream_said(
		asked.small.writer, STORE_STREAM_GPU, 1, 1, 40, 100, "name=queue,since=first-use");
	trace_stream(asked.small.writer, STORE_STREAM_GPU, 1, 2, 60, 100);
	trace_kernel(asked.small.writer, queue, 50, 80);
	ask(&asked);
	assert_int_equal(blamed(&asked, "main;a"), 30);
	assert_int_equal(asked.idle.busy_ns, 30);
	assert_int_equal(asked.idle.unused_ns, 40);
	assert_int_equal(asked.idle.unknown_ns, 40);
	assert_int_equal(asked.idle.window_ns, 100);
	asked_end(&asked);
}

/*
 *   thread  |a    |launch|sync~~~~~~~~~~~~~~~~~~~~~~~~|b
 *   queue   |.........................|kernel|........
 *           0     10     20           50     60       80
 *
 * From 20 to 50 the thread waits for its work, from 60 to 80 for nothing: that is its own fault.
 */
static void test_synchronization(void **unused)
{
	struct asked asked;
	uint32_t thread, queue;

	(void)unused;
	asked_begin(&asked);
	thread = trace_thread(asked.small.writer, 1, 0, 100);
	queue = trace_queue(asked.small.writer, 1, 1, 100);
	trace_run(asked.small.writer, thread, 0, "main;a");
	trace_span(asked.small.writer, thread, 10, 20, STORE_OP_LAUNCH, "main;launch", 7);
	trace_span(asked.small.writer, thread, 20, 80, STORE_OP_SYNC, "main;sync", 0);
	trace_run(asked.small.writer, thread, 80, "main;b");
	trace_span(asked.small.writer, queue, 50, 60, STORE_OP_KERNEL, "main;kernel", 7);
	ask(&asked);
	assert_int_equal(blamed(&asked, "main;a"), 20);
	assert_int_equal(blamed(&asked, "main;sync"), 20);
	assert_int_equal(blamed(&asked, "main;b"), 20);
	assert_int_equal(waited(&asked, "main;sync"), 30);
	/* The launch lies before the window, its kernel behind it. */
	asked.question.begin_ns = 30;
	asked.question.end_ns = 40;
	ask(&asked);
	assert_int_equal(waited(&asked, "main;sync"), 10);
	asked_end(&asked);
}

/* A copy is work to wait for, though no kernel. */
static void test_synchronization_of_a_copy(void **unused)
{
	struct asked asked;
	uint32_t thread, queue;

	(void)unused;
	asked_begin(&asked);
	thread = trace_thread(asked.small.writer, 1, 0, 100);
	queue = trace_queue(asked.small.writer, 1, 1, 100);
	trace_run(asked.small.writer, thread, 0, "main;a");
	trace_span(asked.small.writer, thread, 0, 100, STORE_OP_SYNC, "main;sync", 0);
	trace_span(asked.small.writer, queue, 50, 60, STORE_OP_COPY, "main;<gpu copy>", 0);
	asked.question.busy = IDLE_BUSY_KERNEL;
	ask(&asked);
	assert_int_equal(blamed(&asked, "main;sync"), 90);
	assert_int_equal(waited(&asked, "main;sync"), 10);
	asked_end(&asked);
}

/* A kernel runs at [10, 50), the thread waits for it there and is sampled at 30 at work in `sampled`; then
 * nothing is known of it until it is in b at 70. */
static void check_after_synchronization(const char *wait, const char *sampled, const char *after)
{
	struct asked asked;
	uint32_t thread;

	asked_begin(&asked);
	thread = trace_thread(asked.small.writer, 1, 0, 100);
	trace_kernel(asked.small.writer, trace_queue(asked.small.writer, 1, 1, 100), 10, 50);
	trace_run(asked.small.writer, thread, 0, "main;a");
	trace_span(asked.small.writer, thread, 10, 50, STORE_OP_SYNC, wait, 0);
	trace_run(asked.small.writer, thread, 30, sampled);
	trace_span(asked.small.writer, thread, 60, 65, STORE_OP_BLOCKED, "", 0);
	trace_run(asked.small.writer, thread, 70, "main;b");
	ask(&asked);
	assert_int_equal(asked.idle.blamed_ns, 55);
	assert_int_equal(blamed(&asked, "main;a"), 10);
	assert_int_equal(blamed(&asked, after), 15);
	assert_int_equal(blamed(&asked, "main;b"), 30);
	assert_int_equal(waited(&asked, after), 5);
	/* The wait lies before the window. */
	asked.question.begin_ns = 55;
	ask(&asked);
	assert_int_equal(asked.idle.blamed_ns, 40);
	assert_int_equal(blamed(&asked, after), 10);
	assert_int_equal(waited(&asked, after), 5);
	asked_end(&asked);
}

static void test_after_synchronization(void **unused)
{
	(void)unused;
	check_after_synchronization("main;solve;cudaDeviceSynchronize;libcuda.so.1+0x10",
		"main;solve;cudaDeviceSynchronize;libcuda.so.1+0x10;poll", "main;solve");
	check_after_synchronization(
		"main;solve;cudaDeviceSynchronize", "main;solve;cudaDeviceSynchronize", "main;solve");
	check_after_synchronization("main;solve;MPI_Wait", "main;solve;MPI_Wait;poll", "main;solve");
	/* The recorder left the call out. */
	check_after_synchronization("main;solve", "main;solve;clFinish;poll", "main;solve");
	/* Not of the call. */
	check_after_synchronization("main;solve;cudaDeviceSynchronize", "main;callback", "main;callback");
}

/* A sample from before it is in force again. */
static void test_before_synchronization(void **unused)
{
	struct asked asked;
	uint32_t thread;

	(void)unused;
	asked_begin(&asked);
	thread = trace_thread(asked.small.writer, 1, 0, 100);
	put_queue(asked.small.writer, 1);
	trace_run(asked.small.writer, thread, 0, "main;a");
	trace_span(asked.small.writer, thread, 5, 30, STORE_OP_SYNC, "main;cudaDeviceSynchronize", 0);
	ask(&asked);
	assert_int_equal(blamed(&asked, "main;cudaDeviceSynchronize"), 10);
	assert_int_equal(blamed(&asked, "main;a"), 40);
	asked_end(&asked);
}

/* A thread with a period of `period_ns` in a and b by turns of 30 ns, the second always in c. */
static void put_sampled(struct store_writer *writer, uint32_t number, uint64_t period_ns)
{
	struct store_stream stream = {.kind = STORE_STREAM_CPU,
		.host = small_text(writer, "node"),
		.rank = 1,
		.pid = 1,
		.thread = number,
		.end_ns = 12000};
	uint32_t thread = store_writer_stream(writer, &stream);
	char attributes[64];

	snprintf(attributes, sizeof attributes, "metric=CPUTIME,period_ns=%d", (int)period_ns);
	small_span(writer, thread, 0, 12000, STORE_OP_MONITORED, 0, attributes);
	for (uint64_t t = 0; t < 12000; t += period_ns)
		trace_run(writer, thread, t, number ? "main;c" : t / 30 % 2 ? "main;b" : "main;a");
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* A sample errs by a period at most at either end of each of the 40 stretches of idle time. */
static void test_sampled(void **unused)
{
	static const uint64_t periods[] = {60, 10, 1};
	static const char *const paths[] = {"main;a", "main;b", "main;c"};

	(void)unused;
	for (int p = 0; p < 3; p++) {
		struct asked asked;
		uint32_t queue;

		asked_begin(&asked);
		put_sampled(asked.small.writer, 0, periods[p]);
		put_sampled(asked.small.writer, 1, periods[p]);
		queue = trace_queue(asked.small.writer, 1, 1, 12000);
		for (uint64_t t = 0; t < 12000; t += 300)
			trace_kernel(asked.small.writer, queue, t + 7, t + 111);
		asked.question.end_ns = 12000;
		asked.question.is_sampled = true;
		ask(&asked);
		assert_int_equal(asked.result, 0);
		assert_int_equal(asked.idle.blamed_ns, 12000 - 40 * 104);
		for (int i = 0; i < 3; i++) {
			uint64_t sampled =
				asked_row(&asked, asked.idle.sampled, asked.idle.sampled_count, paths[i]);

			assert_true(distance(sampled, blamed(&asked, paths[i])) <= 2 * 40 * periods[p]);
			if (periods[p] == 1)
				assert_int_equal(sampled, blamed(&asked, paths[i]));
		}
		asked_end(&asked);
	}
}

static void test_waits_file(void **unused)
{
	struct asked asked;
	char path[128];
	FILE *file;
	uint32_t thread;

	(void)unused;
	asked_begin(&asked);
	thread = trace_thread(asked.small.writer, 1, 0, 100);
	put_queue(asked.small.writer, 1);
	trace_run(asked.small.writer, thread, 0, "main;spin_*;x");
	trace_run(asked.small.writer, thread, 50, "main;MPI_Barrier");
	small_ready(&asked.small);
	snprintf(path, sizeof path, "%s/waits", asked.small.path);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("# ours\nspin_[*] \n!MPI_Barrier\n", file);
	fclose(file);
	assert_int_equal(wait_functions_new(&asked.question.waits, asked.small.run, path, &asked.error), 0);
	ask(&asked);
	assert_int_equal(waited(&asked, "main;spin_*;x"), 30);
	assert_int_equal(blamed(&asked, "main;MPI_Barrier"), 20);
	assert_int_equal(asked.idle.blamed_ns, 20);
	wait_functions_free(asked.question.waits);
	asked.question.waits = NULL;
	assert_int_equal(
		wait_functions_new(&asked.question.waits, asked.small.run, "/none/such", &asked.error),
		-ERROR_USAGE);
	asked_end(&asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_thread),
		cmocka_unit_test(test_three_threads),
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_overlapping_queues),
		cmocka_unit_test(test_overlapping_kinds),
		cmocka_unit_test(test_two_processes),
		cmocka_unit_test(test_window_cuts),
		cmocka_unit_test(test_nobody_active),
		cmocka_unit_test(test_lost_thread),
		cmocka_unit_test(test_unknown_gpu),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_late_queue),
		cmocka_unit_test(test_ended_process),
		cmocka_unit_test(test_first_use),
		cmocka_unit_test(test_synchronization),
		cmocka_unit_test(test_synchronization_of_a_copy),
		cmocka_unit_test(test_after_synchronization),
		cmocka_unit_test(test_before_synchronization),
		cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_waits_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
