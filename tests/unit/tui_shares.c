/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_shares.c - shares of a column against sums that are looked for one by one.
 */
#include "tests/unit/timeline_small_run.h"

#include "tui/timeline/shares.h"

#define FUNCTIONS 300u
#define STATES 4u

static void add_parts(struct shares *shares, uint64_t sums[FUNCTIONS + 1][STATES])
{
	for (unsigned i = 0; i < 5000; i++) {
		uint32_t number = (uint32_t)small_below(FUNCTIONS + 1);
		struct cell_share part = {.state = (enum extent_state)small_below(STATES),
					  .function = number ? number - 1 : UINT32_MAX,
					  .time_ns = 1 + small_below(1000),
					  .records = 1},
				  *share;
		bool is_new;

		share = shares_add(shares, &part, &is_new);
		assert_non_null(share);
		assert_int_equal(is_new, !sums[number][part.state]);
		share->hash = number;
		sums[number][part.state] += part.time_ns;
	}
}

/* All of them, however many; added up, by descending time, and twice, since the memory is used again. */
static void test_shares(void **state)
{
	struct shares shares = {0};

	(void)state;
	small_seed("shares");
	for (int round = 0; round < 2; round++) {
		static uint64_t sums[FUNCTIONS + 1][STATES];
		uint32_t kinds = 0;

		memset(sums, 0, sizeof sums);
		add_parts(&shares, sums);
		for (unsigned i = 0; i < (FUNCTIONS + 1) * STATES; i++)
			kinds += sums[i / STATES][i % STATES] > 0;
		assert_int_equal(shares.count, kinds);
		shares_sort(&shares);
		for (uint32_t i = 0; i < shares.count; i++) {
			const struct cell_share *share = &shares.items[i];

			assert_true(!i || share->time_ns <= share[-1].time_ns);
			assert_int_equal(share->time_ns, sums[share->function + 1][share->state]);
		}
		shares_clear(&shares);
	}
	shares_fini(&shares);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_shares)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
