/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_keys.c - the key table: no key has two meanings, every action has a key, each bound key is spelt in its
 * help line, and help fits on 80x24. And the spelling of --keys.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tui/screen/keys.h"
#include "tui/subcommands.h"

static void test_one_meaning(void **state)
{
	size_t count, seen_count = 0;
	const struct keys_line *lines = keys_lines(&count);
	uint32_t seen[256];

	(void)state;
	for (size_t i = 0; i < count; i++) {
		for (const struct keys_binding *b = lines[i].bindings; b->key; b++) {
			for (size_t s = 0; s < seen_count; s++)
				if (seen[s] == b->key)
					fail_msg("key %#x is bound twice, again by '%s'", b->key,
						lines[i].help);
			seen[seen_count++] = b->key;
			assert_int_equal(keys_action_of(b->key), b->action);
		}
	}
	assert_int_equal(keys_action_of('h'), KEYS_DO_LEFT);
	assert_int_equal(keys_action_of('n'), KEYS_DO_FIND_NEXT);
	assert_int_equal(keys_action_of('/'), KEYS_DO_FIND);
	assert_int_equal(keys_action_of(0x3bb), KEYS_DO_NOTHING);
}

static void test_every_action(void **state)
{
	size_t count;
	const struct keys_line *lines = keys_lines(&count);

	(void)state;
	for (int action = KEYS_DO_NOTHING + 1; action < KEYS_ACTION_COUNT; action++) {
		size_t found = 0;
		for (size_t i = 0; i < count; i++)
			for (const struct keys_binding *b = lines[i].bindings; b->key; b++)
				found += b->action == (enum keys_action)action;
		if (!found)
			fail_msg("action %d has no key", action);
	}
}

static void test_help_spells(void **state)
{
	static const struct {
		uint32_t key;
		const char *text;
	} named[] = {{KEYS_LEFT, "arrows"}, {KEYS_RIGHT, "arrows"}, {KEYS_UP, "arrows"},
		{KEYS_DOWN, "arrows"}, {KEYS_HOME, "Home"}, {KEYS_END, "End"}, {KEYS_PAGE_UP, "PgUp"},
		{KEYS_PAGE_DOWN, "PgDn"}, {KEYS_BACKSPACE, "BS"}, {KEYS_ENTER, "Enter"}, {KEYS_TAB, "Tab"},
		{KEYS_ESC, "Esc"}, {' ', "Space"}, {'R' & 31, "Ctrl-R"}, {'L' & 31, "Ctrl-L"}};
	size_t count, sections[KEYS_SECTION_COUNT] = {0};
	const struct keys_line *lines = keys_lines(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		bool is_right = lines[i].section == KEYS_LOOK || lines[i].section == KEYS_KEEP;
		sections[lines[i].section]++;
		assert_true(strlen(lines[i].keys) <= 11);
		/* " %-11s  %s" in 39 and 41 columns */
		assert_true(strlen(lines[i].help) <= (is_right ? 27u : 24u));
		for (const struct keys_binding *b = lines[i].bindings; b->key; b++) {
			char letter[2] = {(char)b->key, '\0'};
			const char *text = letter;
			for (size_t n = 0; n < sizeof(named) / sizeof(named[0]); n++)
				if (named[n].key == b->key)
					text = named[n].text;
			if (!strstr(lines[i].keys, text))
				fail_msg("'%s' does not spell key %#x", lines[i].keys, b->key);
		}
	}
	/* two columns with headings above five lines of glyphs, between title, status and keys */
	assert_true(sections[KEYS_MOVE] + sections[KEYS_GO] + 2 + 5 <= 24 - 3);
	assert_true(sections[KEYS_LOOK] + sections[KEYS_KEEP] + 2 + 5 <= 24 - 3);
}

static void test_hint(void **state)
{
	char out[256];

	(void)state;
	for (int cells = 14; cells < 220; cells++) {
		keys_hint(out, sizeof(out), cells);
		assert_true((int)strlen(out) <= cells);
		assert_non_null(strstr(out, "q quit"));
	}
	keys_hint(out, sizeof(out), 120);
	assert_non_null(strstr(out, "w/s zoom"));
}

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		uint32_t key;
		size_t size;
	} cases[] = {{"", 0, 0}, {"w", 'w', 1}, {"<Enter>x", KEYS_ENTER, 7}, {"<C-r>", 'R' & 31, 5},
		{"<Left>", KEYS_LEFT, 6}, {"<lt>", '<', 4}, {"<Space>", ' ', 7}, {"<", '<', 1},
		{"<>", '<', 1}, {"<nonsense>", '<', 1}, {"\xc3\xa9", 0xe9, 2}, {"\xff", 0xfffd, 1},
		{"<esc>", KEYS_ESC, 5}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t key = 0;
		assert_int_equal(keys_parse(cases[i].text, &key), cases[i].size);
		assert_int_equal(key, cases[i].key);
	}
}

static void test_verbs(void **state)
{
	struct subcommands subcommands = {0};
	char near[128];

	(void)state;
	subcommands_add(&subcommands, "view");
	subcommands_add(&subcommands, "profile");
	subcommands_add(&subcommands, "info");
	assert_int_equal(subcommands_distance("", "abc"), 3);
	assert_int_equal(subcommands_distance("veiw", "view"), 1);
	assert_int_equal(subcommands_distance("kitten", "sitting"), 3);
	subcommands_near(&subcommands, "veiw", near, sizeof(near));
	assert_string_equal(near, "view");
	subcommands_near(&subcommands, "prof", near, sizeof(near));
	assert_string_equal(near, "profile");
	subcommands_near(&subcommands, "nonsense", near, sizeof(near));
	assert_string_equal(near, "");
	subcommands_fini(&subcommands);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_meaning),
		cmocka_unit_test(test_every_action),
		cmocka_unit_test(test_help_spells),
		cmocka_unit_test(test_hint),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_verbs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
