/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_gpu_pending.c - traces of seconds, so that launches are long over when others come (launches_pass()),
 * with links in whatever order: what reads threads in step with the queues says what is said line by line,
 * where all launches are known before the first queue is read.
 */
#include "tests/unit/blame_trace.h"

#include "blame/idle/idle.h"

#define LAUNCHES 60000u /* 7 pages of links */
#define STEP_NS 130000u /* about, from launch to launch: 8 s in all */
#define THREADS 2u
#define QUEUES 3u /* the last has late work alone */
#define LATE_NS 300000u
#define LATE_EVERY 30000u
#define LATE_BY_NS UINT64_C(3600000000) /* then pages of its launch are given back */
#define LATE_WAIT_NS 900000000u
#define BATCH 4096u
#define S UINT64_C(1000000000)
#define LIFE_NS (60 * S)

/* In turn, by all threads together; by each from a number of its own; every third; by blocks of 100 in
 * falling order; anywhere. */
enum shape { TOGETHER, APART, THIRD, FALLING, ANYWHERE, SHAPES };

static struct store_record records[THREADS + QUEUES][BATCH];
static size_t counts[THREADS + QUEUES];

static void flush(struct store_writer *writer, uint32_t stream)
{
	store_writer_append(writer, stream, STORE_SPANS, records[stream], counts[stream]);
	counts[stream] = 0;
}

static void put(struct store_writer *writer, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, uint32_t op,
	uint32_t context, uint64_t link)
{
	records[stream][counts[stream]++] = (struct store_record){
		.begin_ns = begin_ns, .end_ns = end_ns, .context = context, .what = op, .link = link};
	if (counts[stream] == BATCH)
		flush(writer, stream);
}

static uint64_t link_of(enum shape shape, uint64_t launch, uint32_t thread)
{
	switch (shape) {
	case APART:
		return ((uint64_t)thread << 40) + launch / THREADS + 1;
	case THIRD:
		return 3 * launch + 1;
	case FALLING:
		return launch / 100 * 100 + 100 - launch % 100;
	case ANYWHERE:
		return (launch + 1) * UINT64_C(0x9e3779b97f4a7c15);
	default:
		return launch + 1;
	}
}

/* Work that is launched early and begins late, while all threads wait for nothing but it. */
struct late {
	uint64_t link, begin_ns; /* 0: none */
};

static void wait_for_late(struct store_writer *writer, struct late *late, uint64_t now_ns[THREADS],
	uint32_t wait, uint32_t kernel)
{
	for (uint32_t t = 0; t < THREADS; t++) {
		if (now_ns[t] < late->begin_ns)
			put(writer, t, now_ns[t], late->begin_ns, STORE_OP_SYNC, wait, 0);
		now_ns[t] = late->begin_ns + LATE_NS;
	}
	put(writer, THREADS + QUEUES - 1, late->begin_ns, late->begin_ns + LATE_NS, STORE_OP_KERNEL, kernel,
		late->link);
	late->begin_ns = 0;
}

/* Queues fall behind and catch up; some work has no launch, some launches no work. Now and then a thread
 * waits. */
static uint64_t put_all(struct store_writer *writer, enum shape shape)
{
	uint32_t wait = small_path(writer, "main;wait"), kernel = small_path(writer, "main;kernel");
	uint64_t now_ns[THREADS], free_ns[QUEUES - 1] = {0};
	struct late late = {0, 0};

	for (uint32_t t = 0; t < THREADS; t++)
		now_ns[t] = 1 + small_below(STEP_NS);
	for (uint64_t i = 0; i < LAUNCHES; i++) {
		uint32_t thread = (uint32_t)(i % THREADS), queue = (uint32_t)small_below(QUEUES - 1);
		uint64_t link = link_of(shape, i, thread), end_ns = now_ns[thread] + 5000;
		uint64_t delay_ns =
			end_ns + (small_below(4000) ? small_below(3000) : small_below(1700000000));

		put(writer, thread, now_ns[thread], end_ns, STORE_OP_LAUNCH, wait,
			small_below(300) ? link : 0);
		now_ns[thread] = end_ns + small_below(2 * STEP_NS) * THREADS;
		free_ns[queue] = free_ns[queue] > delay_ns ? free_ns[queue] + small_below(500) : delay_ns;
		if (i % LATE_EVERY == 0) {
			late = (struct late){link, end_ns + LATE_BY_NS};
		} else if (small_below(200)) {
			uint64_t kernel_ns = 1 + small_below(2 * STEP_NS);

			put(writer, THREADS + queue, free_ns[queue], free_ns[queue] + kernel_ns,
				STORE_OP_KERNEL, kernel, small_below(300) ? link : 0);
			free_ns[queue] += kernel_ns;
		}
		if (!small_below(20)) {
			uint64_t until_ns = now_ns[thread] + small_below(3 * STEP_NS);

			put(writer, thread, now_ns[thread], until_ns, STORE_OP_SYNC, wait, 0);
			now_ns[thread] = until_ns + 1;
		}
		if (late.begin_ns && now_ns[thread] > late.begin_ns - LATE_WAIT_NS)
			wait_for_late(writer, &late, now_ns, wait, kernel);
	}
	for (uint32_t stream = 0; stream < THREADS + QUEUES; stream++)
		flush(writer, stream);
	return now_ns[0] > now_ns[1] ? now_ns[0] : now_ns[1];
}

static void check_same(const struct idle *got, const struct idle *told)
{
	assert_int_equal(got->busy_ns, told->busy_ns);
	assert_int_equal(got->idle_ns, told->idle_ns);
	assert_int_equal(got->blamed_ns, told->blamed_ns);
	assert_int_equal(got->all_idle_ns, told->all_idle_ns);
	assert_int_equal(got->blamed_count, told->blamed_count);
	assert_int_equal(got->waited_count, told->waited_count);
	for (size_t i = 0; i < got->blamed_count; i++)
		assert_true(got->blamed[i].amount == told->blamed[i].amount);
	for (size_t i = 0; i < got->waited_count; i++)
		assert_true(got->waited[i].amount == told->waited[i].amount);
}

static void ask_both(struct run *run, struct wait_functions *waits, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t streams[THREADS + QUEUES];
	struct idle_question question = {.streams = streams,
		.stream_count = THREADS + QUEUES,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.waits = waits};
	struct idle in_step, by_line;
	struct arena arena = {0};
	struct error error = {0};

	for (uint32_t i = 0; i < THREADS + QUEUES; i++)
		streams[i] = i;
	assert_int_equal(idle_sweep(&in_step, run, &question, &arena, &error), 0);
	question.is_sampled = true;
	assert_int_equal(idle_sweep(&by_line, run, &question, &arena, &error), 0);
	assert_true(in_step.idle_ns && in_step.blamed_ns && in_step.all_idle_ns);
	check_same(&in_step, &by_line);
	arena_fini(&arena);
}

static void check_shape(enum shape shape)
{
	struct small_run small;
	struct error error = {0};
	struct wait_functions *waits;
	uint64_t end_ns;

	memset(counts, 0, sizeof(counts));
	small_begin(&small);
	for (uint32_t t = 0; t < THREADS; t++)
		trace_thread(small.writer, 1, t, LIFE_NS);
	for (uint32_t q = 0; q < QUEUES; q++)
		trace_queue(small.writer, 1, q + 1, LIFE_NS);
	end_ns = put_all(small.writer, shape);
	small_ready(&small);
	assert_int_equal(wait_functions_new(&waits, small.run, NULL, &error), 0);
	ask_both(small.run, waits, 0, LIFE_NS);
	ask_both(small.run, waits, end_ns / 3, end_ns / 3 + end_ns / 2);
	wait_functions_free(waits);
	small_end(&small);
}

static void test_in_step(void **unused)
{
	(void)unused;
	small_seed("blame.queued");
	for (int shape = 0; shape < SHAPES; shape++)
		check_shape((enum shape)shape);
}

/* ---- in closed form ---- */

/* One thread waits for all of a minute, and so long for work; another one launches work of a second. */
static void check_waits(
	uint64_t call_ns, uint64_t work_ns, uint64_t begin_ns, uint64_t end_ns, uint64_t waits_ns)
{
	const uint32_t streams[] = {0, 1, 2};
	struct idle_question question = {
		.streams = streams, .stream_count = 3, .begin_ns = begin_ns, .end_ns = end_ns};
	struct small_run small;
	struct arena arena = {0};
	struct error error = {0};
	struct idle idle;

	small_begin(&small);
	trace_thread(small.writer, 1, 0, LIFE_NS);
	trace_thread(small.writer, 1, 1, LIFE_NS);
	trace_queue(small.writer, 1, 1, LIFE_NS);
	trace_span(small.writer, 0, 0, LIFE_NS, STORE_OP_SYNC, "main;sync", 0);
	if (call_ns)
		trace_span(small.writer, 1, call_ns, call_ns, STORE_OP_LAUNCH, "main", 7);
	trace_span(small.writer, 2, work_ns, work_ns + S, STORE_OP_KERNEL, "main;kernel", 7);
	small_ready(&small);
	assert_int_equal(wait_functions_new(&question.waits, small.run, NULL, &error), 0);
	for (int by_line = 0; by_line < 2; by_line++) {
		question.is_sampled = by_line;
		assert_int_equal(idle_sweep(&idle, small.run, &question, &arena, &error), 0);
		assert_int_equal(idle.all_idle_ns, waits_ns);
	}
	wait_functions_free(question.waits);
	arena_fini(&arena);
	small_end(&small);
}

/* For a second at most; so it is when the call is not known. */
static void test_reach(void **unused)
{
	(void)unused;
	check_waits(20 * S - 7, 20 * S, 0, LIFE_NS, 7);
	check_waits(3 * S, 20 * S, 0, LIFE_NS, S);
	check_waits(0, 20 * S, 0, LIFE_NS, S);
	check_waits(3 * S, 20 * S, 19 * S + 1, 60 * S, S - 1);
	check_waits(3 * S, 20 * S, 0, 19 * S + 2, 2);
	check_waits(19 * S + 5, 20 * S, 0, 19 * S + 7, 2);
	check_waits(19 * S + 9, 20 * S, 0, 19 * S + 7, 0);
}

/* By clocks that differ a call may begin when its work does, or later: then it is not queued, wherever the
 * window ends. */
static void test_early_work(void **unused)
{
	(void)unused;
	check_waits(20 * S, 20 * S, 0, LIFE_NS, 0);
	check_waits(20 * S + 1000000, 20 * S, 0, LIFE_NS, 0);
	check_waits(20 * S + 1000000, 20 * S, 0, 19 * S + 500000, 0);
	check_waits(20 * S + 1000000, 20 * S, 0, 20 * S, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_step), cmocka_unit_test(test_reach),
		cmocka_unit_test(test_early_work)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
