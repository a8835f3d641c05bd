/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_settings.c - what of the view a user keeps: keys and colours of the configuration, settings chosen on
 * the screen or by `:set`, saved views.
 */
#include "tests/unit/tui_world.h"

#include <locale.h>

#include "tui/models/config.h"
#include "tui/models/settings.h"

static int make(void **state)
{
	(void)state;
	return begin_world(20000, 7);
}

/* ---- the user's files ---- */

static void test_config(void **state)
{
	enum grid_style style;
	struct fixture f;
	uint64_t hash;

	(void)state;
	open_one(&f);
	assert_true(config_key("<C-d> <PageDown>"));
	assert_int_equal(keys_action_of('D' & 31), KEYS_DO_SCROLL_DOWN);
	assert_true(config_key("Q q"));
	assert_int_equal(keys_action_of('Q'), KEYS_DO_QUIT);
	assert_false(config_key("Q"));
	assert_false(config_key("Q <C-x>")); /* that does nothing */
	assert_false(config_key("Q qq"));
	hash = run_function(f.run, run_function_count(f.run) - 1)->hash;
	assert_true(config_colour(f.session, "* context 3"));
	assert_true(config_colour(f.session, "a*b 200"));
	assert_true(config_colour(f.session, "operator new none"));
	assert_false(config_colour(f.session, "a context 24"));
	assert_false(config_colour(f.session, "a 256"));
	assert_false(config_colour(f.session, "a"));
	assert_false(config_colour(f.session, " 3"));
	assert_true(colours_find(&f.session->colours, f.run, hash, false, &style));
	assert_int_equal(style, GRID_BLOCK + 3);
	assert_string_equal(f.session->colours.patterns[2].glob, "operator new");
	assert_int_equal(f.session->colours.user[0], 200);
	close_session(&f);
}

/* ---- settings ---- */

/* What is chosen on the screen of settings is kept; `:set` is for the session. */
static void test_settings(void **state)
{
	char value[SETTINGS_VALUE], path[128];
	struct fixture f, g;

	(void)state;
	setenv("XDG_CONFIG_HOME", directory, 1);
	snprintf(path, sizeof(path), "%s/hpct/settings", directory);
	open_one(&f);
	for (size_t i = 0; i < settings_count(); i++) {
		if (!settings_is_usual(f.session, i) && strcmp(settings_name(i), "mouse") != 0)
			fail_msg("%s", settings_name(i)); /* the tests have no mouse */
		assert_true(strlen(settings_name(i)) <= 9 && strlen(settings_help(i)) <= 58);
		for (int step = 0; step < 9; step++) { /* there and back, whatever the value */
			settings_step(f.session, i, false);
			settings_get(f.session, i, value);
			settings_step(f.session, i, true);
			settings_step(f.session, i, false);
			assert_int_equal(f.session->message[0], 0);
		}
		settings_reset(f.session, i);
		assert_true(settings_is_usual(f.session, i));
	}
	press(&f, ":set fill<Enter>:set live 3s<Enter>:set colors 16<Enter>");
	assert_true(f.session->looks.is_fill && f.session->looks.live_ms == 3000);
	assert_int_equal(f.session->looks.most_colours, 16);
	assert_int_equal(access(path, F_OK), -1);
	press(&f, ":set fillet<Enter>");
	assert_non_null(strstr(f.session->message, "no setting"));
	press(&f, ":set fill maybe<Enter>");
	assert_non_null(strstr(f.session->message, ":set fill is one of off  on"));
	press(&f, ":set ascii<Enter>:set ascii of<Enter>:set cells 1<Enter>:set cells 2<Enter>");
	assert_true(f.session->looks.is_ascii && f.session->looks.is_single); /* as they were */
	press(&f, ":set ascii off<Enter>:set cells auto<Enter>");
	press(&f, ":set live 1ms<Enter>");
	assert_non_null(strstr(f.session->message, "500ms"));
	press(&f, ":settings<Enter>jjjj<Space>"); /* cross */
	assert_true(f.session->looks.has_cross);
	open_one(&g);
	config_read(g.session);
	assert_true(g.session->looks.has_cross && g.session->looks.is_fill && !g.session->looks.no_sites);
	assert_int_equal(g.session->looks.live_ms, 3000);
	press(&g, ":settings<Enter>jjjjx");
	assert_false(g.session->looks.has_cross);
	g.session->looks.must_ascii = true; /* a locale that has no more */
	press(&g, ":set ascii off<Enter>");
	assert_true(g.session->looks.is_ascii);
	press(&g, "<Space>"); /* what the locale has not is nobody's choice */
	close_session(&g);
	open_one(&g);
	config_read(g.session);
	assert_true(g.session->looks.has_cross && !g.session->looks.is_ascii);
	close_session(&g);
	close_session(&f);
	unlink(path);
}

/* ---- saved views ---- */

static void test_saved(void **state)
{
	struct view_state kept;
	struct fixture f;

	(void)state;
	open_one(&f);
	press(&f, "wwwjjlll:depth 4<Enter>3:save one.two<Enter>");
	kept = f.session->state;
	press(&f, "0kkkhh=1:load one.two<Enter>");
	assert_int_equal(f.session->state.begin_ns, kept.begin_ns);
	assert_int_equal(f.session->state.end_ns, kept.end_ns);
	assert_int_equal(f.session->state.cursor_ns, kept.cursor_ns);
	assert_int_equal(f.session->state.node, kept.node);
	assert_int_equal(f.session->state.depth, 4);
	assert_false(f.session->state.is_auto);
	assert_ptr_equal(f.session->pane, &view_summary);
	press(&f, ":load nothing<Enter>");
	assert_non_null(strstr(f.session->message, "no view"));
	press(&f, ":save ../up<Enter>");
	assert_non_null(strstr(f.session->message, "name is made of"));
	close_session(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_saved),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, make, end_world);
}
