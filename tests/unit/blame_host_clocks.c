/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_host_clocks.c - what bounds the difference of two hosts' clocks: the wall-clock anchors of their
 * stores, what the records prove, and which of the two holds where they contradict each other.
 */
#include "tests/unit/timeline_small_run.h"

#include "blame/base/host_clocks.h"

#define WALL_NS UINT64_C(1700000000000000000)

struct hosts {
	struct small_run small;
	struct arena arena;
	struct host_clocks clocks;
};

static void put_host(struct store_writer *writer, const char *host, const char *boot, uint64_t error_ns)
{
	struct store_stream stream = {.kind = STORE_STREAM_CPU,
		.host = small_text(writer, host),
		.rank = -1,
		.pid = 100,
		.tid = 100,
		.begin_ns = 100000,
		.end_ns = 200000};

	store_writer_meta(writer, "host", host);
	store_writer_meta(writer, "boot", boot);
	store_writer_meta_number(writer, "origin_ns", 100000);
	store_writer_meta_number(writer, "wall_ns", WALL_NS);
	store_writer_meta_number(writer, "wall_error_ns", error_ns);
	store_writer_metric(writer, "CPUTIME", "ns", false);
	small_sample(writer, store_writer_stream(writer, &stream), 100100, small_path(writer, "main"), 0, 7);
}

/* node-1 and node-2 have clocks of their own, with an error of 1000 and 500; node-3 has that of node-1. */
static void begin(struct hosts *hosts)
{
	static const char *const names[] = {"node-1", "node-2", "node-3"}, *const boots[] = {
										   "b1", "b2", "b1"};
	static const uint64_t error_ns[] = {1000, 500, 1000};
	struct process *processes;
	struct error error;
	uint32_t count, streams[3] = {0, 1, 2};

	*hosts = (struct hosts){0};
	small_begin(&hosts->small);
	put_host(hosts->small.writer, names[0], boots[0], error_ns[0]);
	for (int i = 1; i < 3; i++) {
		struct store_writer *writer = small_store(&hosts->small, names[i]);

		put_host(writer, names[i], boots[i], error_ns[i]);
		small_close_writer(writer);
	}
	small_ready(&hosts->small);
	assert_int_equal(run_stream_count(hosts->small.run), 3);
	assert_int_equal(
		process_list(&processes, &count, hosts->small.run, streams, 3, &hosts->arena, &error), 0);
	assert_int_equal(count, 3);
	assert_int_equal(
		host_clocks_make(&hosts->clocks, hosts->small.run, processes, 3, &hosts->arena, &error), 0);
}

static void end(struct hosts *hosts)
{
	arena_fini(&hosts->arena);
	small_end(&hosts->small);
}

static void test_anchors(void **unused)
{
	struct hosts hosts;

	(void)unused;
	begin(&hosts);
	assert_int_equal(hosts.clocks.count, 2);
	assert_int_equal(hosts.clocks.of[0], 0);
	assert_int_equal(hosts.clocks.of[1], 1);
	assert_int_equal(hosts.clocks.of[2], 0);
	assert_int_equal(host_clocks_error(&hosts.clocks, 0), 0);
	assert_int_equal(host_clocks_error(&hosts.clocks, 1), 1500);
	assert_int_equal(host_clocks_time(&hosts.clocks, 1, 7000), 7000);
	assert_true(host_clocks_is_surely(&hosts.clocks, 0, 5000, 1, 6500));
	assert_false(host_clocks_is_surely(&hosts.clocks, 0, 5000, 1, 6499));
	assert_true(host_clocks_is_surely(&hosts.clocks, 1, 5000, 1, 5000));
	end(&hosts);
}

/* One side by the records, 200 <= shift, the other by the anchors, shift <= 1500. */
static void test_records_narrow(void **unused)
{
	struct hosts hosts;

	(void)unused;
	begin(&hosts);
	host_clocks_clear(&hosts.clocks);
	host_clocks_order(&hosts.clocks, 0, 5200, 1, 5000);
	assert_true(host_clocks_close(&hosts.clocks));
	assert_int_equal(host_clocks_time(&hosts.clocks, 1, 5000), 5850);
	assert_int_equal(host_clocks_error(&hosts.clocks, 1), 650);
	assert_true(host_clocks_is_surely(&hosts.clocks, 0, 5200, 1, 5850));
	assert_false(host_clocks_is_surely(&hosts.clocks, 0, 5201, 1, 5850));
	end(&hosts);
}

/* 9000 <= shift <= 9100: the anchors cannot be right. */
static void test_records_win(void **unused)
{
	struct hosts hosts;

	(void)unused;
	begin(&hosts);
	host_clocks_clear(&hosts.clocks);
	host_clocks_order(&hosts.clocks, 0, 19000, 1, 10000);
	host_clocks_order(&hosts.clocks, 1, 10000, 0, 19100);
	assert_true(host_clocks_close(&hosts.clocks));
	assert_int_equal(host_clocks_time(&hosts.clocks, 1, 10000), 19050);
	assert_int_equal(host_clocks_error(&hosts.clocks, 1), 50);
	end(&hosts);
}

/* 100 <= shift <= 90. */
static void test_contradiction(void **unused)
{
	struct hosts hosts;

	(void)unused;
	begin(&hosts);
	host_clocks_clear(&hosts.clocks);
	host_clocks_order(&hosts.clocks, 0, 10100, 1, 10000);
	host_clocks_order(&hosts.clocks, 1, 10000, 0, 10090);
	assert_false(host_clocks_close(&hosts.clocks));
	assert_true(host_clocks_error(&hosts.clocks, 1) == HOST_CLOCK_UNKNOWN);
	assert_false(host_clocks_is_surely(&hosts.clocks, 0, 0, 1, UINT64_C(1) << 60));
	end(&hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_anchors),
		cmocka_unit_test(test_records_narrow),
		cmocka_unit_test(test_records_win),
		cmocka_unit_test(test_contradiction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
