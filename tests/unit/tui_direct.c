/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_direct.c - the terminal entry of 24-bit colours: ncurses reads it, colours are set by their parts, all
 * else is as in the terminal's own.
 */
#include <curses.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#include <cmocka.h>

#include "tui/screen/direct.h"

static void test_said(void **state)
{
	(void)state;
	assert_true(direct_is_said("truecolor", "xterm-256color", NULL));
	assert_true(direct_is_said("24bit", "tmux-256color", "/tmp/tmux"));
	assert_true(direct_is_said("truecolor", "screen-256color", "/tmp/tmux"));
	assert_false(direct_is_said("truecolor", "screen-256color", NULL));
	assert_false(direct_is_said("truecolor", "screen-256color", ""));
	assert_false(direct_is_said("1", "xterm-256color", NULL));
	assert_false(direct_is_said(NULL, "xterm-256color", NULL));
	assert_false(direct_is_said("truecolor", NULL, NULL));
}

static char *kept(const char *name)
{
	const char *value = tigetstr((char *)name);

	return value && value != (const char *)-1 ? strdup(value) : NULL;
}

static void test_entry(void **state)
{
	static const char *const same[] = {
		"cup", "smcup", "rmcup", "kcub1", "kmous", "sgr0", "op", "el", "XM"};
	char *before[sizeof(same) / sizeof(*same)], *entry;
	int found;

	(void)state;
	if (setupterm("xterm-256color", STDOUT_FILENO, &found) != OK)
		skip();
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		before[i] = kept(same[i]);
	del_curterm(cur_term);
	entry = direct_terminfo("xterm-256color");
	assert_non_null(entry);
	assert_int_equal(setenv("TERMINFO", entry, 1), 0);
	assert_int_equal(setupterm("xterm-256color", STDOUT_FILENO, &found), OK);
	assert_int_equal(tigetnum("colors"), 32767);
	assert_string_equal(tparm(tigetstr("setaf"), 31L << 10 | 16 << 5 | 1, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L),
		"\033[38;2;248;128;8m");
	assert_string_equal(tparm(tigetstr("setab"), 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L), "\033[48;2;0;0;0m");
	assert_true(tigetflag("bce") > 0);
	assert_true(tigetflag("ccc") <= 0);
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		const char *now = tigetstr((char *)same[i]);

		if (before[i])
			assert_string_equal(now, before[i]);
		free(before[i]);
	}
	del_curterm(cur_term);
	unsetenv("TERMINFO");
	free(entry);
}

static void test_fewer(void **state)
{
	(void)state;
	assert_null(direct_terminfo("vt100"));
	assert_null(direct_terminfo("no-such-terminal"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_said), cmocka_unit_test(test_entry), cmocka_unit_test(test_fewer)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
