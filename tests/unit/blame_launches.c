/* SPDX-License-Identifier: Apache-2.0 */
/* blame_launches.c - launches by their links, in the order of any program: as a plain list tells them. */
#include "tests/unit/blame_trace.h"

#include "blame/gpu/launches.h"
#include "store/base/avx2.h"

#define ROUNDS 400
#define LAUNCHES 700u
#define PART 64u

struct list {
	uint64_t links[LAUNCHES], ends_ns[LAUNCHES];
	size_t count;
};

static uint64_t plain_end(const struct list *list, uint64_t link, uint64_t until_ns)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < list->count; i++) {
		uint64_t end_ns = list->ends_ns[i] & ~LAUNCHES_LONG;

		if (link && list->links[i] == link && (list->ends_ns[i] != end_ns || end_ns <= until_ns) &&
			end_ns > last_ns)
			last_ns = end_ns;
	}
	return last_ns;
}

/* In turn, in steps, falling, anywhere, by threads that each count for themselves, over the end of 32 bits
 * and of all numbers; some have none. */
static uint64_t draw_link(unsigned shape, uint64_t begin, size_t i)
{
	if (!small_below(9))
		return 0;
	switch (shape) {
	case 0:
		return begin + i;
	case 1:
		return begin + 3 * i + small_below(2);
	case 2:
		return begin + 100000 - 2 * i;
	case 3:
		return begin + small_below(300);
	case 4:
		return small_draw();
	case 5:
		return begin + (i / PART % 3 << 40) + i;
	case 6:
		return (uint32_t)(UINT32_MAX - LAUNCHES / 2 + i);
	case 7:
		return i - LAUNCHES / 2;
	default:
		return UINT64_MAX - small_below(300);
	}
}

static void draw(struct list *list)
{
	unsigned shape = (unsigned)small_below(9), change = (unsigned)small_below(LAUNCHES);
	uint64_t begin = 1 + (small_below(2) ? small_below(1000) : small_draw() >> 2);

	list->count = 1 + small_below(LAUNCHES - 1);
	for (size_t i = 0; i < list->count; i++) {
		if (i == change && small_below(2))
			shape = (unsigned)small_below(9);
		list->links[i] = draw_link(shape, begin, i);
		list->ends_ns[i] = small_below(40) ? small_below(100000) : 0;
		list->ends_ns[i] |= list->ends_ns[i] && !small_below(9) ? LAUNCHES_LONG : 0;
	}
}

/* One that reaches a link has the first of it, and of those in turn. */
static void check_table(const struct list *list, const struct launches *launches)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct launches_part *table = launches_table(launches, list->links[i]);
		bool is_there = launches_reach(table, list->links[i]);
		size_t rows = is_there ? launches_rows(table, list->links + i, list->count - i) : 0;

		rows = is_there && !rows ? 1 : rows;
		for (size_t k = 0; k < rows; k++)
			assert_int_equal(launches_row(table, list->links[i])[k] & ~LAUNCHES_LONG,
				plain_end(list, list->links[i + k], INT64_MAX));
	}
}

static void check(const struct list *list)
{
	struct launches launches = {0};

	for (size_t at = 0, count; at < list->count; at += count) {
		count = 1 + small_below(PART);
		count = count < list->count - at ? count : list->count - at;
		assert_true(launches_put(&launches, list->links + at, list->ends_ns + at, count));
	}
	launches_sort(&launches);
	check_table(list, &launches);
	for (size_t i = 0; i < list->count; i++) {
		uint64_t link = list->links[i] + small_below(3) - 1, until_ns = small_below(100000);

		assert_int_equal(launches_end(&launches, link, until_ns) & ~LAUNCHES_LONG,
			plain_end(list, link, until_ns));
	}
	launches_fini(&launches);
}

static void test_twin(void **unused)
{
	(void)unused;
	small_seed("blame.launches");
	for (int round = 0; round < ROUNDS; round++) {
		struct list list;

		store_is_plain = round % 2;
		draw(&list);
		check(&list);
	}
	store_is_plain = false;
}

/* Rows in turn end with their page: those of the next one lie elsewhere. */
static void test_page(void **unused)
{
	uint64_t links[PART], ends_ns[PART];
	const struct launches_part *table;
	struct launches launches = {0};

	(void)unused;
	for (uint64_t i = 0; i < PART; i++) {
		links[i] = LAUNCHES_PAGE - PART / 2 + i;
		ends_ns[i] = 100 + i;
	}
	assert_true(launches_put(&launches, links, ends_ns, PART));
	table = launches_table(&launches, links[0]);
	assert_int_equal(launches_rows(table, links, PART), PART / 2);
	for (size_t i = 0; i < PART; i++)
		assert_int_equal(*launches_row(table, links[i]), 100 + i);
	launches_fini(&launches);
}

/* The table is as long as the links reach: they may not make it huge. */
static void test_bounded(void **unused)
{
	const uint64_t links[] = {7, UINT64_C(1) << 40, 8}, ends_ns[] = {1, 2, 3};
	struct launches launches = {0};

	(void)unused;
	assert_true(launches_put(&launches, links, ends_ns, 3));
	assert_int_equal(launches.count, 1);
	assert_int_equal(launches.parts[0].rows, 0);
	launches_sort(&launches);
	assert_int_equal(launches_end(&launches, 8, INT64_MAX), 3);
	launches_fini(&launches);
}

/* Links that run over the end of all numbers are as far apart as the least and the most of them. */
static void test_wrapped(void **unused)
{
	uint64_t links[LAUNCHES_TURN], ends_ns[LAUNCHES_TURN];
	struct launches launches = {0};

	(void)unused;
	for (uint64_t turn = 0; turn < 3; turn++) {
		for (uint64_t i = 0; i < LAUNCHES_TURN; i++) {
			links[i] = turn * LAUNCHES_TURN + i - 4;
			ends_ns[i] = links[i] + 10;
		}
		assert_true(launches_put(&launches, links, ends_ns, LAUNCHES_TURN));
	}
	launches_sort(&launches);
	assert_int_equal(launches_end(&launches, UINT64_MAX - 3, INT64_MAX), 6);
	assert_int_equal(launches_end(&launches, 0, INT64_MAX), 0);
	for (uint64_t link = 1; link < 3 * LAUNCHES_TURN - 4; link++)
		assert_int_equal(launches_end(&launches, link, INT64_MAX), link + 10);
	launches_fini(&launches);
}

/* Threads whose links are far from each other have tables of their own, and nothing is sorted. */
static void test_threads(void **unused)
{
	uint64_t links[PART], ends_ns[PART];
	struct launches launches = {0};

	(void)unused;
	for (uint64_t thread = 0; thread < 3; thread++) {
		for (uint64_t i = 0; i < PART; i++) {
			links[i] = 1 + (thread << 40) + i;
			ends_ns[i] = 1 + 100 * thread + i;
		}
		assert_true(launches_put(&launches, links, ends_ns, PART));
	}
	launches_sort(&launches);
	assert_int_equal(launches.count, 3);
	assert_false(launches.overlap);
	assert_ptr_equal(launches_table(&launches, links[7]), &launches.parts[2]);
	assert_int_equal(*launches_row(&launches.parts[2], links[7]), 208);
	assert_true(launches_rows(&launches.parts[2], links, PART));
	links[7] = 1;
	assert_false(launches_rows(&launches.parts[2], links, PART));
	assert_ptr_equal(launches_table(&launches, 1), &launches.parts[0]);
	assert_int_equal(launches_end(&launches, 1, INT64_MAX), 1);
	launches_fini(&launches);
}

#define MANY (6 * LAUNCHES_PAGE)

/* What is over may be forgotten, and nothing else; a link of it that comes late has its own end; and memory
 * does not grow. */
static void test_passed(void **unused)
{
	struct launches launches = {0};
	size_t over = 0;

	(void)unused;
	for (uint64_t i = 0; i < MANY; i += PART) {
		uint64_t links[PART], ends_ns[PART];

		for (uint64_t k = 0; k < PART; k++) {
			links[k] = (i + k) % 1000 ? i + k : 0;
			ends_ns[k] = 10 * (i + k);
		}
		launches_pass(&launches, i > 5000 ? 10 * (i - 5000) : 0);
		assert_true(launches_put(&launches, links, ends_ns, PART));
	}
	for (uint64_t link = 1; link < MANY; link++) {
		uint64_t end_ns = launches_end(&launches, link, INT64_MAX);

		over += link % 1000 && end_ns == 0;
		if (link % 1000 == 0)
			assert_int_equal(end_ns, 0);
		else if (end_ns || 10 * link > launches.passed_ns)
			assert_int_equal(end_ns, 10 * link);
	}
	assert_true(over > MANY / 2);
	assert_true(launches_put(&launches, &(uint64_t){2000}, &(uint64_t){77777}, 1));
	assert_int_equal(launches_end(&launches, 2000, INT64_MAX), 77777);
	assert_int_equal(launches_end(&launches, 2001, INT64_MAX), 0);
	assert_int_equal(launches_end(&launches, 3000, INT64_MAX), 0);
	launches_fini(&launches);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_twin), cmocka_unit_test(test_page),
		cmocka_unit_test(test_bounded), cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_passed)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
