/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_time_slices.c - idleness of windows of many seconds, in which work is queued for longer than that
 * counts: block by block the same as at once.
 */
#include "tests/unit/blame_trace.h"

#include "blame/base/time_slices.h"
#include "blame/idle/idle.h"

#define ROUNDS 150
#define SPANS 120u
#define UNIT_NS UINT64_C(20000000)
#define LENGTH 20000u /* units */

static void put_random(struct store_writer *writer, const uint32_t streams[3], uint64_t copies)
{
	static const uint32_t calls[] = {STORE_OP_SYNC, STORE_OP_BLOCKED, STORE_OP_LAUNCH, STORE_OP_LAUNCH};
	static const char *const paths[] = {"main;a", "main;b"};
	struct trace_links links = {.count = 0};
	uint64_t begins_ns[3] = {0};

	for (uint64_t i = 0; i < SPANS; i++) {
		uint64_t line = small_below(3), length_ns = small_below(150);
		uint64_t begin_ns = begins_ns[line] + small_below(150);
		uint32_t op = !line		    ? calls[small_below(4)]
			      : small_below(copies) ? STORE_OP_KERNEL
						    : STORE_OP_COPY;
		uint64_t link = line			? trace_link_any(&links, begin_ns)
				: op == STORE_OP_LAUNCH ? trace_link_new(&links, begin_ns)
							: 0;

		/* Some overlap, and there are stretches without any. */
		begins_ns[line] = begin_ns + (small_below(4) ? length_ns : 0) + (small_below(9) ? 0 : 800);
		trace_span(writer, streams[line], begin_ns * UNIT_NS, (begin_ns + length_ns) * UNIT_NS, op,
			paths[small_below(2)], link);
	}
}

static void ask(struct idle *idle, struct run *run, const struct idle_question *question, uint64_t records,
	struct arena *arena)
{
	uint64_t before = time_slices_records;
	struct error error = {0};

	time_slices_records = records;
	if (idle_sweep(idle, run, question, arena, &error))
		assert_int_equal(idle->busy_ns + idle->idle_ns, 0);
	time_slices_records = before;
}

static void check_shares(const struct exact_share *whole, size_t whole_count,
	const struct exact_share *blocks, size_t block_count)
{
	assert_int_equal(whole_count, block_count);
	for (size_t i = 0; i < whole_count; i++) {
		assert_int_equal(whole[i].context, blocks[i].context);
		assert_int_equal((uint64_t)((whole[i].amount + ((exact_share_fixed)1 << 63)) >> 64),
			(uint64_t)((blocks[i].amount + ((exact_share_fixed)1 << 63)) >> 64));
	}
}

static void test_blocks(void **unused)
{
	int blamed = 0;

	(void)unused;
	small_seed("blame.blocks");
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t streams[3] = {0, 1, 2};
		struct idle_question question = {
			.streams = streams, .stream_count = 3, .busy = (enum idle_busy)small_below(2)};
		struct small_run small;
		struct arena arena = {0};
		struct error error = {0};
		struct idle whole, blocks;
		uint32_t ids[3];

		small_begin(&small);
		ids[0] = trace_thread(small.writer, 1, 0, LENGTH * UNIT_NS);
		ids[1] = trace_queue(small.writer, 1, 1, LENGTH * UNIT_NS);
		ids[2] = trace_queue(small.writer, 1, 2, LENGTH * UNIT_NS);
		trace_run(small.writer, ids[0], 0, "main");
		put_random(small.writer, ids, small_below(2) ? 2 : 40);
		small_ready(&small);
		question.begin_ns = small_below(2) ? 0 : small_below(3000) * UNIT_NS;
		question.end_ns = question.begin_ns + (1 + small_below(12000)) * UNIT_NS;
		assert_int_equal(wait_functions_new(&question.waits, small.run, NULL, &error), 0);
		ask(&whole, small.run, &question, UINT64_MAX / 2, &arena);
		blamed += whole.blamed_ns > 0;
		for (uint64_t records = 1; records < 100; records = 3 * records + 1) {
			ask(&blocks, small.run, &question, records, &arena);
			assert_int_equal(whole.busy_ns, blocks.busy_ns);
			assert_int_equal(whole.idle_ns, blocks.idle_ns);
			assert_int_equal(whole.blamed_ns, blocks.blamed_ns);
			assert_int_equal(whole.all_idle_ns, blocks.all_idle_ns);
			assert_int_equal(whole.unexplained_ns, blocks.unexplained_ns);
			check_shares(whole.blamed, whole.blamed_count, blocks.blamed, blocks.blamed_count);
			check_shares(whole.waited, whole.waited_count, blocks.waited, blocks.waited_count);
		}
		arena_fini(&arena);
		wait_functions_free(question.waits);
		small_end(&small);
	}
	assert_true(blamed > ROUNDS / 2); /* who is refused an answer compares nothing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
