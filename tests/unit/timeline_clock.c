/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_clock.c - several hosts' clocks put together: by how much, and how sure that is, for each store,
 * in hpct-info and in the line that opens a report.
 */
#include "tests/unit/timeline_small_run.h"

#include "timeline/report/coverage.h"
#include "timeline/stats/info.h"

#define WALL_NS UINT64_C(1700000000000000000)

/* A host with one thread, whose number is the node's number. */
static void put_host(struct store_writer *writer, unsigned node, const char *boot, uint64_t origin_ns,
	const char *error_ns, const char *drift_ns)
{
	char host[16];

	snprintf(host, sizeof host, "node-%u", node);
	store_writer_meta(writer, "host", host);
	store_writer_meta(writer, "boot", boot);
	store_writer_meta_number(writer, "origin_ns", origin_ns);
	store_writer_meta_number(writer, "wall_ns", WALL_NS);
	if (error_ns)
		store_writer_meta(writer, "wall_error_ns", error_ns);
	if (drift_ns)
		store_writer_meta(writer, "wall_drift_ns", drift_ns);
	store_writer_metric(writer, "CPUTIME", "ns", false);
	small_cpu(writer, node, origin_ns, origin_ns + 5000);
	small_sample(writer, 0, origin_ns + 100, small_path(writer, "main"), 0, 7);
}

/* node-3 is node-1 once more, node-4 says nothing of its clock's error. */
static void make(struct small_run *small)
{
	small_begin(small);
	put_host(small->writer, 1, "b1", 1000, "1000", "10");
	for (unsigned node = 2; node <= 4; node++) {
		char name[16];
		struct store_writer *writer;

		snprintf(name, sizeof name, "node-%u", node);
		writer = small_store(small, name);
		if (node == 2)
			put_host(writer, 2, "b2", 900, "500", "-40");
		else
			put_host(writer, node, node == 3 ? "b1" : "b4", node == 3 ? 1000 : 2000, NULL, NULL);
		small_close_writer(writer);
	}
	small_ready(small);
}

static void test_stores(void **unused)
{
	struct small_run small;
	struct run_clock clock;

	(void)unused;
	make(&small);
	clock = run_clock(small.run, 0);
	assert_true(clock.is_same);
	assert_true(clock.is_known);
	assert_int_equal(clock.error_ns, 0);
	clock = run_clock(small.run, 1);
	assert_false(clock.is_same);
	assert_true(clock.is_known);
	assert_string_equal(clock.host, "node-2");
	assert_int_equal(clock.shift_ns, 100);
	assert_int_equal(clock.error_ns, 1000 + 500 + 50);
	clock = run_clock(small.run, 2);
	assert_true(clock.is_same);
	clock = run_clock(small.run, 3);
	assert_false(clock.is_known);
	assert_int_equal(clock.shift_ns, -1000);
	small_end(&small);
}

static void expect_head(struct run *run, const char *streams, const char *wanted)
{
	struct coverage coverage;
	struct select *select;
	struct error error = {0};
	char text[COVERAGE_TEXT_MAX];
	const char *found;

	assert_int_equal(select_new(&select, &error), 0);
	assert_int_equal(select_option(select, "streams", streams, &error), 0);
	assert_int_equal(select_bind(select, run, &error), 0);
	coverage_count(&coverage, run, select);
	coverage_print(&coverage, text);
	found = strstr(text, ", clocks of");
	if (strcmp(found ? found : "", wanted) != 0)
		fail_msg("'%s' where '%s' is due", text, wanted);
	select_free(select);
}

static void test_heads(void **unused)
{
	struct small_run small;

	(void)unused;
	make(&small);
	expect_head(small.run, "thread=1", "");
	expect_head(small.run, "thread=1 | thread=3", "");
	expect_head(small.run, "thread=1-3", ", clocks of 2 hosts within 1.550 us");
	expect_head(small.run, "thread=2-3", ", clocks of 2 hosts within 1.550 us");
	expect_head(small.run, "thread=2", "");
	expect_head(small.run, "thread=1-4", ", clocks of 3 hosts put together with an error not known");
	small_end(&small);
}

static void test_info(void **unused)
{
	struct small_run small;
	struct select *select;
	struct error error = {0};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)unused;
	make(&small);
	assert_int_equal(select_new(&select, &error), 0);
	assert_int_equal(select_bind(select, small.run, &error), 0);
	assert_int_equal(info_print(small.run, select, REPORT_TSV, out, &error), 0);
	fclose(out);
	assert_non_null(strstr(text, "\nclock_shift_ns:node-2\t100\nclock_error_ns:node-2\t1550\n"));
	assert_non_null(strstr(text, "\nclock_shift_ns:node-4\t-1000\nclock_error_ns:node-4\tnot known\n"));
	assert_null(strstr(text, ":node-1"));
	assert_null(strstr(text, ":node-3"));
	free(text);
	select_free(select);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stores), cmocka_unit_test(test_heads), cmocka_unit_test(test_info)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
