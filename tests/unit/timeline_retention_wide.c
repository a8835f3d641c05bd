/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_retention_wide.c - a flight recording whose weights are more than 64 bits hold together: what was
 * summed up of dropped records may have wrapped, so that nobody knows it, and it is refused; behind them all
 * is as ever.
 */
#include "tests/unit/timeline_small_run.h"

#include "timeline/sum/window.h"

#define KEEP_NS UINT64_C(2000000000)
#define STEP_NS UINT64_C(1000000)
#define LENGTH_NS (10 * KEEP_NS)
#define HUGE_AMOUNT (UINT64_C(1) << 62)

/* Those of the first half are huge, if any is. */
static uint64_t amount_at(uint64_t at_ns, bool is_wide)
{
	return is_wide && at_ns < LENGTH_NS / 2 ? HUGE_AMOUNT : 3;
}

/* Two threads; the second one has small weights, and was dropped as the first one was. */
static void record(struct small_run *small, bool is_wide)
{
	uint64_t at_ns = STEP_NS;
	uint32_t context;

	small_begin(small);
	store_writer_metric(small->writer, "CPUTIME", "ns", false);
	context = small_path(small->writer, "main");
	for (uint32_t stream = 0; stream < 2; stream++)
		small_cpu(small->writer, stream, 0, STORE_OPEN_NS);
	while (at_ns < LENGTH_NS) {
		for (uint64_t end_ns = at_ns + KEEP_NS / 4; at_ns < end_ns; at_ns += STEP_NS)
			for (uint32_t stream = 0; stream < 2; stream++)
				small_sample(small->writer, stream, at_ns, context, 0,
					amount_at(at_ns, is_wide && !stream));
		for (uint32_t stream = 0; stream < 2; stream++)
			for (int track = 0; track < STORE_TRACK_COUNT; track++)
				store_writer_stream_edit(small->writer, stream)->complete_ns[track] = at_ns;
		store_writer_keep(small->writer, at_ns, KEEP_NS);
		small_commit(small);
	}
	for (uint32_t stream = 0; stream < 2; stream++)
		store_writer_stream_edit(small->writer, stream)->end_ns = at_ns;
	small_ready(small);
}

static int weigh(struct run *run, uint32_t stream, uint64_t begin_ns, uint64_t end_ns, uint64_t *weight,
	struct error *error)
{
	const struct window_weight *weights;
	struct window *window;
	size_t count;
	int code;

	*weight = 0;
	assert_int_equal(window_new(&window, run, error), 0);
	code = window_add_weight(window, stream, begin_ns, end_ns, error);
	weights = window_weights(window, &count);
	for (size_t i = 0; i < count; i++)
		*weight += weights[i].weight;
	window_free(window);
	return code;
}

static uint64_t samples_in(uint64_t begin_ns, uint64_t end_ns)
{
	return end_ns / STEP_NS - begin_ns / STEP_NS;
}

static void check(bool is_wide)
{
	struct error error = {0};
	struct small_run small;
	uint64_t weight;

	record(&small, is_wide);
	for (uint32_t stream = 0; stream < 2; stream++) {
		const uint64_t from_ns = run_stream(small.run, stream)->s.thinned_ns;
		const uint64_t until_ns = LENGTH_NS - STEP_NS;
		char behind[64];

		assert_true(from_ns > LENGTH_NS / 2 && from_ns < until_ns);
		assert_int_equal(weigh(small.run, stream, from_ns, until_ns, &weight, &error), 0);
		assert_int_equal(weight, 3 * samples_in(from_ns - 1, until_ns - 1));
		if (!is_wide) {
			assert_int_equal(weigh(small.run, stream, 0, STORE_OPEN_NS, &weight, &error), 0);
			assert_int_equal(weight, 3 * samples_in(0, run_end_ns(small.run) - 1));
			continue;
		}
		assert_int_equal(weigh(small.run, stream, 0, STORE_OPEN_NS, &weight, &error), -ERROR_USAGE);
		assert_int_equal(
			weigh(small.run, stream, from_ns - 1, until_ns, &weight, &error), -ERROR_USAGE);
		snprintf(behind, sizeof behind, "--time %lluns..",
			(unsigned long long)(from_ns - run_origin_ns(small.run)));
		assert_non_null(strstr(error.text, behind));
	}
	small_end(&small);
}

static void test_wide(void **unused)
{
	(void)unused;
	check(true);
}

/* The twin: nothing is wide, nothing is refused. */
static void test_narrow(void **unused)
{
	(void)unused;
	check(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_wide), cmocka_unit_test(test_narrow)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
