/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_source_file.c - where source files are looked for, how they are split, and that what is no plain
 * file of a sane size is neither read nor waited for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "timeline/profile/source_file.h"

static char directory[] = "/tmp/hpct-source.XXXXXX";

static void put(const char *path, const char *text, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	fclose(file);
}

static void check_line(const struct source_file *source, uint32_t line, const char *text)
{
	size_t size;
	const char *got = source_file_line(source, line, &size);

	assert_int_equal(size, strlen(text));
	assert_memory_equal(got, text, size);
}

static void test_lines(void **state)
{
	static const char nul[] = "one\0two\n";
	struct source_file source = {0};

	(void)state;
	put("a.c", "first\n\nthird", 12);
	assert_true(source_file_open(&source, "a.c"));
	assert_int_equal(source.line_count, 3);
	check_line(&source, 1, "first");
	check_line(&source, 2, "");
	check_line(&source, 3, "third");
	check_line(&source, 4, "");
	check_line(&source, 0, "");
	put("empty.c", "", 0);
	assert_true(source_file_open(&source, "empty.c"));
	assert_int_equal(source.line_count, 0);
	put("nul.c", nul, sizeof(nul) - 1);
	assert_true(source_file_open(&source, "nul.c"));
	check_line(&source, 1, "one");
	source_file_fini(&source);
}

static void test_places(void **state)
{
	struct source_file source = {0};

	(void)state;
	mkdir("sub", 0755);
	put("sub/b.c", "tail\n", 5);
	assert_true(source_file_open(&source, "/no/such/sub/b.c")); /* the end of the path, from here */
	assert_string_equal(source.found, "sub/b.c");
	assert_false(source_file_open(&source, "/build/x/c.c"));
	assert_string_equal(source.looked, "/build/x/c.c, build/x/c.c, x/c.c, c.c");
	put("sub/c.c", "mapped\n", 7);
	assert_int_equal(source_file_map(&source, "/build/x", "sub"), 0);
	assert_true(source_file_open(&source, "/build/x/c.c"));
	check_line(&source, 1, "mapped");
	assert_false(source_file_open(&source, ""));
	source_file_fini(&source);
	for (int i = 0; i < SOURCE_MAPS; i++)
		assert_int_equal(source_file_map(&source, "a", "b"), 0);
	assert_int_equal(source_file_map(&source, "a", "b"), -1);
	source_file_fini(&source);
}

static void test_no_plain_file(void **state)
{
	struct source_file source = {0};
	char path[2 * SOURCE_PATH];

	(void)state;
	assert_int_equal(mkfifo("pipe.c", 0644), 0);
	assert_false(source_file_open(&source, "pipe.c")); /* nobody writes it: reading would wait for ever */
	assert_false(source_file_open(&source, "."));
	assert_false(source_file_open(&source, "/dev/zero"));
	put("huge.c", "x", 1);
	assert_int_equal(truncate("huge.c", SOURCE_BYTES_MAX + 1), 0);
	assert_false(source_file_open(&source, "huge.c"));
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_false(source_file_open(&source, path));
	assert_int_equal(source_file_map(&source, path, "y"), -1);
	source_file_fini(&source);
}

static int enter(void **state)
{
	(void)state;
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return chdir("/") || system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_places),
		cmocka_unit_test(test_no_plain_file)};

	return cmocka_run_group_tests(tests, enter, leave);
}
