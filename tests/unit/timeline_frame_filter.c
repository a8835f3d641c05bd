/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_frame_filter.c - the three filters on the tree of S4's figure 10.10, and the law that costs are
 * conserved whatever is filtered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/seed.h"
#include "timeline/profile/frame_filter.h"

#define ROWS_MAX 200

static struct profile_metric metric = {.name = "CPUTIME", .unit = "ns"};
static union profile_value inclusive[ROWS_MAX], exclusive[ROWS_MAX];
static struct profile_row rows[ROWS_MAX];

static void set_row(size_t at, const char *name, uint32_t parent, uint64_t incl, uint64_t excl)
{
	inclusive[at].number = incl;
	exclusive[at].number = excl;
	rows[at] = (struct profile_row){.name = name,
		.name_bytes = strlen(name),
		.parent = parent,
		.depth = at ? rows[parent].depth + 1 : 0,
		.kind = at ? PROFILE_FUNCTION : PROFILE_ROOT,
		.inclusive = &inclusive[at],
		.exclusive = &exclusive[at]};
}

/* A 10 (1), B 4 (4), C 5 (2), D 2 (2), E 1 (1) below the root. */
static struct profile figure(void)
{
	set_row(0, "root", UINT32_MAX, 10, 0);
	set_row(1, "A", 0, 10, 1);
	set_row(2, "B", 1, 4, 4);
	set_row(3, "C", 1, 5, 2);
	set_row(4, "D", 3, 2, 2);
	set_row(5, "E", 3, 1, 1);
	return (struct profile){.metrics = &metric, .metric_count = 1, .rows = rows, .count = 6};
}

static void print_rows(char *out, const struct profile *profile)
{
	out[0] = '\0';
	for (size_t i = 0; i < profile->count; i++)
		sprintf(out + strlen(out), "%u%s:%llu/%llu ", profile->rows[i].depth, profile->rows[i].name,
			(unsigned long long)profile->rows[i].inclusive->number,
			(unsigned long long)profile->rows[i].exclusive->number);
}

static void check(enum frame_filter_kind kind, bool is_top_down, const char *expected)
{
	struct frame_filter_pattern pattern = {kind, "C", false};
	struct profile profile = figure();
	struct arena arena = {0};
	struct error error;
	char text[512];

	assert_int_equal(frame_filter_rows(&profile, is_top_down, &pattern, 1, &arena, &error), 0);
	print_rows(text, &profile);
	assert_string_equal(text, expected);
	arena_fini(&arena);
}

static void test_figure(void **state)
{
	(void)state;
	check(FRAME_FILTER_SELF, true, "0root:10/0 1A:10/3 2B:4/4 2D:2/2 2E:1/1 ");
	check(FRAME_FILTER_BELOW, true, "0root:10/0 1A:10/1 2B:4/4 2C:5/5 ");
	check(FRAME_FILTER_ALL, true, "0root:10/0 1A:10/6 2B:4/4 ");
	check(FRAME_FILTER_SELF, false, "0root:10/0 1A:10/1 2B:4/4 2D:2/2 2E:1/1 ");
	check(FRAME_FILTER_ALL, false, "0root:10/0 1A:10/1 2B:4/4 ");
}

static void test_off(void **state)
{
	struct frame_filter_pattern pattern = {FRAME_FILTER_ALL, "*", true};
	struct profile profile = figure();
	struct arena arena = {0};
	struct error error;

	(void)state;
	assert_int_equal(frame_filter_rows(&profile, true, &pattern, 1, &arena, &error), 0);
	assert_int_equal(profile.count, 6);
	pattern.is_off = false;
	assert_int_equal(frame_filter_rows(&profile, true, &pattern, 1, &arena, &error), 0);
	assert_int_equal(profile.count, 1); /* the root stays */
	assert_int_equal(profile.rows[0].exclusive->number, 10);
	arena_fini(&arena);
}

static void make_tree(unsigned *seed, size_t count)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};

	set_row(0, "root", UINT32_MAX, 0, 0);
	for (size_t i = 1; i < count; i++) {
		/* parents come before children, and each subtree is together */
		uint32_t parent = (uint32_t)i - 1;
		while (parent && rand_r(seed) % 3)
			parent = rows[parent].parent;
		set_row(i, names[rand_r(seed) % 5], parent, 0, (uint64_t)rand_r(seed) % 100);
	}
	for (size_t i = count; i-- > 0;) {
		inclusive[i].number += exclusive[i].number;
		if (i)
			inclusive[rows[i].parent].number += inclusive[i].number;
	}
}

/* Exclusive costs sum to the total, and every row's inclusive cost is its own and its children's. */
static void test_conserved(void **state)
{
	unsigned seed = (unsigned)seed_take(__func__, 20261122);

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct frame_filter_pattern patterns[] = {
			{(enum frame_filter_kind)(rand_r(&seed) % 3), "a", false},
			{(enum frame_filter_kind)(rand_r(&seed) % 3), "b", rand_r(&seed) % 2}};
		size_t count = 1 + (size_t)rand_r(&seed) % (ROWS_MAX - 1);
		struct profile profile = {
			.metrics = &metric, .metric_count = 1, .rows = rows, .count = count};
		uint64_t sum = 0, below[ROWS_MAX] = {0};
		struct arena arena = {0};
		struct error error;

		make_tree(&seed, count);
		assert_int_equal(frame_filter_rows(&profile, true, patterns, 2, &arena, &error), 0);
		for (size_t i = profile.count; i-- > 0;) {
			const struct profile_row *row = &profile.rows[i];
			sum += row->exclusive->number;
			assert_int_equal(row->inclusive->number, below[i] + row->exclusive->number);
			if (i == 0)
				continue;
			assert_true(row->parent < i);
			assert_int_equal(row->depth, profile.rows[row->parent].depth + 1);
			below[row->parent] += row->inclusive->number;
		}
		assert_int_equal(sum, inclusive[0].number);
		arena_fini(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure), cmocka_unit_test(test_off), cmocka_unit_test(test_conserved)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
