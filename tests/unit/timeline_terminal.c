/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline_terminal.c - what a terminal's size does to reports: which columns a narrow one drops, how many
 * lines a text takes.
 */
#include "tests/unit/timeline_small_run.h"

#include "timeline/report/report_fit.h"
#include "timeline/report/terminal.h"

/* A stream's name, three of little worth, an empty one, a text that may shrink to 10, one that must stay. */
static const struct report_fit_column columns[] = {{20, 28, 2, true, false, false},
	{5, 28, 1, false, false, false}, {5, 28, 1, false, false, false}, {5, 28, 2, false, true, false},
	{40, 10, 2, true, false, false}, {8, 28, 2, false, false, false},
	{12, 28, REPORT_FIT_KEEP, false, false, false}};
#define COUNT (sizeof columns / sizeof *columns)

static void assert_dropped(size_t terminal, const char *want)
{
	struct report_fit_column fits[COUNT];
	char got[COUNT + 1] = "";
	size_t gone;

	memcpy(fits, columns, sizeof fits);
	gone = report_fit_drop(fits, COUNT, terminal);
	for (size_t i = 0; i < COUNT; i++) {
		got[i] = fits[i].is_gone ? '-' : 'x';
		gone -= fits[i].is_gone;
	}
	assert_string_equal(got, want);
	assert_int_equal(gone, 0);
}

static void test_columns_go_by_worth(void **state)
{
	(void)state;
	assert_dropped(0, "xxxxxxx");  /* no terminal */
	assert_dropped(77, "xxxxxxx"); /* 20+5+5+5+10+8+12 and six gaps */
	assert_dropped(76, "xxx-xxx"); /* what is empty */
	assert_dropped(69, "xx--xxx"); /* of little worth, from the right */
	assert_dropped(62, "x---xxx");
	assert_dropped(55, "x---x-x"); /* from the right */
	assert_dropped(45, "x-----x");
	assert_dropped(10, "x-----x"); /* these stay */
}

static void test_lines(void **state)
{
	static const struct {
		const char *text;
		size_t columns, want;
	} cases[] = {{"", 80, 0}, {"a", 80, 1}, {"a\n", 80, 1}, {"\n\n", 80, 2}, {"abcd\n", 4, 1},
		{"abcde\n", 4, 2}, {"abcdefghi", 4, 3}, {"\033[1;38;5;32mabcd\033[0m\n", 4, 1},
		{"\xc3\xa4\xc3\xb6\xc3\xbc\n", 3, 1}, {"abcdefgh\n", 0, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(terminal_lines(cases[i].text, strlen(cases[i].text), cases[i].columns),
			cases[i].want);
}

static void test_shares(void **state)
{
	(void)state;
	assert_int_equal(terminal_style_share(100), TERMINAL_LARGE);
	assert_int_equal(terminal_style_share(20), TERMINAL_LARGE);
	assert_int_equal(terminal_style_share(19.99), TERMINAL_MIDDLE);
	assert_int_equal(terminal_style_share(4.99), TERMINAL_PLAIN);
	assert_int_equal(terminal_style_share(0.99), TERMINAL_FAINT);
}

/* A memory stream is no terminal, whatever standard output is. */
static void test_streams_without_terminal(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_string_equal(terminal_style(out, TERMINAL_HEAD), "");
	assert_int_equal(terminal_columns(out), 0);
	assert_false(terminal_keeps(out));
	fclose(out);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns_go_by_worth),
		cmocka_unit_test(test_lines), cmocka_unit_test(test_shares),
		cmocka_unit_test(test_streams_without_terminal)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
