/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_process_tree.c - processes of a run whose streams come while it is read: one each, whenever. */
#include "tests/unit/timeline_small_run.h"

#include "timeline/report/process_tree.h"

static void put_thread(struct store_writer *writer, uint32_t pid, uint32_t thread)
{
	struct store_stream stream = {.kind = STORE_STREAM_CPU,
		.host = small_text(writer, "node"),
		.rank = -1,
		.pid = pid,
		.thread = thread,
		.begin_ns = 10 * pid + thread,
		.end_ns = 1000};

	store_writer_stream(writer, &stream);
}

static void expect_two(struct run *run)
{
	struct process_tree tree;
	struct arena arena = {0};
	struct error error = {0};

	assert_int_equal(process_tree_make(&tree, run, &arena, &error), 0);
	assert_int_equal(tree.count, 2);
	assert_int_equal(tree.nodes[0].threads, 2);
	assert_int_equal(tree.nodes[1].threads, 1);
	for (uint32_t i = 0; i < run_stream_count(run); i++)
		assert_int_equal(tree.node_of[i], run_stream(run, i)->s.pid == 1 ? 0 : 1);
	arena_fini(&arena);
}

/* A second thread of the first process, met after the second process was. */
static void test_late_thread(void **unused)
{
	struct small_run small;
	struct error error = {0};
	bool changed;

	(void)unused;
	small_begin(&small);
	put_thread(small.writer, 1, 0);
	put_thread(small.writer, 2, 0);
	small_commit(&small);
	small_open(&small);
	put_thread(small.writer, 1, 1);
	small_commit(&small);
	assert_int_equal(run_renew(small.run, &changed, &error), 0);
	assert_true(run_is_live(small.run));
	assert_int_equal(run_stream(small.run, 2)->s.pid, 1);
	expect_two(small.run);
	/* It ends, and is still open here. */
	store_writer_meta_number(small.writer, "collector_pid", 0x7ffffff0);
	store_writer_meta(small.writer, "boot", "");
	store_writer_meta(small.writer, "state", "complete");
	small_commit(&small);
	assert_int_equal(run_renew(small.run, &changed, &error), 0);
	assert_false(run_is_live(small.run));
	assert_int_equal(run_stream(small.run, 2)->s.pid, 1);
	expect_two(small.run);
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_late_thread)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
