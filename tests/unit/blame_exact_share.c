/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blame_exact_share.c - shares of time: rounding keeps the sum and moves no row by a nanosecond or more, rows
 * and trees of random shares sum to the same whole.
 */
#include "tests/unit/blame_trace.h"

#include "blame/idle/tree.h"

#define ROUNDS 300
#define SHARES 24u

static exact_share_fixed random_amount(void)
{
	return (exact_share_fixed)small_below(1000) << 64 | (exact_share_fixed)small_draw();
}

static void test_rounding(void **unused)
{
	(void)unused;
	small_seed("blame.rounding");
	for (int round = 0; round < ROUNDS; round++) {
		exact_share_fixed amounts[SHARES], sum = 0;
		uint64_t times[SHARES], total, whole = 0;
		size_t order[SHARES], count = small_below(SHARES);
		const uint64_t keys[SHARES] = {0};

		for (size_t i = 0; i < count; i++)
			sum += amounts[i] = random_amount();
		total = exact_share_round(amounts, keys, times, order, count);
		assert_in_range(total, (uint64_t)((sum + ((exact_share_fixed)1 << 63)) >> 64),
			(uint64_t)((sum + ((exact_share_fixed)1 << 63) + ((exact_share_fixed)1 << 40)) >>
				   64));
		for (size_t i = 0; i < count; i++) {
			uint64_t down = (uint64_t)(amounts[i] >> 64);

			whole += times[i];
			assert_in_range(times[i], down, down + 1);
		}
		assert_int_equal(whole, total);
	}
}

/* Two thirds rounded down are one ns short: the larger remainder gets it. */
static void test_largest_remainder(void **unused)
{
	exact_share_fixed amounts[2] = {exact_share_of(4, 3), exact_share_of(5, 3)};
	uint64_t times[2];
	const uint64_t keys[2] = {0};
	size_t order[2];

	(void)unused;
	assert_int_equal(exact_share_round(amounts, keys, times, order, 2), 3);
	assert_int_equal(times[0], 1);
	assert_int_equal(times[1], 2);
}

/* Of equal remainders the keys decide, wherever the amounts lie. */
static void test_equal_remainders(void **unused)
{
	exact_share_fixed amounts[3] = {exact_share_of(1, 3), exact_share_of(1, 3), exact_share_of(1, 3)};
	const uint64_t keys[3] = {7, 9, 5};
	uint64_t times[3];
	size_t order[3];

	(void)unused;
	assert_int_equal(exact_share_round(amounts, keys, times, order, 3), 1);
	assert_int_equal(times[0], 0);
	assert_int_equal(times[1], 0);
	assert_int_equal(times[2], 1);
}

/* The same times in other pieces: no sum ranks before another by that, and no nanosecond moves. */
static void test_pieces(void **unused)
{
	(void)unused;
	small_seed("blame.pieces");
	for (int round = 0; round < ROUNDS; round++) {
		exact_share_fixed whole[SHARES] = {0}, pieces[SHARES] = {0};
		uint64_t whole_ns[SHARES], pieces_ns[SHARES], sharers = 1 + small_below(50);
		const uint64_t keys[SHARES] = {0};
		size_t order[SHARES];

		for (size_t i = 0; i < SHARES; i++) {
			uint64_t time_ns = 40 + small_below(3); /* many are equal */

			whole[i] = exact_share_of(time_ns, sharers);
			for (uint64_t piece_ns; time_ns; time_ns -= piece_ns) {
				piece_ns = 1 + small_below(time_ns);
				pieces[i] += exact_share_of(piece_ns, sharers);
			}
			assert_true(exact_share_rank(whole[i]) == exact_share_rank(pieces[i]));
		}
		assert_int_equal(exact_share_round(whole, keys, whole_ns, order, SHARES),
			exact_share_round(pieces, keys, pieces_ns, order, SHARES));
		assert_memory_equal(whole_ns, pieces_ns, sizeof(whole_ns));
	}
}

static void check_tree(const struct tree *tree, uint64_t total)
{
	uint64_t children[64] = {0}, own = 0;

	assert_in_range(tree->count, 1, 64);
	for (size_t i = tree->count; i-- > 0;) {
		const struct tree_row *row = &tree->rows[i];

		assert_int_equal(row->inclusive_ns, row->exclusive_ns + children[i]);
		own += row->exclusive_ns;
		if (!i)
			break;
		assert_true(row->parent < i);
		assert_int_equal(row->depth, tree->rows[row->parent].depth + 1);
		assert_true(row->inclusive_ns > 0);
		children[row->parent] += row->inclusive_ns;
	}
	assert_int_equal(own, total);
	assert_int_equal(tree->rows[0].inclusive_ns, total);
	for (size_t i = 2; i < tree->count; i++)
		for (size_t j = 1; j < i; j++)
			if (tree->rows[j].parent == tree->rows[i].parent)
				assert_true(tree->rows[j].inclusive_ns >= tree->rows[i].inclusive_ns);
}

static void test_rows_and_tree(void **unused)
{
	static const char *const paths[] = {
		"main", "main;a", "main;a;b", "main;c", "main;c;a", "main;c;a;a;d", "other"};
	struct small_run small;
	struct error error = {0};
	uint32_t thread;

	(void)unused;
	small_seed("blame.tree");
	small_begin(&small);
	thread = trace_thread(small.writer, 1, 0, 100);
	for (uint32_t i = 0; i < 7; i++)
		trace_run(small.writer, thread, i, paths[i]);
	small_ready(&small);
	for (int round = 0; round < ROUNDS; round++) {
		struct arena arena = {0};
		struct exact_share shares[SHARES];
		exact_share_fixed sum = 0;
		uint32_t depth = (uint32_t)small_below(6);

		for (uint32_t i = 0; i < SHARES; i++)
			sum += (shares[i] = (struct exact_share){(uint32_t)small_below(
									 run_context_count(small.run)),
					STREAM_GROUPS_NONE, random_amount()})
				       .amount;
		for (int by = ROW_KEY_FUNCTION; by <= ROW_KEY_LINE; by++) {
			struct exact_share_rows rows;
			uint64_t whole = 0;

			assert_int_equal(exact_share_rows_make(&rows, small.run, shares, SHARES, NULL,
						 (enum row_key_by)by, depth, NULL, &arena, &error),
				0);
			for (size_t i = 0; i < rows.count; i++)
				whole += rows.rows[i].time_ns;
			assert_int_equal(whole, rows.total_ns);
			assert_int_equal(whole, (uint64_t)((sum + ((exact_share_fixed)1 << 63)) >> 64));
		}
		struct tree tree;

		assert_int_equal(tree_make(&tree, small.run, shares, SHARES, NULL, depth, &arena, &error), 0);
		check_tree(&tree, (uint64_t)((sum + ((exact_share_fixed)1 << 63)) >> 64));
		arena_fini(&arena);
	}
	small_end(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_largest_remainder),
		cmocka_unit_test(test_equal_remainders),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_rows_and_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
