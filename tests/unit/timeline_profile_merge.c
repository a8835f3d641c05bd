/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_profile_merge.c - trees stated by hand, merged: paths of both meet, those of one stay, numbers of
 * each side stand in its own metric, and the sums are those of the parts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "timeline/profile/profile_merge.h"

#define ROWS 16

static struct profile_metric cpu[] = {{.name = "CPUTIME", .unit = "ns"}};
static struct profile_metric more[] = {{.name = "cycles", .unit = ""}, {.name = "CPUTIME", .unit = "ns"}};

struct tree {
	struct profile profile;
	struct profile_row rows[ROWS];
	union profile_value values[ROWS][2][2];
};

static void add(
	struct tree *tree, uint32_t parent, const char *name, uint32_t line, uint64_t incl, uint64_t excl)
{
	size_t at = tree->profile.count++, last = tree->profile.metric_count - 1;

	tree->profile.rows = tree->rows;
	tree->values[at][0][last].number = incl;
	tree->values[at][1][last].number = excl;
	if (last) /* cycles: tenfold */
		tree->values[at][0][0].number = incl * 10, tree->values[at][1][0].number = excl * 10;
	tree->rows[at] = (struct profile_row){.parent = at ? parent : UINT32_MAX,
		.depth = at ? tree->rows[parent].depth + 1 : 0,
		.kind = at ? PROFILE_FUNCTION : PROFILE_ROOT,
		.name = name,
		.name_bytes = strlen(name),
		.module = "",
		.file = "",
		.home = "",
		.line = line,
		.inclusive = tree->values[at][0],
		.exclusive = tree->values[at][1]};
}

/* The header's picture, with f called from two lines in A, and under g, too. */
static void make(struct tree *a, struct tree *b)
{
	*a = (struct tree){.profile = {.metrics = cpu, .metric_count = 1}};
	*b = (struct tree){.profile = {.metrics = more, .metric_count = 2}};
	add(a, 0, "root", 0, 10, 0);
	add(a, 0, "main", 0, 10, 1);
	add(a, 1, "f", 5, 4, 4);
	add(a, 1, "f", 9, 3, 3);
	add(a, 1, "g", 0, 2, 1);
	add(a, 4, "f", 5, 1, 1);
	add(b, 0, "root", 0, 12, 0);
	add(b, 0, "main", 0, 12, 1);
	add(b, 1, "h", 0, 6, 6);
	add(b, 1, "f", 7, 5, 5);
}

static void print(char *out, const struct profile *profile)
{
	out[0] = '\0';
	for (size_t i = 0; i < profile->count; i++) {
		sprintf(out + strlen(out), "%u%s", profile->rows[i].depth, profile->rows[i].name);
		for (size_t m = 0; m < profile->metric_count; m++)
			if (profile->metrics[m].is_real)
				sprintf(out + strlen(out), "%c%g", m ? ' ' : ':',
					profile->rows[i].inclusive[m].real);
			else
				sprintf(out + strlen(out), "%c%llu/%llu", m ? ' ' : ':',
					(unsigned long long)profile->rows[i].inclusive[m].number,
					(unsigned long long)profile->rows[i].exclusive[m].number);
		strcat(out, "\n");
	}
}

static void test_top_down(void **state)
{
	static const char *const names[] = {"A", "B"};
	struct arena arena = {0};
	struct profile merged, both[2];
	struct tree a, b;
	struct error error;
	char text[2048];

	(void)state;
	make(&a, &b);
	both[0] = a.profile, both[1] = b.profile;
	assert_int_equal(profile_merge(&merged, both, names, 2, true, true, &arena, &error), 0);
	assert_int_equal(merged.metric_count, 4);
	assert_string_equal(merged.metrics[0].name, "A:CPUTIME");
	assert_string_equal(merged.metrics[1].name, "B:CPUTIME");
	assert_string_equal(merged.metrics[2].name, "B-A:CPUTIME");
	assert_string_equal(merged.metrics[3].name, "B:cycles");
	print(text, &merged);
	assert_string_equal(text, "0root:10/0 12/0 2 120/0\n"
				  "1main:10/1 12/1 2 120/10\n"
				  "2f:7/7 5/5 -2 50/50\n"
				  "2g:2/1 0/0 -2 0/0\n"
				  "3f:1/1 0/0 -1 0/0\n"
				  "2h:0/0 6/6 6 60/60\n");
	for (size_t i = 0; i < merged.count; i++)
		assert_true(i == 0 || merged.rows[i].parent < i);
	arena_fini(&arena);
}

static void add_at(struct tree *tree, const char *module, const char *home, uint64_t time_ns)
{
	size_t at = tree->profile.count;

	add(tree, 0, "f", 0, time_ns, time_ns);
	tree->rows[at].module = module;
	tree->rows[at].home = home;
}

static void expect_apart(const struct tree *a, const struct tree *b, const char *expected)
{
	static const char *const names[] = {"A", "B"};
	const struct profile both[] = {a->profile, b->profile};
	struct arena arena = {0};
	struct profile merged;
	struct error error;
	char text[2048];

	assert_int_equal(profile_merge(&merged, both, names, 2, true, false, &arena, &error), 0);
	print(text, &merged);
	assert_string_equal(text, expected);
	arena_fini(&arena);
}

/* One function each: another place is another build of it. Two in one run: as much of the place counts as
 * tells them apart. */
static void test_one_name(void **state)
{
	const struct profile empty = {.metrics = cpu, .metric_count = 1};
	struct tree a, b;

	(void)state;
	for (int two = 0; two < 2; two++) {
		a = b = (struct tree){.profile = empty};
		add(&a, 0, "root", 0, 9, 0);
		add(&b, 0, "root", 0, 9, 0);
		add_at(&a, "/old/prog", "/old/a.c", 1);
		add_at(&b, "/new/prog2", "/new/a.c", 3);
		if (two) {
			add_at(&a, "/old/prog", "/old/b.c", 2);
			add_at(&b, "/new/prog2", "/new/b.c", 4);
		}
		expect_apart(&a, &b,
			two ? "0root:9/0 9/0\n1f:2/2 4/4\n1f:1/1 3/3\n" : "0root:9/0 9/0\n1f:1/1 3/3\n");
	}
	a = b = (struct tree){.profile = empty};
	add(&a, 0, "root", 0, 9, 0);
	add(&b, 0, "root", 0, 9, 0);
	add_at(&a, "/p/x.so", "/s/x/a.c", 1);
	add_at(&a, "/p/x.so", "/s/y/a.c", 2);
	add_at(&b, "/q/x.so", "/t/y/a.c", 4);
	expect_apart(&a, &b, "0root:9/0 9/0\n1f:2/2 4/4\n1f:1/1 0/0\n");
	a = b = (struct tree){.profile = empty};
	add(&a, 0, "root", 0, 9, 0);
	add(&b, 0, "root", 0, 9, 0);
	add_at(&a, "/p/x.so", "", 1); /* without debug information */
	add_at(&a, "/p/y.so", "", 2);
	add_at(&b, "/q/y.so", "", 4);
	add_at(&b, "/q/x.so", "", 3);
	expect_apart(&a, &b, "0root:9/0 9/0\n1f:2/2 4/4\n1f:1/1 3/3\n");
}

/* Where rows may lie on one path a call's line parts them. Any number of runs; of one, and of none sampled.
 */
static void test_others(void **state)
{
	static const char *const names[] = {"x", "y", "z"};
	struct arena arena = {0};
	struct profile merged, all[3];
	struct tree a, b;
	struct error error;
	uint64_t sum = 0;

	(void)state;
	make(&a, &b);
	all[0] = a.profile, all[1] = b.profile, all[2] = a.profile;
	assert_int_equal(profile_merge(&merged, all, names, 3, false, true, &arena, &error), 0);
	assert_int_equal(merged.metric_count, 4); /* three of CPUTIME and cycles: no difference of three */
	assert_int_equal(merged.count, 8);	  /* root, main, f of three lines, g and its f, h */
	for (size_t i = 0; i < merged.count; i++) {
		assert_int_equal(merged.rows[i].inclusive[0].number, merged.rows[i].inclusive[2].number);
		sum += merged.rows[i].exclusive[0].number;
	}
	assert_int_equal(sum, 10);
	assert_int_equal(profile_merge(&merged, all, names, 1, true, true, &arena, &error), 0);
	assert_int_equal(merged.metric_count, 1);
	assert_int_equal(merged.count, 5); /* the two calls of f by main are one */
	all[0].count = all[1].count = 0;
	assert_int_equal(profile_merge(&merged, all, names, 2, true, true, &arena, &error), 0);
	assert_int_equal(merged.count, 0);
	assert_int_equal(profile_merge(&merged, all + 1, names, 2, true, true, &arena, &error), 0);
	assert_int_equal(merged.rows[0].inclusive[0].number, 0); /* y has no rows, z has */
	assert_int_equal(merged.count, 5);
	arena_fini(&arena);
}

/* One run's metrics: each from the first that has it. */
static void test_union(void **state)
{
	struct arena arena = {0};
	struct profile merged, both[2];
	struct tree a, b;
	struct error error;
	char text[2048];

	(void)state;
	make(&a, &b);
	both[0] = a.profile, both[1] = b.profile;
	assert_int_equal(profile_merge(&merged, both, NULL, 2, true, false, &arena, &error), 0);
	assert_int_equal(merged.metric_count, 2);
	assert_string_equal(merged.metrics[0].name, "CPUTIME");
	assert_string_equal(merged.metrics[1].name, "cycles");
	print(text, &merged);
	assert_string_equal(text, "0root:10/0 120/0\n"
				  "1main:10/1 120/10\n"
				  "2f:7/7 50/50\n"
				  "2g:2/1 0/0\n"
				  "3f:1/1 0/0\n"
				  "2h:0/0 60/60\n");
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_top_down), cmocka_unit_test(test_one_name),
		cmocka_unit_test(test_others), cmocka_unit_test(test_union)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
