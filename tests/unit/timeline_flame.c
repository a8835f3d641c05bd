/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unit.timeline.flame - boxes of a flame graph: callers merged by function, callees in the order of their
 * names, widths that add up, columns that a screen shows; a hostile name stays text in the picture.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/base/arena.h"
#include "tests/unit/seed.h"
#include "timeline/profile/flame.h"

static struct profile_metric metric = {.name = "CPUTIME", .unit = "ns"};

static struct profile_row row(
	uint32_t parent, enum profile_kind kind, const char *name, const union profile_value *value)
{
	return (struct profile_row){.parent = parent,
		.kind = kind,
		.name = name,
		.name_bytes = strlen(name),
		.module = "",
		.file = "",
		.inclusive = value,
		.exclusive = value};
}

/* main calls solve in a loop (40) and beside it (10), and read (30); solve calls solve (5). */
static const union profile_value values[] = {{100}, {90}, {40}, {40}, {10}, {30}, {5}};

static struct profile_row rows[7];

static struct profile by_hand(void)
{
	rows[0] = row(UINT32_MAX, PROFILE_ROOT, "<root>", &values[0]);
	rows[1] = row(0, PROFILE_FUNCTION, "main", &values[1]);
	rows[2] = row(1, PROFILE_LOOP, "a.c:3", &values[2]);
	rows[3] = row(2, PROFILE_FUNCTION, "solve", &values[3]);
	rows[4] = row(1, PROFILE_FUNCTION, "solve", &values[4]);
	rows[5] = row(1, PROFILE_INLINE, "read", &values[5]);
	rows[6] = row(3, PROFILE_FUNCTION, "solve", &values[6]);
	return (struct profile){.metrics = &metric, .metric_count = 1, .rows = rows, .count = 7};
}

static void test_boxes(void **state)
{
	struct profile profile = by_hand();
	struct arena arena = {0};
	struct flame flame;
	struct error error;

	(void)state;
	assert_int_equal(flame_lay(&flame, &profile, false, 0, &arena, &error), 0);
	assert_int_equal(flame.count, 5);
	assert_int_equal(flame.levels, 4);
	assert_int_equal(flame.total, 100);
	assert_string_equal(flame.boxes[2].name, "read"); /* ahead of solve: by name */
	assert_int_equal(flame.boxes[2].begin, 0);
	assert_string_equal(flame.boxes[3].name, "solve");
	assert_int_equal(flame.boxes[3].begin, 30);
	assert_int_equal(flame.boxes[3].value, 50); /* from the loop and from beside it */
	assert_int_equal(flame.boxes[3].self, 45);
	assert_int_equal(flame.boxes[1].self, 10);
	assert_int_equal(flame.boxes[1].end, 5);
	arena_fini(&arena);
}

/* From callees to callers: main's own 10, solve's 45 and read's 30 are told apart, each once. */
static void test_bottom_up(void **state)
{
	static const union profile_value inclusive[] = {{85}, {90}, {55}, {45}, {30}, {30}},
					 own[] = {{0}, {10}, {45}, {45}, {30}, {30}};
	static const char *const names[] = {"<root>", "main", "solve", "main", "read", "main"};
	static const uint32_t parents[] = {UINT32_MAX, 0, 0, 2, 0, 4};
	struct profile_row list[6];
	struct profile profile = {.metrics = &metric, .metric_count = 1, .rows = list, .count = 6};
	struct arena arena = {0};
	struct flame flame;
	struct error error;

	(void)state;
	for (int i = 0; i < 6; i++) {
		list[i] = row(parents[i], i ? PROFILE_FUNCTION : PROFILE_ROOT, names[i], &inclusive[i]);
		list[i].exclusive = &own[i];
	}
	assert_int_equal(flame_lay(&flame, &profile, true, 0, &arena, &error), 0);
	assert_int_equal(flame.count, 6);
	assert_int_equal(flame.total, 85);
	assert_string_equal(flame.boxes[1].name, "main");
	assert_int_equal(flame.boxes[1].value, 10);
	assert_string_equal(flame.boxes[4].name, "solve");
	assert_int_equal(flame.boxes[4].begin, 40);
	assert_int_equal(flame.boxes[4].value, 45);
	assert_string_equal(flame.boxes[5].name, "main");
	assert_int_equal(flame.boxes[5].value, 45);
	arena_fini(&arena);
}

static void test_columns(void **state)
{
	struct profile profile = by_hand();
	struct flame_span spans[20];
	struct arena arena = {0};
	struct flame flame;
	struct error error;

	(void)state;
	assert_int_equal(flame_lay(&flame, &profile, false, 0, &arena, &error), 0);
	assert_int_equal(flame_row(&flame, 0, 2, 10, spans), 2);
	assert_int_equal(spans[0].last, 3);
	assert_int_equal(spans[1].first, 3);
	assert_int_equal(spans[1].last, 8);
	assert_int_equal(flame_row(&flame, 0, 3, 10, spans), 0); /* 5 of 100: less than a column */
	assert_int_equal(flame_row(&flame, 3, 3, 10, spans), 1); /* zoomed in it has one */
	assert_int_equal(spans[0].last, 1);
	assert_int_equal(flame_row(&flame, 3, 1, 10, spans), 1); /* callers span all */
	assert_int_equal(spans[0].box, 1);
	assert_int_equal(spans[0].last, 10);
	arena_fini(&arena);
}

/* Whatever the tree: the callees of a box lie in it, beside each other, and what boxes do themselves is all.
 */
static void test_adds_up(void **state)
{
	unsigned seed = (unsigned)seed_take("flame", 4711);
	enum { ROWS = 200 };
	static struct profile_row many[ROWS];
	static union profile_value weight[ROWS];
	static const char *const names[] = {"a", "b", "c", "d"};

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct profile profile = {.metrics = &metric,
			.metric_count = 1,
			.rows = many,
			.count = 1 + (size_t)rand_r(&seed) % ROWS};
		struct arena arena = {0};
		struct flame flame;
		struct error error;
		uint64_t self = 0;

		for (size_t i = 0; i < profile.count; i++) {
			weight[i].number = 0;
			many[i] = row(i ? (uint32_t)rand_r(&seed) % (uint32_t)i : UINT32_MAX,
				i == 0		    ? PROFILE_ROOT
				: rand_r(&seed) % 4 ? PROFILE_FUNCTION
						    : PROFILE_LOOP,
				names[rand_r(&seed) % 4], &weight[i]);
		}
		for (size_t i = profile.count; i-- > 0;) { /* inclusive: its own and that of all below */
			weight[i].number += (uint64_t)rand_r(&seed) % 5;
			if (i)
				weight[many[i].parent].number += weight[i].number;
		}
		assert_int_equal(flame_lay(&flame, &profile, false, 0, &arena, &error), 0);
		for (uint32_t i = 0; i < flame.count; i++) {
			const struct flame_box *box = &flame.boxes[i];

			self += box->self;
			if (i) {
				const struct flame_box *parent = &flame.boxes[box->parent];

				assert_true(box->begin >= parent->begin);
				assert_true(box->begin + box->value <= parent->begin + parent->value);
				assert_true(box->parent < i && i < parent->end);
			}
			if (i + 1 < flame.count && flame.boxes[i + 1].parent == box->parent)
				assert_true(flame.boxes[i + 1].begin == box->begin + box->value);
		}
		assert_true(self == weight[0].number);
		arena_fini(&arena);
	}
}

static void test_hostile_names(void **state)
{
	static const union profile_value one = {7};
	struct profile_row own =
		row(UINT32_MAX, PROFILE_ROOT, "</text><script>\"&\x1b[2J\xc3\xa4\xff\xef\xbf\xbf", &one);
	struct profile profile = {.metrics = &metric, .metric_count = 1, .rows = &own, .count = 1};
	struct arena arena = {0};
	struct flame flame;
	struct error error;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	assert_int_equal(flame_lay(&flame, &profile, false, 0, &arena, &error), 0);
	flame_svg(&flame, "a < b", out);
	assert_int_equal(fflush(out), 0);
	assert_null(strstr(text, "</text><script>\""));
	flame_print(&flame, 40, out);
	assert_int_equal(fclose(out), 0);
	assert_null(strchr(text, 0x1b));
	assert_non_null(strstr(text, "&lt;/text&gt;&lt;script&gt;&quot;&amp;?[2J\xc3\xa4??"));
	assert_non_null(strstr(text, "a &lt; b"));
	free(text);
	arena_fini(&arena);
}

/* A recursion of 200,000 levels is laid out whole, and drawn as far as somebody would look. */
static void test_deep(void **state)
{
	enum { DEEP = 200000 };
	static const union profile_value one = {7};
	struct profile_row *list = calloc(DEEP, sizeof(*list));
	struct profile profile = {.metrics = &metric, .metric_count = 1, .rows = list, .count = DEEP};
	struct arena arena = {0};
	struct flame flame;
	struct error error;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(list);
	for (uint32_t i = 0; i < DEEP; i++)
		list[i] = row(i - 1, i ? PROFILE_FUNCTION : PROFILE_ROOT, "again", &one);
	assert_int_equal(flame_lay(&flame, &profile, false, 0, &arena, &error), 0);
	assert_int_equal(flame.levels, DEEP);
	assert_int_equal(flame.boxes[DEEP - 1].self, 7);
	flame_print(&flame, 20, out);
	assert_int_equal(fflush(out), 0);
	assert_true(size < 20000);
	assert_non_null(strstr(text, "more levels"));
	flame_svg(&flame, "deep", out);
	assert_int_equal(fclose(out), 0);
	assert_true(size < 400000);
	free(text);
	free(list);
	arena_fini(&arena);
}

static void test_nothing(void **state)
{
	struct profile profile = {0};
	struct arena arena = {0};
	struct flame flame;
	struct error error;

	(void)state;
	assert_int_equal(flame_lay(&flame, &profile, false, 0, &arena, &error), 0);
	assert_int_equal(flame.count, 0);
	flame_print(&flame, 40, stdout);
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boxes),
		cmocka_unit_test(test_bottom_up),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_adds_up),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
