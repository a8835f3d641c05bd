/* SPDX-License-Identifier: Apache-2.0 */
/* cached.c - see cached.h. */
#include "store/cached.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096

char *store_cached_directory(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int size = -1;

	if (base && base[0] == '/')
		size = asprintf(&path, "%s/hpct", base);
	else if (home && home[0] == '/')
		size = asprintf(&path, "%s/.cache/hpct", home);
	return size < 0 ? NULL : path;
}

void store_cached_make(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700); /* there already, as a rule; if it cannot be, nothing is kept */
		*slash = '/';
	}
}

int store_cached_open(const char *path, size_t most, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
		status.st_size > 0 && (uint64_t)status.st_size <= most) {
		*size = (size_t)status.st_size;
		return fd;
	}
	close(fd);
	return -1;
}

uint8_t *store_cached_read(const char *path, size_t most, size_t *size)
{
	size_t wanted = 0, done = 0;
	int fd = store_cached_open(path, most, &wanted);
	uint8_t *bytes = fd < 0 ? NULL : malloc(wanted);
	ssize_t part = 1;

	while (bytes && done < wanted && part > 0) {
		part = read(fd, bytes + done, wanted - done);
		done += part > 0 ? (size_t)part : 0;
	}
	if (fd >= 0)
		close(fd);
	*size = done;
	return bytes;
}

void store_cached_replace(const char *path, const struct store_bytes *bytes)
{
	char temporary[PATH_BYTES + 32];
	size_t done = 0;
	ssize_t part = 1;
	int fd;

	if (snprintf(temporary, sizeof temporary, "%s.%d", path, getpid()) >= (int)sizeof temporary)
		return;
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	while (done < bytes->size && part > 0) {
		part = write(fd, bytes->data + done, bytes->size - done);
		done += part > 0 ? (size_t)part : 0;
	}
	if (close(fd) || done < bytes->size || rename(temporary, path))
		unlink(temporary);
}
