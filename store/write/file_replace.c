/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_replace.c - writes a file beside the writer's and renames it over that. Until it is complete it has
 * no name, so a killed process leaves nothing; where the file system lacks unnamed files (O_TMPFILE), it has
 * a name that no reader opens.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store/base/filesystem.h"
#include "store/file/file_internal.h"
#include "store/write/page_size.h"

static const char *name_of(const struct store_file *file)
{
	const char *slash = strrchr(file->path, '/');

	return slash ? slash + 1 : file->path;
}

static bool has_its_name(const struct store_file *file)
{
	struct stat facts;

	return fstatat(file->directory, name_of(file), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
	       facts.st_dev == file->device && facts.st_ino == file->inode;
}

static char *hidden_name(const struct store_file *file)
{
	char *hidden;

	return asprintf(&hidden, ".%s", name_of(file)) < 0 ? NULL : hidden;
}

static int open_beside(const struct store_file *file, const char *hidden, bool *is_named)
{
	int fd = openat(file->directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	*is_named = fd < 0;
	if (fd < 0) {
		unlinkat(file->directory, hidden, 0); /* of a writer that was killed */
		fd = openat(file->directory, hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	}
	return fd;
}

/* Where other machines may read the file, the file that they have open must keep its name; and two files at
 * once must not fill the disk. */
static bool may_be_replaced(const struct store_file *file, uint64_t bytes)
{
	struct statvfs disk;
	bool is_remote;

	return store_filesystem_of(file->fd, &is_remote) && !is_remote && fstatvfs(file->fd, &disk) == 0 &&
	       disk.f_frsize && disk.f_bavail > bytes / disk.f_frsize;
}

/* LMDB opens by a path: this one leads to the file whatever its name. */
static struct store_file *file_of(int fd)
{
	char path[64];
	struct store_file *file;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	file = store_file_new(path);
	if (file)
		file->fd = fd;
	return file;
}

/* Nobody else knows the file: it needs no locks, and is synced once it is whole. */
static int make_env(struct store_file *file, uint64_t bytes, uint32_t page_bytes)
{
	uint8_t first[2 * STORE_PAGE_BYTES_MAX];
	size_t first_bytes = 2 * (size_t)page_bytes;

	file->map_bytes = (size_t)bytes;
	store_pages_begin(first, page_bytes, bytes);
	if (pwrite(file->fd, first, first_bytes, 0) != (ssize_t)first_bytes)
		return errno ? errno : ENOSPC;
	int rc = store_file_identify(file) ? store_file_env_open(file, (size_t)bytes, MDB_NOLOCK | MDB_NOSYNC)
					   : EINVAL;

	return rc == 0 && !store_file_is_in_env(file) ? ENOENT : rc; /* /proc may not be what it should */
}

/* Owner and mode. Whoever changes them while the file is synced has meant the run, not the one file: called
 * again once the name leads here. */
static int make_alike(const struct store_file *file, const struct store_file *as)
{
	struct stat facts, own;

	if (fstat(as->fd, &facts) != 0 || fstat(file->fd, &own) != 0)
		return errno;
	if ((own.st_uid != facts.st_uid || own.st_gid != facts.st_gid) &&
		fchown(file->fd, facts.st_uid, facts.st_gid) != 0)
		return errno;
	return fchmod(file->fd, facts.st_mode & 07777) == 0 ? 0 : errno;
}

static int make_durable(const struct store_file *file, const struct store_file *as)
{
	int rc = make_alike(file, as);

	return rc ? rc : mdb_env_sync(file->env, 1);
}

static int take_name(
	const struct store_file *file, const struct store_file *of, const char *hidden, bool is_named)
{
	int rc = 0;

	if (!has_its_name(of))
		return ENOENT;
	if (!is_named) {
		unlinkat(of->directory, hidden, 0);
		if (linkat(AT_FDCWD, file->path, of->directory, hidden, AT_SYMLINK_FOLLOW) != 0)
			return errno;
	}
	if (renameat(of->directory, hidden, of->directory, name_of(of)) != 0) {
		rc = errno;
		unlinkat(of->directory, hidden, 0);
	}
	return rc;
}

/* The lock file belonged to the old file. A reader that has the old file open keeps the lock file open too;
 * neither is written any more, and new readers need no lock. */
static void drop_lock(const struct store_file *of)
{
	char *lock;

	if (asprintf(&lock, "%s-lock", name_of(of)) < 0)
		return;
	unlinkat(of->directory, lock, 0);
	free(lock);
}

/* A name that the disk does not know yet leads to the file before, whose last commit was not synced. */
static void make_name_durable(const struct store_file *of)
{
	int fd = openat(of->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

bool store_file_replace(struct store_file *file, uint64_t map_bytes, uint32_t page_bytes,
	int (*fill)(struct store_file *by, void *own, struct error *error), void *own)
{
	char *hidden = may_be_replaced(file, map_bytes) ? hidden_name(file) : NULL;
	bool is_named = false;
	int fd = hidden ? open_beside(file, hidden, &is_named) : -1;
	struct store_file *by = fd < 0 ? NULL : file_of(fd);
	struct error error;
	bool is_replaced = false;

	if (!by)
		goto close_fd;
	fd = -1; /* the file's */
	store_file_register(by);
	is_replaced = make_env(by, map_bytes, page_bytes) == 0 && fill(by, own, &error) == 0 &&
		      make_durable(by, file) == 0 && take_name(by, file, hidden, is_named) == 0;
	if (is_replaced) {
		make_alike(by, file);
		drop_lock(file);
		make_name_durable(file);
	}
	store_file_close(by);
close_fd:
	if (fd >= 0)
		close(fd);
	if (is_named && !is_replaced)
		unlinkat(file->directory, hidden, 0);
	free(hidden);
	return is_replaced;
}
