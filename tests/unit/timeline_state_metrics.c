/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_state_metrics.c - derived metrics against a twin that asks for every nanosecond of every thread
 * what holds there, and for the sample before it where the thread is preempted; and the laws: windows sum to
 * the whole, the parts of REALTIME to REALTIME, with rollups and without.
 */
#include "tests/unit/timeline_small_run.h"

#include "timeline/profile/profile.h"
#include "timeline/stats/stats.h"
#include "timeline/sum/state_metrics.h"

#define THREADS 2
#define CLOCK 900
#define CONTEXTS_MAX 64

static const char *const paths[] = {"main", "main;solve", "main;solve;read", "main;lock", "main;solve;lock"};

struct thread {
	uint64_t time_ns[CLOCK]; /* of samples */
	uint32_t context[CLOCK]; /* in the store */
	size_t count;
};
static struct thread threads[THREADS];

/* Samples and waits, that seldom overlap. */
static void put_thread(struct store_writer *writer, uint32_t number, uint32_t metric)
{
	uint32_t stream = small_cpu(writer, number, 0, CLOCK);
	struct thread *thread = &threads[number];
	uint64_t at_ns = 0;

	thread->count = 0;
	small_span(writer, stream, 0, CLOCK - 40, STORE_OP_MONITORED, 0,
		"metric=CPUTIME,period_ns=20,switches=1");
	while (at_ns < CLOCK - 90) {
		uint32_t context = small_path(writer, paths[small_below(5)]);
		uint64_t end_ns = at_ns + 1 + small_below(40);

		switch (small_below(6)) {
		case 0:
			small_span(writer, stream, at_ns, end_ns, STORE_OP_BLOCKED,
				small_below(3) ? context : 0, "");
			break;
		case 1:
			small_span(writer, stream, at_ns, end_ns, STORE_OP_RUNNABLE, 0, "");
			break;
		case 2:
			small_span(writer, stream, at_ns, end_ns,
				small_below(4) ? STORE_OP_SYNC : STORE_OP_LOST, context, "");
			break;
		default:
			small_sample(writer, stream, at_ns, context, metric, 20);
			thread->time_ns[thread->count] = at_ns;
			thread->context[thread->count++] = context;
		}
		at_ns = small_below(5) ? end_ns : at_ns + 1; /* clocks of the kernel and of signals differ */
	}
}

static void run_begin(struct small_run *small)
{
	uint32_t metric, queue;

	small_begin(small);
	metric = store_writer_metric(small->writer, "CPUTIME", "ns", false);
	for (uint32_t i = 0; i < THREADS; i++)
		put_thread(small->writer, i, metric);
	queue = small_gpu(small->writer, 1, 0, CLOCK);
	small_span(small->writer, queue, 0, CLOCK, STORE_OP_MONITORED, 0, "");
	small_span(small->writer, queue, 10, 500, STORE_OP_KERNEL, small_path(small->writer, "main"), "");
	small_span(small->writer, queue, 500, 600, STORE_OP_SYNC, small_path(small->writer, "main"), "");
	small_ready(small);
}

/* ---- the twin ---- */

/* Is no time lost between the sample and then? It would end the sample's force. */
static bool is_in_force(struct run *run, uint32_t stream, uint64_t from_ns, uint64_t at_ns)
{
	for (; from_ns < at_ns; from_ns++) {
		struct extent extent;
		struct error error;

		assert_int_equal(extent_at(run, stream, from_ns, &extent, &error), 0);
		if (extent.state == EXTENT_LOST || extent.state == EXTENT_UNMONITORED)
			return false;
	}
	return true;
}

static uint32_t context_at(struct run *run, uint32_t stream, uint64_t at_ns, const struct extent *extent)
{
	const struct thread *thread = &threads[run_stream(run, stream)->s.thread];
	size_t i = thread->count;

	if (extent->state != EXTENT_RUNNABLE)
		return extent->context;
	while (i > 0 && thread->time_ns[i - 1] > at_ns)
		i--;
	if (i == 0 || !is_in_force(run, stream, thread->time_ns[i - 1], at_ns))
		return 0;
	return run_context_of(run, 0, thread->context[i - 1]);
}

struct twin {
	uint64_t ns[STATE_METRIC_COUNT][CONTEXTS_MAX];
};

static void twin_add(struct twin *twin, struct run *run, uint32_t stream, uint64_t at_ns)
{
	static const enum extent_state parts[STATE_METRIC_COUNT] = {[STATE_METRIC_BLOCKED] = EXTENT_BLOCKED,
		[STATE_METRIC_RUNNABLE] = EXTENT_RUNNABLE,
		[STATE_METRIC_SYNC] = EXTENT_SYNC,
		[STATE_METRIC_REALTIME] = EXTENT_WORK};
	struct extent extent;
	struct error error;

	assert_int_equal(extent_at(run, stream, at_ns, &extent, &error), 0);
	for (int d = 0; d < STATE_METRIC_COUNT; d++) {
		uint32_t context = context_at(run, stream, at_ns, &extent);

		assert_true(context < CONTEXTS_MAX);
		if (extent.state != parts[d])
			continue;
		twin->ns[STATE_METRIC_REALTIME][context]++;
		if (d != STATE_METRIC_REALTIME)
			twin->ns[d][context]++;
	}
}

static struct twin twin_of(struct run *run, uint64_t begin_ns, uint64_t end_ns)
{
	struct twin twin = {0};

	for (uint32_t stream = 0; stream < run_stream_count(run); stream++)
		for (uint64_t at_ns = begin_ns; at_ns < end_ns; at_ns++)
			if (run_stream(run, stream)->s.kind == STORE_STREAM_CPU)
				twin_add(&twin, run, stream, at_ns);
	return twin;
}

static struct twin ask(struct run *run, uint64_t begin_ns, uint64_t end_ns)
{
	const uint32_t streams[] = {0, 1, 2};
	const struct window_weight *weights;
	struct twin sums = {0};
	struct window *window;
	struct error error;
	size_t count;

	assert_int_equal(window_new(&window, run, &error), 0);
	if (state_metrics_add_weights(window, run, streams, run_stream_count(run), begin_ns, end_ns,
		    (1u << STATE_METRIC_COUNT) - 1, &error))
		fail_msg("%s", error.text);
	weights = window_weights(window, &count);
	for (size_t i = 0; i < count; i++)
		sums.ns[weights[i].metric - run_metric_count(run)][weights[i].context] += weights[i].weight;
	window_free(window);
	return sums;
}

static void test_twin(void **state)
{
	(void)state;
	small_seed(__func__);
	for (int round = 0; round < 6; round++) {
		struct small_run small;

		run_begin(&small);
		for (int i = 0; i < 8; i++) {
			uint64_t begin_ns = i ? small_below(CLOCK) : 0;
			uint64_t end_ns = i ? begin_ns + small_below(CLOCK - begin_ns + 1) : CLOCK;
			struct twin want = twin_of(small.run, begin_ns, end_ns);
			struct twin got = ask(small.run, begin_ns, end_ns);

			assert_memory_equal(&got, &want, sizeof got);
		}
		small_end(&small);
	}
}

static void test_windows_sum(void **state)
{
	struct small_run small;
	struct twin whole, sum = {0};

	(void)state;
	small_seed(__func__);
	run_begin(&small);
	whole = ask(small.run, 0, CLOCK);
	for (uint64_t at_ns = 0; at_ns < CLOCK;) {
		uint64_t end_ns = at_ns + 1 + small_below(60);
		struct twin part = ask(small.run, at_ns, end_ns < CLOCK ? end_ns : CLOCK);

		for (int d = 0; d < STATE_METRIC_COUNT; d++)
			for (int c = 0; c < CONTEXTS_MAX; c++)
				sum.ns[d][c] += part.ns[d][c];
		at_ns = end_ns;
	}
	assert_memory_equal(&sum, &whole, sizeof sum);
	small_end(&small);
}

/* ---- through the selector ---- */

static struct select *select_of(struct run *run, const char *metrics)
{
	struct select *select;
	struct error error;

	assert_int_equal(select_new(&select, &error), 0);
	select_take_state_metrics(select);
	assert_int_equal(select_option(select, "metric", metrics, &error), 0);
	if (select_bind(select, run, &error))
		fail_msg("%s", error.text);
	return select;
}

/* The root of the profile and the rows of the statistics are the same sum, and columns stand as asked for. */
static void test_readers_agree(void **state)
{
	struct small_run small;
	struct select *select;
	struct arena arena = {0};
	struct error error = {0};
	struct profile profile;

	(void)state;
	small_seed(__func__);
	run_begin(&small);
	select = select_of(small.run, "RUNNABLE,CPUTIME,REALTIME,BLOCKED,SYNC");
	assert_int_equal(profile_compute(&profile, small.run, select, PROFILE_TOP_DOWN, &arena, &error), 0);
	select_free(select);
	assert_int_equal(profile.metric_count, 5);
	assert_string_equal(profile.metrics[0].name, "RUNNABLE");
	assert_string_equal(profile.metrics[1].name, "CPUTIME");
	assert_string_equal(profile.metrics[4].name, "SYNC");
	for (size_t m = 0; m < profile.metric_count; m++) {
		struct stats stats;
		uint64_t sum_ns = 0;

		if (m == 1)
			continue;
		select = select_of(small.run, profile.metrics[m].name);
		for (int by = 0; by < STATS_BY_COUNT; by++) {
			assert_int_equal(stats_of_selection(&stats, small.run, select, (enum stats_by)by,
						 NULL, &arena, &error),
				0);
			sum_ns = 0;
			for (size_t i = 0; i < stats.count; i++)
				sum_ns += stats.rows[i].time_ns;
			assert_int_equal(sum_ns, profile.rows[0].inclusive[m].number);
			assert_int_equal(stats.total_ns, THREADS * CLOCK);
		}
		select_free(select);
	}
	arena_fini(&arena);
	small_end(&small);
}

/* Who does not take derived metrics hears that the run has none of that name. */
static void test_not_taken(void **state)
{
	struct small_run small;
	struct select *select;
	struct error error;

	(void)state;
	small_seed(__func__);
	run_begin(&small);
	assert_int_equal(select_new(&select, &error), 0);
	assert_int_equal(select_option(select, "metric", "BLOCKED", &error), 0);
	assert_int_equal(select_bind(select, small.run, &error), -ERROR_USAGE);
	select_take_state_metrics(select);
	assert_int_equal(select_bind(select, small.run, &error), 0);
	assert_int_equal(select_state_metrics(select), 1u << STATE_METRIC_BLOCKED);
	select_free(select);
	small_end(&small);
}

/* A metric that was recorded under the name goes before. */
static void test_recorded(void **state)
{
	struct small_run small;
	struct select *select;

	(void)state;
	small_begin(&small);
	small_sample(small.writer, small_cpu(small.writer, 0, 0, 100), 50, small_path(small.writer, "main"),
		store_writer_metric(small.writer, "REALTIME", "ns", false), 20);
	small_ready(&small);
	select = select_of(small.run, "REALTIME");
	assert_int_equal(select_state_metrics(select), 0);
	select_free(select);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twin),
		cmocka_unit_test(test_windows_sum),
		cmocka_unit_test(test_readers_agree),
		cmocka_unit_test(test_not_taken),
		cmocka_unit_test(test_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
