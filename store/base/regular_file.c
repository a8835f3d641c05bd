/* SPDX-License-Identifier: Apache-2.0 */
/* regular_file.c - see regular_file.h. */
#include "store/base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define READING (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

static bool is_same(int fd, const struct stat *status)
{
	struct stat now;

	return !fstat(fd, &now) && S_ISREG(now.st_mode) && now.st_dev == status->st_dev &&
	       now.st_ino == status->st_ino;
}

/* Where /proc is not mounted another file may stand at the path by now: only that one is opened. */
static int path_reopen(const char *path, int flags, const struct stat *status)
{
	int fd = open(path, READING | flags);

	if (fd >= 0 && !is_same(fd, status)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

static int reopen(int place, const char *path, int flags, const struct stat *status)
{
	char own[32];
	int fd;

	snprintf(own, sizeof(own), "/proc/self/fd/%d", place);
	fd = open(own, READING);
	return fd < 0 && errno == ENOENT ? path_reopen(path, flags, status) : fd;
}

int regular_file_open(const char *path, int flags, struct stat *status)
{
	int place = open(path, O_PATH | O_CLOEXEC | flags), fd = -1, error;

	if (place < 0)
		return -1;
	if (fstat(place, status))
		error = errno;
	else if (!S_ISREG(status->st_mode))
		error = EINVAL;
	else {
		fd = reopen(place, path, flags, status);
		error = errno;
	}
	close(place);
	errno = error;
	return fd;
}
