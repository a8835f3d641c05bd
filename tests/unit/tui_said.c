/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every key of the help does something that can be seen, or says why it cannot; panes without a stream say
 * what helps.
 */
#include "tests/unit/tui_world.h"

#include "tui/models/profile_page.h"

#include <locale.h>

#include "tui/models/blame_page.h"

/* Nothing to see where there is nothing to end, to leave or to choose anew. */
static bool may_be_silent(enum keys_action action)
{
	return action == KEYS_DO_CANCEL || action == KEYS_DO_REDRAW || action == KEYS_DO_QUIT ||
	       action == KEYS_DO_AUTO || action == KEYS_DO_SHOW_ALL || action == KEYS_DO_TIMELINE;
}

/* The cursor on a row that has others on both sides. */
static void choose_row(struct fixture *f, bool is_group)
{
	const struct rows *rows = &f->session->rows;

	for (uint32_t row = 1; row + 1 < rows->shown_count; row++) {
		if (rows_is_group(&rows->nodes[rows->shown[row]]) == is_group) {
			session_set_row(f->session, row);
			return;
		}
	}
	fail_msg("the run has no such row");
}

/* In a zoomed window, the cursor in its middle, where all of them have room. */
static void press_all(bool is_group)
{
	size_t count, size = sizeof(struct grid_cell) * ROWS * COLUMNS;
	const struct keys_line *lines = keys_lines(&count);
	struct grid_cell *cells = malloc(size);
	unsigned pressed = 0;

	assert_non_null(cells);
	for (size_t i = 0; i < count; i++) {
		for (const struct keys_binding *b = lines[i].bindings; b->key; b++) {
			struct fixture f;
			if (may_be_silent(b->action))
				continue;
			open_one(&f);
			press(&f, "LLLLww");
			choose_row(&f, is_group);
			f.session->message[0] = '\0';
			draw(&f);
			memcpy(cells, f.grid.cells, size);
			session_key(f.session, b->key);
			draw(&f);
			pressed++;
			if (!f.session->message[0] && memcmp(cells, f.grid.cells, size) == 0)
				fail_msg("%s row, key %u (%s): nothing is to be seen",
					is_group ? "a group's" : "a stream's", b->key, lines[i].help);
			close_session(&f);
		}
	}
	assert_true(pressed > 70);
	free(cells);
}

static void test_stream(void **state)
{
	(void)state;
	press_all(false);
}

static void test_group(void **state)
{
	(void)state;
	press_all(true);
}

/* All groups folded: panes say what helps, and nothing is covered of nothing. */
static void test_folded(void **state)
{
	static const char *const panes[] = {"", "3"};

	(void)state;
	for (size_t i = 0; i < sizeof(panes) / sizeof(panes[0]); i++) {
		struct fixture f;
		open_one(&f);
		press(&f, "C");
		press(&f, panes[i]);
		if (!grid_has(&f, SESSION_NO_STREAM))
			fail_msg("pane '%s' does not say why it is empty", panes[i]);
		assert_true(grid_has(&f, "coverage - "));
		close_session(&f);
	}
}

static double profile_sum(struct fixture *f)
{
	assert_true(profile_page_take(f->session, f->session->profile));
	return outline_value(&f->session->profile->outline, 0, 0);
}

/* The profile is of all rows, however many the terminal shows; only a filter or hiding takes some out. */
static void test_profile_rows(void **state)
{
	struct error error;
	struct fixture f;
	struct grid low;
	uint64_t lost_ns;
	double sum;

	(void)state;
	open_one(&f);
	press(&f, "w6");
	sum = profile_sum(&f);
	lost_ns = session_take_coverage(f.session).lost_ns;
	assert_true(lost_ns > 0);
	assert_true(sum > 0);
	assert_int_equal(grid_init(&low, 14, COLUMNS, false), 0);
	assert_int_equal(session_draw(f.session, &low, 0, &error), 0);
	assert_true(profile_sum(&f) == sum);
	assert_int_equal(session_take_coverage(f.session).lost_ns, lost_ns);
	grid_fini(&low);
	press(&f, "qC6");
	assert_true(profile_sum(&f) == sum);
	assert_int_equal(session_take_coverage(f.session).lost_ns, lost_ns);
	press(&f, "q&rank=0<Enter>6");
	assert_true(profile_sum(&f) < sum);
	close_session(&f);
}

/* A new column, a moved one and one that is shown again scroll into view. */
static void test_column_in_view(void **state)
{
	struct fixture f;

	(void)state;
	open_one(&f);
	press(&f, "60:metric one = $0<Enter>:metric two = $1<Enter>:metric three = $0 / 2<Enter>"
		  ":metric four = $0 / 4<Enter>:metric fifth = $0 / 5<Enter>");
	assert_true(grid_has(&f, "$6 fifth")); /* the number that formulas take */
	assert_false(grid_has(&f, "CPUTIME (I)"));
	press(&f, ":move 0 0<Enter>");
	assert_true(grid_has(&f, "$0 CPUTIME (I)"));
	assert_false(grid_has(&f, "fifth"));
	press(&f, ":columns 6<Enter>:columns 6<Enter>");
	assert_true(grid_has(&f, "fifth"));
	press(&f, "><lt>"); /* the sort column again */
	assert_true(grid_has(&f, "CPUTIME (I)"));
	close_session(&f);
}

/* A duration has its unit, as with --min: 5 alone was seconds, and hid all gaps. */
static void test_min(void **state)
{
	struct fixture f;

	(void)state;
	open_one(&f);
	press(&f, ":min 20us<Enter>");
	assert_string_equal(f.session->message, "");
	press(&f, ":min 5<Enter>");
	assert_non_null(strstr(f.session->message, "needs a duration"));
	assert_int_equal(f.session->blame->min_ns, 20000);
	close_session(&f);
}

static int make(void **state)
{
	(void)state;
	return begin_world(20000, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_stream), cmocka_unit_test(test_group),
		cmocka_unit_test(test_folded), cmocka_unit_test(test_profile_rows),
		cmocka_unit_test(test_column_in_view), cmocka_unit_test(test_min)};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, make, end_world);
}
