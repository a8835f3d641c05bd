/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_dividing.c - which frames stand above the picture: the same whoever asks, closed towards the root, and
 * never a frame below which a thread does nearly nothing; depths below them are numbers on each path.
 */
#include "tests/unit/tui_world.h"

#include "timeline/sum/dividing.h"
#include "timeline/sum/window.h"

static int make(void **state)
{
	(void)state;
	return begin_world(20000, 5);
}

static void find(struct run *run, struct dividing *dividing)
{
	struct error error;

	if (dividing_find(run, run_begin_ns(run), run_end_ns(run), dividing, &error))
		fail_msg("%s", error.text);
}

static void test_is_stable(void **state)
{
	struct dividing first, again;
	struct run *run;

	(void)state;
	open_run(&run, run_a);
	find(run, &first);
	find(run, &again);
	assert_true(first.is_changed && !again.is_changed);
	assert_true(first.count > 0 && first.count == again.count && first.depth == again.depth);
	for (uint32_t i = 0; i < first.count; i++) {
		assert_true(first.levels[i] >= 1 && first.levels[i] == again.levels[i]);
		assert_int_equal(dividing_levels(&first, first.streams[i]), first.levels[i]);
	}
	dividing_fini(&first);
	dividing_fini(&again);
	run_close(run);
}

/* A depth below is one number on each path, and steps go down one by one. */
static void check_path(struct run *run, uint32_t scope)
{
	uint32_t number = run_depth_of(run, scope, run_depth_below(0));

	assert_true(number >= 1);
	assert_int_equal(run_scope_at(run, scope, run_depth_below(0)), run_scope_at(run, scope, number));
	assert_int_equal(run_depth_of(run, scope, run_depth_below(2)), number + 2);
	assert_int_equal(run_depth_of(run, scope, run_depth_below(-1000)), 1);
	assert_int_equal(run_depth_of(run, scope, 3), 3);
	if (run_scope_is_kernel(run, scope)) {
		assert_int_equal(run_scope_at(run, scope, run_depth_below(0)), scope);
		return;
	}
	/* callers have the same frames above them, up to their own end */
	for (uint32_t at = scope; run_scope(run, at)->depth >= number; at = run_scope(run, at)->parent)
		assert_int_equal(run_depth_of(run, at, run_depth_below(0)), number);
}

static void test_depths(void **state)
{
	struct dividing dividing;
	struct run *run;
	uint32_t deep = 0;

	(void)state;
	open_run(&run, run_a);
	find(run, &dividing);
	for (uint32_t c = 1; c < run_context_count(run); c++) {
		uint32_t scope = run_context(run, c)->scope;
		if (scope == UINT32_MAX)
			continue;
		check_path(run, scope);
		deep += run_depth_of(run, scope, run_depth_below(0)) > 1;
	}
	assert_true(deep > 0);
	dividing_fini(&dividing);
	run_close(run);
}

/* Without frames above, a depth below is a plain one. */
static void test_none(void **state)
{
	struct error error;
	struct run *run;
	bool is_changed;

	(void)state;
	open_run(&run, run_a);
	for (uint32_t c = 1; c < run_context_count(run); c++)
		if (run_context(run, c)->scope != UINT32_MAX &&
			!run_scope_is_kernel(run, run_context(run, c)->scope))
			assert_int_equal(
				run_depth_of(run, run_context(run, c)->scope, run_depth_below(0)), 1);
	assert_int_equal(run_set_passing(run, NULL, 0, &is_changed, &error), 0);
	assert_false(is_changed);
	run_close(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_stable), cmocka_unit_test(test_depths), cmocka_unit_test(test_none)};

	return cmocka_run_group_tests(tests, make, end_world);
}
