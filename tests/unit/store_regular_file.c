/* SPDX-License-Identifier: Apache-2.0 */
/* store_regular_file.c - regular files are opened; of others no open is to be seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "store/base/regular_file.h"

static char directory[] = "/tmp/hpct-regular-XXXXXX";

static const char *place(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void test_regular(void **unused)
{
	struct stat status;
	char text[8] = "";
	int fd = open(place("file"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)unused;
	assert_int_equal(write(fd, "hpct", 4), 4);
	close(fd);
	fd = regular_file_open(place("file"), O_NOFOLLOW, &status);
	assert_true(fd >= 0);
	assert_int_equal(status.st_size, 4);
	assert_int_equal(read(fd, text, sizeof(text)), 4);
	assert_string_equal(text, "hpct");
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

static void test_links(void **unused)
{
	struct stat status;
	int fd;

	(void)unused;
	assert_int_equal(symlink("file", place("link")), 0);
	fd = regular_file_open(place("link"), 0, &status);
	assert_true(fd >= 0);
	assert_true(S_ISREG(status.st_mode));
	close(fd);
	assert_int_equal(regular_file_open(place("link"), O_NOFOLLOW, &status), -1);
	assert_int_equal(regular_file_open(place("none"), 0, &status), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(regular_file_open(directory, 0, &status), -1);
	assert_int_equal(errno, EINVAL);
}

/* A writer that waits for a reader would go on, once the pipe is opened for reading. */
static void test_pipe_is_not_opened(void **unused)
{
	int seen = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;
	char events[4096];
	struct stat status;

	(void)unused;
	assert_int_equal(mkfifo(place("pipe"), 0600), 0);
	assert_true(seen >= 0 && inotify_add_watch(seen, place("pipe"), IN_OPEN) >= 0);
	assert_int_equal(regular_file_open(place("pipe"), 0, &status), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(read(seen, events, sizeof(events)), -1);
	fd = open(place("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(read(seen, events, sizeof(events)) > 0); /* that would have been seen */
	close(fd);
	close(seen);
}

static int directory_make(void **unused)
{
	(void)unused;
	return mkdtemp(directory) ? 0 : -1;
}

static int directory_remove(void **unused)
{
	static const char *const names[] = {"file", "link", "pipe"};

	(void)unused;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(place(names[i]));
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regular),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_pipe_is_not_opened),
	};

	return cmocka_run_group_tests(tests, directory_make, directory_remove);
}
