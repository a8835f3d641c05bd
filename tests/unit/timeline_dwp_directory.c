// SPDX-License-Identifier: Apache-2.0
/*
 * unit.timeline.dwp_directory - several processes make and remove directories in one place, each looking
 * for what killed ones have left: none takes another's for a leftover, and in the end nothing is there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "timeline/debug/dwp_directory.h"

#define PROCESSES 4u
#define ROUNDS 200u

static int work(void)
{
	int failed = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct dwp_directory directory;
		struct stat status;

		failed |= dwp_directory_make(&directory) || stat(directory.path, &status);
		dwp_directory_remove(&directory);
	}
	return failed;
}

static void test_side_by_side(void **state)
{
	char above[] = "/tmp/hpct-test-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(above));
	assert_int_equal(setenv("TMPDIR", above, 1), 0);
	for (unsigned i = 0; i < PROCESSES; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			_exit(work());
	}
	for (unsigned i = 0; i < PROCESSES; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(rmdir(above), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_side_by_side)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
