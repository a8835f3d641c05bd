/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_path.c - the last part of paths as users and debug information write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "timeline/base/path.h"

static void test_base(void **unused)
{
	static const char *const cases[][2] = {{"solver.c", "solver.c"}, {"/usr/lib/libc.so.6", "libc.so.6"},
		{"../src/solver.c", "solver.c"}, {"runs/a.hpct/", "a.hpct/"}, {"a.hpct/", "a.hpct/"},
		{"/a.hpct//", "a.hpct//"}, {"/", "/"}, {"", ""}};

	(void)unused;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(path_base(cases[i][0]), cases[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_base)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
