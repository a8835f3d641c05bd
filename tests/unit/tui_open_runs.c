/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_open_runs.c - several runs open in one view: each keeps its own place, one that is open is not opened
 * again, what cannot be opened leaves all as it was; the list of runs tells them; a second run taken into the
 * comparison and another after it leaves no row of the first behind.
 */
#include "tests/unit/tui_world.h"

#include "tui/models/compare.h"
#include "tui/models/open_runs.h"
#include "tui/models/profile_page.h"
#include "tui/models/runs_page.h"

static char run_b[64];

static int make(void **state)
{
	(void)state;
	return begin_world(4000, 7) || make_run(run_b, "b", 5, 4000, 11) || chdir(directory);
}

static void open_several(struct fixture *f, struct open_runs *open)
{
	struct run_options options = {.no_cache = true};

	open_session(f, NULL, (struct session_looks){.colours = 256});
	open_runs_init(open, f->session, &options);
	draw(f);
}

static void close_several(struct fixture *f, struct open_runs *open)
{
	open_runs_fini(open);
	run_close(f->run);
	grid_fini(&f->grid);
}

static void press_on(struct fixture *f, struct open_runs *open, const char *keys)
{
	uint32_t key;
	size_t size;

	for (; (size = keys_parse(keys, &key)) > 0; keys += size) {
		session_key(f->session, key);
		f->session = open_runs_settle(open);
		draw(f);
	}
}

/* As typed ahead: no picture in between. */
static void press_at_once(struct fixture *f, struct open_runs *open, const char *keys)
{
	uint32_t key;
	size_t size;

	for (; (size = keys_parse(keys, &key)) > 0; keys += size) {
		session_key(f->session, key);
		f->session = open_runs_settle(open);
		session_settle(f->session);
	}
	draw(f);
}

static const char *name_of(const struct fixture *f)
{
	return compare_base_name(f->session->run);
}

static void test_places(void **state)
{
	struct open_runs open;
	struct fixture f;
	struct view_state kept;

	(void)state;
	open_several(&f, &open);
	press_on(&f, &open, "wwjjll");
	kept = f.session->state;
	press_on(&f, &open, ":open b.hpct/<Enter>");
	assert_string_equal(name_of(&f), "b.hpct");
	assert_int_equal(open.count, 2);
	press_on(&f, &open, "0wE:open b.hpct<Enter>"); /* it is there */
	assert_int_equal(open.count, 2);
	press_on(&f, &open, ":open ./b.hpct<Enter>");
	assert_int_equal(open.count, 2);
	press_on(&f, &open, ":open nothing.hpct<Enter>");
	assert_string_equal(name_of(&f), "b.hpct");
	assert_non_null(strstr(f.session->message, "no such run"));
	press_on(&f, &open, "R"); /* of b's directory, which is this one */
	assert_int_equal(f.session->runs->count, 2);
	assert_non_null(f.session->runs->entries[0].command[0] ? f.session->runs : NULL);
	press_on(&f, &open, ":close<Enter>");
	assert_int_equal(open.count, 1);
	assert_string_equal(name_of(&f), "a.hpct");
	assert_int_equal(f.session->state.begin_ns, kept.begin_ns);
	assert_int_equal(f.session->state.cursor_ns, kept.cursor_ns);
	assert_int_equal(f.session->state.node, kept.node);
	press_on(&f, &open, ":close<Enter>");
	assert_int_equal(open.count, 1);
	assert_non_null(strstr(f.session->message, "no other run"));
	close_several(&f, &open);
}

/* A run that was never drawn is acted on like any other. */
static void test_ahead(void **state)
{
	struct open_runs open;
	struct fixture f;

	(void)state;
	open_several(&f, &open);
	press_at_once(&f, &open, ":open b.hpct<Enter>vlll");
	assert_string_equal(name_of(&f), "b.hpct");
	assert_true(f.session->state.has_range);
	assert_true(f.session->state.cursor_ns > f.session->state.range_ns);
	close_several(&f, &open);
}

/* What is open is marked in the list, however its path was written. */
static void test_marks(void **state)
{
	struct open_runs open;
	struct fixture f;
	uint32_t marks[2] = {0};
	char away[128];

	(void)state;
	open_several(&f, &open);
	snprintf(away, sizeof(away), ":open ../%s/b.hpct<Enter>", strrchr(directory, '/') + 1);
	press_on(&f, &open, away);
	assert_int_equal(open.count, 2);
	press_on(&f, &open, ":open a.hpct<Enter>:compare ./b.hpct<Enter>R");
	for (int row = 0; row < ROWS; row++) {
		const struct grid_cell *cells = &f.grid.cells[row * COLUMNS];
		for (int run = 0; run < 2; run++)
			if (cells[3].rune == (uint32_t)("ab"[run]) && cells[4].rune == '.' &&
				cells[5].rune == 'h')
				marks[run] = cells[1].rune;
	}
	assert_int_equal(marks[0], '*');
	assert_int_equal(marks[1], '+');
	close_several(&f, &open);
}

/* By the list: open, go back, close the other. */
static void test_list(void **state)
{
	struct open_runs open;
	struct fixture f;

	(void)state;
	open_several(&f, &open);
	press_on(&f, &open, "R");
	assert_ptr_equal(f.session->full, &view_runs);
	for (size_t i = 0; i < 2; i++) /* the cursor is on the one that is shown */
		assert_int_equal(
			strstr(f.session->runs->found[i].path, "a.hpct") != NULL, i == f.session->runs->line);
	press_on(&f, &open, f.session->runs->line ? "k<Enter>" : "j<Enter>");
	assert_string_equal(name_of(&f), "b.hpct");
	press_on(&f, &open, "R");
	press_on(&f, &open, f.session->runs->line ? "kx" : "jx");
	assert_int_equal(open.count, 1);
	assert_string_equal(name_of(&f), "b.hpct");
	press_on(&f, &open, "<Esc>w");
	assert_null(f.session->full);
	close_several(&f, &open);
}

static void test_comparison(void **state)
{
	struct open_runs open;
	struct fixture f;

	(void)state;
	open_several(&f, &open);
	press_on(&f, &open, ":compare b.hpct<Enter>6P");
	assert_true(profile_page_is_merged(f.session));
	assert_int_equal(f.session->profile->outline.profile.metric_count, 3);
	press_on(&f, &open, ":compare a.hpct<Enter>6");
	assert_true(f.session->profile->outline.profile.count > 1);
	for (size_t i = 0; i < f.session->profile->outline.profile.count; i++) /* a run beside itself */
		assert_true(f.session->profile->outline.profile.rows[i].inclusive[2].real == 0);
	press_on(&f, &open, "<Tab>");
	assert_int_equal(f.session->profile->outline.profile.metric_count, 1);
	press_on(&f, &open, "t");
	close_several(&f, &open);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_marks), cmocka_unit_test(test_list), cmocka_unit_test(test_comparison)};

	return cmocka_run_group_tests(tests, make, end_world);
}
