/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_bookmark.c - bookmarks: what is saved is read again, a name is kept once, other lines and columns
 * stay, and a run that cannot be written gets its marks in the user's cache directory.
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

#include "store/base/arena.h"
#include "tests/simulate.h"
#include "timeline/select/bookmark.h"

static char directory[] = "/tmp/hpct-mark.XXXXXX";
static char run_name[64], file_name[96];

static int make_run(void **state)
{
	struct simulate_options options = {
		.run = run_name, .shape = "mixed", .streams = 4, .records = 400, .seed = 3};
	struct error error;

	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(run_name, sizeof(run_name), "%s/run.hpct", directory);
	snprintf(file_name, sizeof(file_name), "%s/" BOOKMARK_FILE, run_name);
	setenv("XDG_CACHE_HOME", directory, 1);
	return simulate_run(&options, &error);
}

static int remove_run(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "chmod -R u+w %s; rm -rf %s", directory, directory);
	return system(command);
}

static struct run *open_run(void)
{
	struct run_options options = {.no_cache = true};
	struct error error;
	struct run *run;

	assert_int_equal(run_open(&run, run_name, &options, &error), 0);
	return run;
}

static void check(struct run *run, size_t expected, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
	struct arena arena = {0};
	const struct mark *marks;
	struct error error;
	size_t count, found = 0;

	assert_int_equal(bookmark_list(run, &arena, &marks, &count, &error), 0);
	assert_int_equal(count, expected);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(marks[i].name, name) != 0)
			continue;
		assert_int_equal(marks[i].begin_ns, begin_ns);
		assert_int_equal(marks[i].end_ns, end_ns);
		found++;
	}
	assert_int_equal(found, 1);
	arena_fini(&arena);
}

static void test_save(void **state)
{
	struct run *run = open_run();
	uint64_t at_ns = run_origin_ns(run) + 1000000;
	struct error error;

	(void)state;
	assert_int_equal(bookmark_save(run, "a", at_ns, at_ns, &error), 0);
	check(run, 1, "a", at_ns, at_ns);
	assert_int_equal(bookmark_save(run, "b\tc\n", at_ns, at_ns + 5, &error), 0);
	check(run, 2, "b\tc\n", at_ns, at_ns + 5);
	assert_int_equal(bookmark_save(run, "a", at_ns + 7, at_ns + 7, &error), 0);
	check(run, 2, "a", at_ns + 7, at_ns + 7);
	run_close(run);
}

static void test_columns(void **state)
{
	struct run *run = open_run();
	uint64_t origin_ns = run_origin_ns(run);
	char text[256] = {0};
	struct error error;
	FILE *file = fopen(file_name, "w");

	(void)state;
	fputs("end_ns\tcolour\tname\tbegin_ns\n20\tred\tphase\t10\n\tblue\tx\t5", file); /* no newline */
	fclose(file);
	assert_int_equal(bookmark_save(run, "x", origin_ns + 6, origin_ns + 6, &error), 0);
	check(run, 2, "phase", origin_ns + 10, origin_ns + 20);
	file = fopen(file_name, "r");
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	assert_string_equal(text, "end_ns\tcolour\tname\tbegin_ns\n20\tred\tphase\t10\n\t\tx\t6\n");
	file = fopen(file_name, "w"); /* what is no such file is left alone */
	fputs("something else\n", file);
	fclose(file);
	assert_int_equal(bookmark_save(run, "x", origin_ns, origin_ns, &error), -ERROR_IO);
	file = fopen(file_name, "r");
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, "something else\n");
	unlink(file_name);
	run_close(run);
}

static void write_file(const char *text, size_t size)
{
	FILE *file = fopen(file_name, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	fclose(file);
}

/* Who reads and who writes take the same one of columns of one name. */
static void test_columns_of_one_name(void **state)
{
	static const char text[] = "name\tbegin_ns\tname\tbegin_ns\na\t10\tb\t20\n";
	struct run *run = open_run();
	uint64_t origin_ns = run_origin_ns(run);
	struct error error;

	(void)state;
	write_file(text, sizeof text - 1);
	check(run, 1, "a", origin_ns + 10, origin_ns + 10);
	assert_int_equal(bookmark_save(run, "x", origin_ns + 6, origin_ns + 6, &error), 0);
	check(run, 2, "x", origin_ns + 6, origin_ns + 6);
	unlink(file_name);
	run_close(run);
}

static void test_zero_byte(void **state)
{
	static const char text[] = "name\tbegin_ns\na\t10\0...\nb\t20\n";
	struct run *run = open_run();
	uint64_t origin_ns = run_origin_ns(run);
	struct error error;

	(void)state;
	write_file(text, sizeof text - 1);
	assert_int_equal(bookmark_save(run, "x", origin_ns + 6, origin_ns + 6, &error), 0);
	check(run, 3, "a", origin_ns + 10, origin_ns + 10);
	check(run, 3, "b", origin_ns + 20, origin_ns + 20);
	unlink(file_name);
	run_close(run);
}

static void test_read_only(void **state)
{
	struct error error;
	struct run *run;
	uint64_t at_ns;
	char *own;

	(void)state;
	if (geteuid() == 0) /* nothing is read-only for root */
		skip();
	run = open_run();
	at_ns = run_origin_ns(run) + 42;
	own = bookmark_user_path(run);
	assert_non_null(own);
	chmod(run_name, 0555);
	assert_int_equal(bookmark_save(run, "a", at_ns, at_ns, &error), 0);
	assert_int_equal(access(file_name, F_OK), -1);
	assert_int_equal(access(own, R_OK), 0);
	check(run, 1, "a", at_ns, at_ns);
	chmod(run_name, 0755);
	free(own);
	run_close(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_save), cmocka_unit_test(test_columns),
		cmocka_unit_test(test_columns_of_one_name), cmocka_unit_test(test_zero_byte),
		cmocka_unit_test(test_read_only)};

	return cmocka_run_group_tests(tests, make_run, remove_run);
}
