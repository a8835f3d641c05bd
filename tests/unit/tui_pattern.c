/* SPDX-License-Identifier: Apache-2.0 */
/* tui_pattern.c - what / finds: parts of names, case when it is asked for, expressions and words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/screen/pattern.h"

static void test_patterns(void **state)
{
	static const struct {
		const char *pattern, *text;
		int wanted; /* -1: no pattern */
	} cases[] = {{"sol", "Solver::run", 1}, {"Sol", "Solver::run", 1}, {"Sol", "solve", 0},
		{"~^sol", "Solver::run", 1}, {"~^run", "Solver::run", 0}, {"~\\<run\\>", "Solver::run", 1},
		{"~\\<run\\>", "Solver::rune", 0}, {"~\\<Run\\>", "Solver::run", 0}, {"~(a|b)+c", "xabac", 1},
		{"~\\Wrun", "Solver::run", 1}, {"~(", "x", -1}, {"(", "f(int)", 1}, {"~", "x", 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pattern pattern;
		int found = pattern_init(&pattern, cases[i].pattern) ? pattern_match(&pattern, cases[i].text)
								     : -1;

		if (found != cases[i].wanted)
			fail_msg("'%s' in '%s': %d", cases[i].pattern, cases[i].text, found);
		if (found >= 0)
			pattern_fini(&pattern);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_patterns)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
