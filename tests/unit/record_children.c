/* SPDX-License-Identifier: Apache-2.0 */
/* record_children.c - children that a program only tells of: what it costs to look at them has an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/collect/children.h"

#define TOLD 1000u

/* One that lives, again and again. */
static void test_made_up_children_are_numbered(void **state)
{
	static struct measured_process process;
	struct children children = {0};

	(void)state;
	process.pid = (uint32_t)getpid();
	process.children = calloc(TOLD, sizeof(*process.children));
	assert_non_null(process.children);
	for (uint32_t i = 0; i < TOLD; i++)
		process.children[i] = (struct measured_process_child){process.pid, EVENT_FORK_CHILD, 1};
	for (uint32_t i = 0; i < 100; i++) {
		process.child_count = TOLD;
		children_announce(&children, &process, NULL, 0);
		assert_int_equal(process.child_count, 0);
	}
	assert_in_range(children.waiting_count, TOLD, 65536);
	children_fini(&children);
	free(process.children);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_made_up_children_are_numbered)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
