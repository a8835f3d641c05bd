/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_outline.c - laws of the folding tree on random profiles: everything open shows every row once, siblings
 * stand in order of the sort column, steps visit all rows forwards and backwards, the hot path keeps its
 * share, and what is open stays open when the profile is loaded again.
 */
#include <math.h>
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
#include "tui/models/outline.h"
#include "tui/models/profile_page.h"
#include "tui/screen/label.h"

#define ROWS_MAX 120

static struct profile_metric metric = {.name = "CPUTIME", .unit = "ns"};
static union profile_value inclusive[ROWS_MAX], exclusive[ROWS_MAX];
static struct profile_row rows[ROWS_MAX];
static char names[ROWS_MAX][8];

static struct profile make_profile(unsigned *seed, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t parent = i ? (uint32_t)i - 1 : UINT32_MAX;
		while (i && parent && rand_r(seed) % 3)
			parent = rows[parent].parent;
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		inclusive[i].number = 0;
		exclusive[i].number = (uint64_t)rand_r(seed) % 50;
		rows[i] = (struct profile_row){.name = names[i],
			.name_bytes = strlen(names[i]),
			.module = "",
			.file = "",
			.parent = parent,
			.depth = i ? rows[parent].depth + 1 : 0,
			.kind = i ? PROFILE_FUNCTION : PROFILE_ROOT,
			.inclusive = &inclusive[i],
			.exclusive = &exclusive[i]};
	}
	for (size_t i = count; i-- > 0;) {
		inclusive[i].number += exclusive[i].number;
		if (i)
			inclusive[rows[i].parent].number += inclusive[i].number;
	}
	return (struct profile){.metrics = &metric, .metric_count = 1, .rows = rows, .count = count};
}

static void check_order(const struct outline *outline)
{
	for (size_t i = 1; i < outline->line_count; i++) {
		uint32_t a = outline->lines[i - 1].row, b = outline->lines[i].row;
		if (rows[a].parent == rows[b].parent)
			assert_true(outline_value(outline, a, outline->sort) >=
				    outline_value(outline, b, outline->sort));
	}
}

static void check_steps(const struct outline *outline, size_t count)
{
	uint32_t order[ROWS_MAX], row = 0;
	size_t seen = 0;

	for (; row != UINT32_MAX && seen < count; row = outline_next_row(outline, row, false))
		order[seen++] = row;
	assert_int_equal(seen, count);
	assert_true(row == UINT32_MAX);
	row = order[count - 1];
	for (size_t i = count; i-- > 0; row = outline_next_row(outline, row, true))
		assert_int_equal(row, order[i]);
	assert_true(row == UINT32_MAX);
}

static void check_hot(struct outline *outline)
{
	uint32_t end = outline_hot_path(outline, 0, 0.4);
	struct error error;

	for (uint32_t row = end; row; row = rows[row].parent)
		assert_true(inclusive[row].number * 10 >= inclusive[rows[row].parent].number * 4);
	for (uint32_t child = 1; child < outline->profile.count; child++)
		if (rows[child].parent == end && inclusive[child].number)
			assert_true(inclusive[child].number * 10 < inclusive[end].number * 4);
	assert_int_equal(outline_list(outline, &error), 0);
	assert_int_equal(outline->lines[outline_line_of(outline, end)].row, end); /* it is opened */
}

static void test_laws(void **state)
{
	unsigned seed = (unsigned)seed_take(__func__, 20261122);

	(void)state;
	for (int round = 0; round < 300; round++) {
		size_t count = 1 + (size_t)rand_r(&seed) % ROWS_MAX;
		struct profile profile = make_profile(&seed, count);
		struct outline outline = {0};
		struct error error;
		size_t lines;

		assert_int_equal(outline_load(&outline, &profile, &error), 0);
		check_hot(&outline);
		outline_sort(&outline, (size_t)rand_r(&seed) % 2);
		for (uint32_t i = 0; i < count; i++)
			outline_set_open(&outline, i, true);
		assert_int_equal(outline_list(&outline, &error), 0);
		assert_int_equal(outline.line_count, count);
		check_order(&outline);
		check_steps(&outline, count);
		outline_set_open(&outline, (uint32_t)rand_r(&seed) % (uint32_t)count, false);
		assert_int_equal(outline_list(&outline, &error), 0);
		lines = outline.line_count;
		assert_int_equal(outline_load(&outline, &profile, &error), 0);
		assert_int_equal(outline_list(&outline, &error), 0);
		assert_int_equal(outline.line_count, lines);
		outline_fini(&outline);
	}
}

static void test_derived(void **state)
{
	unsigned seed = (unsigned)seed_take(__func__, 5);
	struct profile profile = make_profile(&seed, 50);
	struct outline outline = {0};
	struct error error;

	(void)state;
	assert_int_equal(outline_load(&outline, &profile, &error), 0);
	assert_int_equal(outline_derive(&outline, "share", "$0 / @0", false, &error), 0);
	assert_int_equal(outline_derive(&outline, "twice", "2 * $2", false, &error), 0);
	assert_int_equal(outline_derive(&outline, "bad", "$9", false, &error), -ERROR_USAGE);
	assert_int_equal(outline.column_count, 4);
	assert_int_equal(outline_load(&outline, &profile, &error), 0); /* they stay */
	assert_int_equal(outline.column_count, 4);
	for (uint32_t i = 0; i < 50; i++)
		assert_true(outline_value(&outline, i, 3) ==
			    2 * ((double)inclusive[i].number / (double)inclusive[0].number));
	outline_sort(&outline, 3);
	outline_set_open(&outline, 0, true);
	assert_int_equal(outline_list(&outline, &error), 0);
	check_order(&outline);
	outline_fini(&outline);
}

static void test_flatten_zoom(void **state)
{
	unsigned seed = (unsigned)seed_take(__func__, 8);
	struct profile profile = make_profile(&seed, 80);
	struct outline outline = {0};
	struct error error;
	size_t expected = 0;

	(void)state;
	assert_int_equal(outline_load(&outline, &profile, &error), 0);
	outline.flatten = 2;
	assert_int_equal(outline_list(&outline, &error), 0);
	for (uint32_t i = 1; i < 80; i++) /* rows three levels down, and leaves above */
		expected += rows[i].depth == 3 || (rows[i].depth < 3 && !outline_has_children(&outline, i));
	assert_int_equal(outline.line_count, expected);
	outline.flatten = 0;
	outline.zooms[outline.zoom_count++] = outline.hashes[1];
	assert_int_equal(outline_list(&outline, &error), 0);
	assert_int_equal(outline.lines[0].row, 1);
	outline_reveal(&outline, 0);
	assert_int_equal(outline_list(&outline, &error), 0);
	assert_int_equal(outline.zoom_count, 0);
	assert_int_equal(outline.lines[0].row, 0);
	outline_fini(&outline);
}

/* Rows without a value stand behind all others, flattened too, whichever way the others are sorted. */
static void test_flatten_no_value(void **state)
{
	unsigned seed = (unsigned)seed_take(__func__, 8);
	struct profile profile = make_profile(&seed, 80);
	struct outline outline = {0};
	struct error error;

	(void)state;
	for (size_t i = 0; i < 80; i += 3)
		exclusive[i].number = 0; /* nothing is divided by it */
	outline.flatten = 2;
	for (int is_ascending = 0; is_ascending < 2; is_ascending++) {
		size_t with_value = 0;

		assert_int_equal(outline_load(&outline, &profile, &error), 0);
		if (!is_ascending)
			assert_int_equal(outline_derive(&outline, "ratio", "$0 / $1", false, &error), 0);
		outline.is_ascending = is_ascending;
		outline_sort(&outline, 2);
		assert_int_equal(outline_list(&outline, &error), 0);
		for (size_t i = 0; i < outline.line_count; i++)
			with_value += !isnan(outline_value(&outline, outline.lines[i].row, 2));
		assert_true(with_value > 2 && with_value < outline.line_count);
		for (size_t i = 0; i < outline.line_count; i++) {
			double value = outline_value(&outline, outline.lines[i].row, 2);
			double before = i ? outline_value(&outline, outline.lines[i - 1].row, 2) : value;
			assert_true((i < with_value) == !isnan(value));
			if (i < with_value)
				assert_true(is_ascending ? before <= value : before >= value);
		}
	}
	outline_fini(&outline);
}

/* A column goes where it is put, the others keep their order, and a new profile changes neither. */
static void test_columns(void **state)
{
	struct outline outline = {0};
	unsigned seed = (unsigned)seed_take(__func__, 5);
	size_t order[OUTLINE_COLUMNS];
	struct profile profile = make_profile(&seed, 20);
	struct error error;

	(void)state;
	assert_int_equal(outline_load(&outline, &profile, &error), 0);
	assert_int_equal(outline_derive(&outline, "twice", "$0 * 2", false, &error), 0);
	for (size_t column = 0; column < 3; column++) {
		for (size_t place = 0; place < 3; place++) {
			size_t before[OUTLINE_COLUMNS], at = 0;
			assert_int_equal(outline_shown(&outline, before), 3);
			outline_move(&outline, column, place);
			assert_int_equal(outline_shown(&outline, order), 3);
			assert_int_equal(order[place], column);
			for (size_t i = 0; i < 3; i++) {
				if (order[i] == column)
					continue;
				at += before[at] == column;
				assert_int_equal(order[i], before[at++]);
			}
		}
	}
	strcpy(outline.columns[2].title, "doubled");
	outline_move(&outline, 2, 0);
	assert_int_equal(outline_load(&outline, &profile, &error), 0);
	assert_int_equal(outline_shown(&outline, order), 3);
	assert_int_equal(order[0], 2);
	assert_string_equal(outline_title(&outline.columns[order[0]]), "doubled");
	outline_fini(&outline);
}

/* Once each: "loop loop at" stood there where a loop has no line. */
static void test_loop_names(void **state)
{
	struct profile_row lined = {
		.kind = PROFILE_LOOP, .name = "loop at a.c: 7", .file = "/src/a.c", .line = 7};
	struct profile_row bare = {.kind = PROFILE_LOOP, .name = "loop at libgomp.so.1+0x1cd7e", .file = ""};
	char name[LABEL_BYTES];

	(void)state;
	profile_page_row_name(&lined, name, 40, false);
	assert_string_equal(name, "loop a.c:7");
	profile_page_row_name(&bare, name, 40, false);
	assert_string_equal(name, "loop at libgomp.so.1+0x1cd7e");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_laws), cmocka_unit_test(test_derived),
		cmocka_unit_test(test_flatten_zoom), cmocka_unit_test(test_flatten_no_value),
		cmocka_unit_test(test_columns), cmocka_unit_test(test_loop_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
