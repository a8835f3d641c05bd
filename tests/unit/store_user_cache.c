/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_user_cache.c - files of the user's cache are replaced as a whole, and writers who are killed leave
 * nothing behind for long; what others are writing is left alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/base/user_cache.h"

static char place[] = "/tmp/hpct-cached.XXXXXX";

static const char *at(const char *name)
{
	static char path[300];

	snprintf(path, sizeof path, "%s/%s", place, name);
	return path;
}

static void replace(const char *name, const char *text)
{
	struct store_bytes bytes = {0};

	store_bytes_put(&bytes, text, strlen(text) + 1);
	store_user_cache_replace(at(name), &bytes);
	store_bytes_fini(&bytes);
}

static void check(const char *name, const char *text)
{
	size_t size;
	uint8_t *bytes = store_user_cache_read(at(name), 1000, &size);
	struct stat status;

	assert_non_null(bytes);
	assert_string_equal((char *)bytes, text);
	assert_int_equal(stat(at(name), &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	free(bytes);
}

static int touch(const char *name)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	return fd;
}

static bool is_there(const char *name)
{
	struct stat status;

	return !lstat(at(name), &status);
}

static unsigned entries(void)
{
	DIR *directory = opendir(place);
	unsigned count = 0;

	assert_non_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 2;
}

static void test_it_takes_the_place(void **state)
{
	(void)state;
	replace("one", "first");
	check("one", "first");
	replace("one", "second");
	check("one", "second");
	assert_int_equal(entries(), 1);
}

static void test_leftovers_go(void **state)
{
	int living = touch("one.30");

	(void)state;
	assert_int_equal(flock(living, LOCK_EX), 0);
	close(touch("one.29"));
	close(touch("two.4194304"));
	close(touch("three.3x"));
	close(touch("four."));
	close(touch(".5"));
	assert_int_equal(mkdir(at("five.5"), 0700), 0);
	assert_int_equal(symlink("one", at("six.6")), 0);
	replace("one", "third");
	check("one", "third");
	assert_false(is_there("one.29"));
	assert_false(is_there("two.4194304"));
	assert_true(is_there("one.30")); /* somebody writes it */
	assert_true(is_there("three.3x"));
	assert_true(is_there("four."));
	assert_true(is_there(".5"));
	assert_true(is_there("five.5"));
	assert_true(is_there("six.6"));
	close(living);
	replace("one", "fourth");
	assert_false(is_there("one.30"));
}

/* A directory behind a link may hold anything. */
static void test_links_are_left_alone(void **state)
{
	(void)state;
	assert_int_equal(mkdir(at("real"), 0700), 0);
	assert_int_equal(symlink("real", at("linked")), 0);
	close(touch("real/lib.so.7"));
	replace("linked/one", "fifth");
	check("real/one", "fifth");
	assert_true(is_there("real/lib.so.7"));
	replace("real/one", "sixth");
	assert_false(is_there("real/lib.so.7"));
}

/* In the middle of the file: it may be no longer than that. */
static void die_writing(void)
{
	const struct rlimit limit = {5000, 5000}, no_core = {0, 0};
	struct store_bytes bytes = {0};

	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_FSIZE, &limit);
	memset(store_bytes_reserve(&bytes, 100000), 1, 100000);
	bytes.size = 100000;
	store_user_cache_replace(at("one"), &bytes);
	_exit(0);
}

static void test_who_is_killed_leaves_nothing(void **state)
{
	unsigned before = entries();
	pid_t child = fork();
	int status;

	(void)state;
	if (!child)
		die_writing();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
	check("one", "fourth");
	replace("two", "other");
	assert_int_equal(entries(), before + 1);
}

static void test_no_home_is_made(void **state)
{
	char *directory, wanted[300];

	(void)state;
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", place, 1);
	directory = store_user_cache_directory();
	snprintf(wanted, sizeof wanted, "%s/.cache/hpct", place);
	assert_string_equal(directory, wanted);
	free(directory);
	setenv("HOME", at("missing"), 1);
	assert_null(store_user_cache_directory());
	setenv("XDG_CACHE_HOME", place, 1);
	directory = store_user_cache_directory();
	snprintf(wanted, sizeof wanted, "%s/hpct", place);
	assert_string_equal(directory, wanted);
	free(directory);
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(place) ? 0 : -1;
}

static int end(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", place);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_takes_the_place),
		cmocka_unit_test(test_leftovers_go),
		cmocka_unit_test(test_links_are_left_alone),
		cmocka_unit_test(test_who_is_killed_leaves_nothing),
		cmocka_unit_test(test_no_home_is_made),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
