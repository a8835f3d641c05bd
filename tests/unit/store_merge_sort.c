/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_merge_sort.c - merge_sort() and search_near() against qsort() and a search from the start: lists in
 * order, of few and many ascending stretches, with equal items; searches that begin anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/base/merge_sort.h"
#include "store/base/search_near.h"
#include "tests/unit/seed.h"

#define ROUNDS 3000
#define ITEMS 200u

struct item {
	uint64_t key;
	uint32_t number;
};

static unsigned comparisons;
static uint64_t chance;

static uint32_t below(size_t limit)
{
	return limit ? (uint32_t)(seed_next(&chance) % limit) : 0;
}

static int compare(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	comparisons++;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void expect_sorted(struct item *items, size_t count)
{
	struct item twin[ITEMS];

	memcpy(twin, items, count * sizeof *items);
	qsort(twin, count, sizeof *twin, compare);
	merge_sort(items, count, sizeof *items, compare);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(items[i].key, twin[i].key);
		assert_int_equal(items[i].number, twin[i].number);
	}
}

static void test_sort(void **unused)
{
	struct item items[ITEMS];

	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		size_t count = below(ITEMS), streams = 1 + below(6);
		uint64_t key = 0;

		for (size_t i = 0; i < count; i++) {
			/* stretches of about that length, or none */
			key = below(1 + count / streams) ? key + below(3) : below(50);
			if (round % 3 == 0)
				key = below(50);
			items[i] = (struct item){key, below(3)};
		}
		expect_sorted(items, count);
	}
}

/* What is in order is looked at once; two stretches are merged in one pass. */
static void test_cost(void **unused)
{
	struct item items[ITEMS];

	(void)unused;
	for (uint32_t i = 0; i < ITEMS; i++)
		items[i] = (struct item){i, 0};
	comparisons = 0;
	merge_sort(items, ITEMS, sizeof *items, compare);
	assert_int_equal(comparisons, ITEMS - 1);
	for (uint32_t i = 0; i < ITEMS; i++)
		items[i] = (struct item){2 * i % ITEMS, 0};
	comparisons = 0;
	merge_sort(items, ITEMS, sizeof *items, compare);
	assert_true(comparisons < 2 * ITEMS + 16);
}

/* Long and short stretches of a size that has huge pages: short ones before, behind and among a long one. */
static void test_large(void **unused)
{
	size_t count = 2 * HUGE_PAGES_BYTES / sizeof(struct item), cut = count / 8;
	struct item *items = malloc(count * sizeof *items);

	(void)unused;
	assert_non_null(items);
	for (unsigned round = 0; round < 3; round++) {
		size_t at = round == 0 ? cut : round == 1 ? count - cut : count / 2;

		for (size_t i = 0; i < count; i++)
			items[i] = (struct item){i < at ? i + count - at : i - at, 0};
		merge_sort(items, count, sizeof *items, compare);
		for (size_t i = 0; i < count; i++)
			assert_int_equal(items[i].key, i);
	}
	free(items);
}

struct looked_for {
	const struct item *items;
	uint64_t key;
	unsigned looks;
};

static bool is_before(const void *own, size_t number)
{
	const struct looked_for *looked_for = own;

	((struct looked_for *)own)->looks++;
	return looked_for->items[number].key < looked_for->key;
}

static void test_search(void **unused)
{
	struct item items[ITEMS];

	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		size_t count = below(ITEMS), low = below(count + 1);
		size_t near = low + below(count - low + 1), truth = low;
		struct looked_for looked_for = {items, below(300), 0};

		for (size_t i = 0; i < count; i++)
			items[i] = (struct item){(i ? items[i - 1].key : 0) + below(4), 0};
		while (truth < count && items[truth].key < looked_for.key)
			truth++;
		assert_int_equal(search_near(low, count, near, is_before, &looked_for), truth);
		looked_for.looks = 0;
		assert_int_equal(search_near(low, count, truth, is_before, &looked_for), truth);
		assert_true(looked_for.looks <= 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_search),
	};

	chance = seed_take("store_merge_sort", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
