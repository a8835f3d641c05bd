/* SPDX-License-Identifier: Apache-2.0 */
/* record_title.c - what is a title, and what of it stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/process/title.h"

static void expect(const char *title, const char *command, size_t size, const char *const *lines)
{
	char begun[TITLE_BYTES], now[TITLE_BYTES] = "";

	title_text(begun, command, size);
	for (; *lines; lines++)
		title_take(now, begun, *lines, strlen(*lines) + 1);
	assert_string_equal(now, title);
}

#define BEGUN(words) words, sizeof(words)
#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_titles(void **unused)
{
	(void)unused;
	expect("postgres: checkpointer", BEGUN("/usr/bin/postgres\0-D\0data"),
		LINES("/usr/bin/postgres", "postgres: checkpointer  "));
	expect("nginx: worker process", BEGUN("nginx\0-g\0daemon off;"),
		LINES("nginx: master process nginx -g daemon off;", "nginx: worker process"));
	expect("nginx: master process nginx -g daemon off;", BEGUN("nginx\0-g\0daemon off;"),
		LINES("nginx: master process nginx -g daemon off;"));
}

static void test_what_stays(void **unused)
{
	(void)unused;
	expect("postgres: bob shop [local]", BEGUN("postgres"),
		LINES("postgres: bob shop [local] authentication", "postgres: bob shop [local] idle",
			"postgres: bob shop [local] UPDATE waiting", "postgres: bob shop [local]"));
	expect("postgres: bob shop", BEGUN("postgres"),
		LINES("postgres: bob shop a", "postgres: bob shop b", "postgres: bob shop"));
	expect("postgres: bob", BEGUN("postgres"), LINES("postgres: bob", "postgres: bob idle"));
}

static void test_no_titles(void **unused)
{
	char begun[TITLE_BYTES], now[TITLE_BYTES] = "";

	(void)unused;
	expect("", BEGUN("./solve\0-p\0secret"), LINES("./solve -p xxxxxx", ""));
	expect("",
		BEGUN("./solve\0"
		      "3"),
		LINES("/lib64/ld-linux-x86-64.so.2 ./solve 3"));
	title_text(begun, BEGUN("./solve"));
	assert_false(title_take(now, begun, BEGUN("./solve")));
	assert_true(title_take(now, begun, BEGUN("solve: reader\0\0\0")));
	assert_false(
		title_take(now, begun, BEGUN("solve: reader\0x"))); /* the words that stay are the same */
	assert_string_equal(now, "solve: reader");
}

/* As long as the program likes, and of any bytes. */
static void test_any_bytes(void **unused)
{
	char long_one[4 * TITLE_BYTES], now[TITLE_BYTES] = "", begun[TITLE_BYTES] = "";

	(void)unused;
	memset(long_one, 'a', sizeof(long_one));
	assert_true(title_take(now, begun, long_one, sizeof(long_one)));
	assert_int_equal(strlen(now), TITLE_BYTES - 1);
	now[0] = '\0';
	memset(long_one, 0xf0, sizeof(long_one));
	title_take(now, begun, long_one, sizeof(long_one));
	assert_true(strlen(now) < TITLE_BYTES);
	assert_false(title_take(now, begun, "\0\0 \0", 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_titles), cmocka_unit_test(test_what_stays),
		cmocka_unit_test(test_no_titles), cmocka_unit_test(test_any_bytes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
