/* SPDX-License-Identifier: Apache-2.0 */
/* user_cache.c - see user_cache.h. */
#include "store/base/user_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096

char *store_user_cache_directory(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct stat status;
	char *path = NULL;
	int size = -1;

	/* Do not create a missing home directory: the user `nobody` has none. */
	if (base && base[0] == '/')
		size = asprintf(&path, "%s/hpct", base);
	else if (home && home[0] == '/' && !stat(home, &status))
		size = asprintf(&path, "%s/.cache/hpct", home);
	return size < 0 ? NULL : path;
}

void store_user_cache_make(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700); /* there already, as a rule; if it cannot be, nothing is kept */
		*slash = '/';
	}
}

int store_user_cache_open(const char *path, size_t most, size_t *size)
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

uint8_t *store_user_cache_read(const char *path, size_t most, size_t *size)
{
	size_t wanted = 0, done = 0;
	int fd = store_user_cache_open(path, most, &wanted);
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

/* "NAME.NUMBER", the temporary name used when NAME is replaced. */
static bool is_temporary(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot > name && dot[1] && dot[1 + strspn(dot + 1, "0123456789")] == '\0';
}

/* Who writes a file holds its lock: of one that can be had, the writer was killed. */
static void leftover_remove(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;

	if (fd < 0)
		return;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
		!flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(directory, name, 0);
	close(fd);
}

/* Ignores links and other users' files: such names may be anything. */
static void leftovers_remove(const char *place)
{
	int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat status;
	DIR *directory;
	struct dirent *entry;

	if (fd < 0)
		return;
	directory = !fstat(fd, &status) && status.st_uid == geteuid() ? fdopendir(fd) : NULL;
	if (!directory)
		close(fd);
	while (directory && (entry = readdir(directory)))
		if (is_temporary(entry->d_name))
			leftover_remove(dirfd(directory), entry->d_name);
	if (directory)
		closedir(directory);
}

/* An unlinked file (O_TMPFILE), where the file system supports it: a killed process leaves nothing. */
static int temporary_open(const char *place, const char *temporary, bool *has_name)
{
	int fd = open(place, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);

	*has_name = fd < 0;
	if (fd < 0)
		fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

static bool name_give(int fd, const char *temporary)
{
	char self[32];

	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	return !linkat(AT_FDCWD, self, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW);
}

static bool write_all(int fd, const struct store_bytes *bytes)
{
	size_t done = 0;
	ssize_t part = 1;

	while (done < bytes->size && part > 0) {
		part = write(fd, bytes->data + done, bytes->size - done);
		done += part > 0 ? (size_t)part : 0;
	}
	return done == bytes->size;
}

/* Some file systems tell of what went wrong when a descriptor is closed. */
static bool is_kept(int fd)
{
	int other = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return other >= 0 && !close(other);
}

void store_user_cache_replace(const char *path, const struct store_bytes *bytes)
{
	char temporary[PATH_BYTES + 32], place[PATH_BYTES];
	const char *slash = strrchr(path, '/');
	bool has_name, is_whole;
	int fd;

	if (!slash || slash == path || strlen(path) >= sizeof place)
		return;
	snprintf(place, sizeof place, "%.*s", (int)(slash - path), path);
	snprintf(temporary, sizeof temporary, "%s.%d", path, getpid());
	leftovers_remove(place);
	fd = temporary_open(place, temporary, &has_name);
	if (fd < 0)
		return;
	is_whole = write_all(fd, bytes) && is_kept(fd);
	if (is_whole && !has_name)
		is_whole = has_name = name_give(fd, temporary);
	if (is_whole)
		is_whole = !rename(temporary, path);
	if (!is_whole && has_name)
		unlink(temporary);
	close(fd);
}
