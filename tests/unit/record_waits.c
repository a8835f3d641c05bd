/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_waits.c - which path a blocked span gets: a wrapper's before one from outside, and that only if it
 * was found while the span lasted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/waits.h"

enum { OUTSIDE = 7, WRAPPER = 8 };

static void test_a_look_counts_for_what_lasted(void **state)
{
	struct waits waits = {0};

	(void)state;
	waits_looked(&waits, 100, 150, OUTSIDE);
	assert_int_equal(waits_context(&waits, 100, STORE_OPEN_NS), OUTSIDE);
	assert_int_equal(waits_context(&waits, 100, 150), OUTSIDE);
	/* It woke up before, and slept elsewhere as it was looked at. */
	assert_int_equal(waits_context(&waits, 100, 149), STORE_CONTEXT_NONE);
	assert_int_equal(waits_context(&waits, 120, 200), STORE_CONTEXT_NONE);
	assert_int_equal(waits_context(&waits, 90, 200), STORE_CONTEXT_NONE);
	waits_fini(&waits);
}

static void test_a_wrapper_knows_better(void **state)
{
	struct waits waits = {0};

	(void)state;
	waits_looked(&waits, 100, 150, OUTSIDE);
	waits_add(&waits, 90, 210, WRAPPER);
	assert_int_equal(waits_context(&waits, 100, 200), WRAPPER);
	waits_fini(&waits);
}

/* All that the thread does is part of the call that it was found in. */
static void test_a_wait_under_way(void **state)
{
	struct waits waits = {0};

	(void)state;
	waits_look(&waits, 100);
	waits_looked(&waits, 100, 150, OUTSIDE);
	assert_int_equal(waits_context(&waits, 110, 120), OUTSIDE);
	waits_look(&waits, 0);
	assert_int_equal(waits_context(&waits, 110, 120), STORE_CONTEXT_NONE);
	waits_fini(&waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_look_counts_for_what_lasted),
		cmocka_unit_test(test_a_wrapper_knows_better),
		cmocka_unit_test(test_a_wait_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
