/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_path.c - paths as users and debug information write them: the last part, and which are the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/base/path.h"

static void test_base(void **unused)
{
	static const char *const cases[][2] = {{"solver.c", "solver.c"}, {"/usr/lib/libc.so.6", "libc.so.6"},
		{"../src/solver.c", "solver.c"}, {"runs/a.hpct/", "a.hpct/"}, {"a.hpct/", "a.hpct/"},
		{"/a.hpct//", "a.hpct//"}, {"/", "/"}, {"", ""}};

	(void)unused;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(path_base(cases[i][0]), cases[i][1]);
}

static void test_same(void **unused)
{
	static const struct {
		const char *a, *b;
		bool is_same;
	} cases[] = {{"/b/src/../include/x.h", "/b/include/./x.h", true}, {"/b/a.c", "/b//a.c", true},
		{"a/b/../../c/x.h", "./c/x.h", true}, {"/b/one/util.c", "/b/two/util.c", false},
		{"/b/util.c", "b/util.c", false}, {"../x.h", "x.h", false}, {"../../x.h", "../x.h", false},
		{"../a/../x.h", "../x.h", true}, {"a.c", "b.c", false}, {"x/a.c", "a.c", false},
		{"", "", true}};

	(void)unused;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(path_is_same(cases[i].a, cases[i].b), cases[i].is_same);
		assert_int_equal(path_is_same(cases[i].b, cases[i].a), cases[i].is_same);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_base), cmocka_unit_test(test_same)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
