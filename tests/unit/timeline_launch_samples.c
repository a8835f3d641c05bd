/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_launch_samples.c - samples of GPU instructions to launches: exact, shared and prorated in closed
 * form; on random traces any partition of the window sums to the whole.
 */
#include "tests/unit/blame_trace.h"

#include <math.h>

#include "timeline/sum/launch_samples.h"

#define MS UINT64_C(1000000)
#define END_MS 4000u
#define ROUNDS 60

struct traced {
	struct small_run small;
	struct launch_samples *samples;
	uint32_t queue, other, pc, other_pc, metric;
};

static uint32_t stream(struct traced *traced, enum store_stream_kind kind, uint32_t context, uint32_t queue)
{
	struct store_stream stream = {.kind = kind,
		.host = small_text(traced->small.writer, "node"),
		.rank = -1,
		.pid = 1,
		.context = context,
		.queue = queue,
		.end_ns = END_MS * MS};

	return store_writer_stream(traced->small.writer, &stream);
}

static void traced_begin(struct traced *traced)
{
	*traced = (struct traced){0};
	small_begin(&traced->small);
	traced->queue = stream(traced, STORE_STREAM_GPU, 1, 7);
	traced->other = stream(traced, STORE_STREAM_GPU, 2, 7);
	traced->pc = stream(traced, STORE_STREAM_PC, 1, UINT32_MAX);
	traced->other_pc = stream(traced, STORE_STREAM_PC, 2, UINT32_MAX);
	traced->metric = store_writer_metric(traced->small.writer, "GINST:STL_NONE", "cycles", false);
}

/* Below main;CALLER, or as a sample below the root (caller ""). */
static uint32_t kernel_context(struct traced *traced, const char *caller, const char *name, bool is_sample)
{
	struct store_writer *writer = traced->small.writer;
	uint32_t module = store_writer_text_module(writer);
	uint32_t context = *caller ? small_path(writer, caller) : STORE_CONTEXT_PROGRAM_ROOT;

	context = store_writer_context(writer, context, STORE_MODULE_RESERVED, STORE_FRAME_GPU_KERNEL);
	context =
		store_writer_context(writer, context, module, store_writer_text(writer, name, strlen(name)));
	return is_sample ? store_writer_context(writer, context, module, store_writer_text(writer, "at", 2))
			 : context;
}

static void launch(struct traced *traced, uint32_t queue, uint64_t begin_ms, uint64_t end_ms,
	const char *caller, const char *name)
{
	struct store_record record = {.begin_ns = begin_ms * MS,
		.end_ns = end_ms * MS,
		.context = kernel_context(traced, caller, name, false),
		.what = STORE_OP_KERNEL};

	store_writer_append(traced->small.writer, queue, STORE_SPANS, &record, 1);
}

static void sample_in(struct traced *traced, uint32_t pc, uint64_t time_ms, const char *name, uint64_t weight)
{
	struct store_record record = {.begin_ns = time_ms * MS,
		.end_ns = time_ms * MS,
		.context = kernel_context(traced, "", name, true),
		.what = traced->metric,
		.amount = weight};

	store_writer_append(traced->small.writer, pc, STORE_SAMPLES, &record, 1);
}

static void sample(struct traced *traced, uint64_t time_ms, const char *name, uint64_t weight)
{
	sample_in(traced, traced->pc, time_ms, name, weight);
}

static bool is_below_a(const void *own, uint32_t context)
{
	struct arena arena = {0};
	const char *path = run_context_path(own, context, UINT32_MAX, &arena);
	bool is = strncmp(path, "main;a;", 7) == 0;

	arena_fini(&arena);
	return is;
}

static void read_samples(
	struct traced *traced, uint64_t begin_ms, uint64_t end_ms, bool is_only_a, bool by_launch)
{
	static uint32_t streams[8];
	struct launch_samples_question question = {.streams = streams,
		.begin_ns = begin_ms * MS,
		.end_ns = end_ms < END_MS ? end_ms * MS : STORE_OPEN_NS,
		.wants = is_only_a ? is_below_a : NULL,
		.by_launch = by_launch};
	struct error error = {0};

	if (!traced->small.run)
		small_ready(&traced->small);
	question.own = traced->small.run;
	question.stream_count = run_stream_count(traced->small.run);
	for (uint32_t i = 0; i < question.stream_count; i++)
		streams[i] = i;
	launch_samples_free(traced->samples);
	if (launch_samples_read(&traced->samples, traced->small.run, &question, &error))
		fail_msg("%s", error.text);
}

/* Of launches whose path begins so; NULL: all. */
static double weight(struct traced *traced, const char *path)
{
	const struct launch_samples_row *rows;
	struct arena arena = {0};
	double sum = 0;
	size_t count;

	rows = launch_samples_rows(traced->samples, &count);
	for (size_t i = 0; i < count; i++)
		if (!path || strncmp(run_context_path(traced->small.run, rows[i].launch, UINT32_MAX, &arena),
				     path, strlen(path)) == 0)
			sum += rows[i].weight;
	arena_fini(&arena);
	return sum;
}

static void expect_shares(struct traced *traced, double exact, double shared, double unknown, double cut)
{
	struct launch_samples_share share = launch_samples_share_of(traced->samples, NULL);

	assert_float_equal(share.exact, exact, 1e-6);
	assert_float_equal(share.shared, shared, 1e-6);
	assert_float_equal(share.unknown, unknown, 1e-6);
	assert_float_equal(share.cut, cut, 1e-6);
}

static void traced_end(struct traced *traced)
{
	launch_samples_free(traced->samples);
	small_end(&traced->small);
}

/* K has one path, and another context's launches do not count; J has two, 30 to 10. D was never launched. */
static void test_paths(void **unused)
{
	struct traced traced;

	(void)unused;
	traced_begin(&traced);
	launch(&traced, traced.queue, 100, 200, "main;a", "K");
	launch(&traced, traced.queue, 200, 230, "main;a", "J");
	launch(&traced, traced.queue, 240, 250, "main;b", "J");
	launch(&traced, traced.other, 100, 200, "main;b", "K");
	sample(&traced, 900, "K", 100);
	sample(&traced, 900, "J", 1000);
	sample(&traced, 900, "D", 7);
	read_samples(&traced, 0, END_MS, false, true);
	expect_shares(&traced, 100, 1000, 7, 0);
	assert_float_equal(launch_samples_share_of(traced.samples, "J").shared, 1000, 0);
	assert_float_equal(weight(&traced, "main;a;<gpu kernel>;K"), 100, 1e-9);
	assert_float_equal(weight(&traced, "main;a;<gpu kernel>;J"), 750, 1e-9);
	assert_float_equal(weight(&traced, "main;b;<gpu kernel>;J"), 250, 1e-9);
	assert_float_equal(weight(&traced, NULL), 1107, 1e-9);
	/* Below a path alone: what remains of J is of one path; D is below none. */
	read_samples(&traced, 0, END_MS, true, false);
	assert_float_equal(weight(&traced, NULL), 850, 1e-9);
	expect_shares(&traced, 850, 0, 0, 0);
	traced_end(&traced);
}

/* Launches of one context share that context's samples alone. */
static void test_contexts(void **unused)
{
	struct traced traced;

	(void)unused;
	traced_begin(&traced);
	launch(&traced, traced.queue, 200, 230, "main;a", "J");
	launch(&traced, traced.queue, 240, 250, "main;b", "J");
	launch(&traced, traced.other, 200, 210, "main;b", "J");
	launch(&traced, traced.other, 240, 250, "main;c", "J");
	sample(&traced, 900, "J", 1000);
	sample_in(&traced, traced.other_pc, 900, "J", 100);
	read_samples(&traced, 0, END_MS, false, true);
	expect_shares(&traced, 0, 1100, 0, 0);
	assert_float_equal(weight(&traced, "main;a;"), 750, 1e-9);
	assert_float_equal(weight(&traced, "main;b;"), 250 + 50, 1e-9);
	assert_float_equal(weight(&traced, "main;c;"), 50, 1e-9);
	traced_end(&traced);
}

/* A read-out covers what was launched since the one before, and a reach more. */
static void test_covered(void **unused)
{
	struct traced traced;

	(void)unused;
	traced_begin(&traced);
	launch(&traced, traced.queue, 100, 200, "main;a", "K");
	launch(&traced, traced.queue, 1000, 1100, "main;b", "K");
	launch(&traced, traced.queue, 2000, 2100, "main;a", "K");
	sample(&traced, 900, "K", 10);
	sample(&traced, 1200, "K", 20);	 /* from 676 on */
	sample(&traced, 2150, "K", 300); /* from 976 on: half b, half a */
	read_samples(&traced, 0, END_MS, false, true);
	assert_float_equal(weight(&traced, "main;a;"), 10 + 150, 1e-9);
	assert_float_equal(weight(&traced, "main;b;"), 20 + 150, 1e-9);
	expect_shares(&traced, 30, 300, 0, 0);
	traced_end(&traced);
}

/* A window counts the launches' time in it. */
static void test_cut(void **unused)
{
	struct traced traced;

	(void)unused;
	traced_begin(&traced);
	launch(&traced, traced.queue, 100, 300, "main;a", "K");
	launch(&traced, traced.queue, 600, 700, "main;a", "K");
	sample(&traced, 900, "K", 300);
	sample(&traced, 900, "D", 7);
	read_samples(&traced, 0, 250, false, false);
	assert_float_equal(weight(&traced, NULL), 150, 1e-9);
	expect_shares(&traced, 150, 0, 0, 150);
	read_samples(&traced, 250, 800, false, false);
	assert_float_equal(weight(&traced, NULL), 150, 1e-9);
	/* Nothing was launched there; what has no launch counts when it was read. */
	read_samples(&traced, 800, END_MS, false, false);
	assert_float_equal(weight(&traced, NULL), 7, 1e-9);
	traced_end(&traced);
}

static void test_partition(void **unused)
{
	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t at_ms = 0, cut_ms = small_below(END_MS);
		double whole, parts;
		struct traced traced;

		traced_begin(&traced);
		while (at_ms < END_MS - 200) {
			uint64_t end_ms = at_ms + 1 + small_below(60);

			launch(&traced, traced.queue, at_ms, end_ms, small_below(2) ? "main;a" : "main;b",
				small_below(3) ? "K" : "J");
			at_ms = end_ms + small_below(100);
		}
		for (at_ms = 20 + small_below(300); at_ms < END_MS; at_ms += 50 + small_below(700)) {
			sample(&traced, at_ms, "K", 1 + small_below(1000));
			sample(&traced, at_ms, "J", 1 + small_below(1000));
			sample(&traced, at_ms, "D", 1 + small_below(1000));
		}
		read_samples(&traced, 0, END_MS, false, small_below(2));
		whole = weight(&traced, NULL);
		read_samples(&traced, 0, cut_ms, false, false);
		parts = weight(&traced, NULL);
		read_samples(&traced, cut_ms, END_MS, false, false);
		parts += weight(&traced, NULL);
		assert_true(fabs(whole - parts) < 1e-6 * (whole + 1));
		traced_end(&traced);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_paths), cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_covered), cmocka_unit_test(test_cut), cmocka_unit_test(test_partition)};

	small_seed("timeline_launch_samples");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
