/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_write.c - an LMDB file for its writer: creates, maps, enlarges, copies it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/file/file_internal.h"

#define MAP_WRITER_BYTES ((size_t)1 << 40)
#define MAP_LEAST_BYTES ((size_t)1 << 22)

/* The writer's view of its readers' slots. Mapped before LMDB opens the file: no descriptor of it may be
 * closed later. Where it cannot be had, sleeping readers make the file grow, and that is all. */
static void lock_map(struct store_file *file)
{
	char *lock;
	void *map;
	int fd;

	if (file->slow.slots || store_file_lock_reserve(file->path) ||
		asprintf(&lock, "%s-lock", file->path) < 0)
		return;
	fd = open(lock, O_RDWR | O_CLOEXEC);
	free(lock);
	if (fd < 0)
		return;
	map = mmap(NULL, STORE_LOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map != MAP_FAILED)
		file->slow = (struct store_stale_readers){.slots = map, .slot_bytes = STORE_LOCK_BYTES};
}

unsigned store_file_give_up(struct store_file *file, uint64_t patience_ns)
{
	return store_stale_readers_give_up(&file->slow, file->env, patience_ns);
}

/* May that much more address space be had? LMDB gives its old map up before it asks for the new one. */
static bool can_map(size_t more)
{
	void *probe = mmap(NULL, more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (probe == MAP_FAILED)
		return false;
	munmap(probe, more);
	return true;
}

static bool is_limited(void)
{
	struct rlimit space;

	return getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
}

/* The map is address space, not memory; where `ulimit -v` forbids so much, a smaller one will grow. It takes
 * half of what there is at most: the writer has to live on the rest. Where nothing is limited nothing is
 * tried in vain, either: qemu's user mode keeps books of each page of a map. */
static int env_open_writer(struct store_file *file)
{
	int rc = ENOMEM;

	lock_map(file);
	for (size_t bytes = MAP_WRITER_BYTES; rc == ENOMEM && bytes >= MAP_LEAST_BYTES; bytes /= 2) {
		if (bytes > MAP_LEAST_BYTES && is_limited() && !can_map(2 * bytes))
			continue;
		rc = store_file_env_open(file, bytes, MDB_NOMETASYNC);
		file->map_bytes = bytes;
	}
	return rc;
}

static int create_error(const char *path, struct error *error)
{
	if (errno == EEXIST)
		return error_set(
			error, ERROR_IO, "'%s' is already there; give another name or remove it", path);
	return error_set(
		error, ERROR_IO, "cannot create '%s': %s%s", path, strerror(errno), error_place(errno));
}

int store_file_create(struct store_file **file_out, const char *path, struct error *error)
{
	struct store_file *file = store_file_new(path);
	int rc;

	if (!file)
		return error_memory(error);
	file->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file->fd < 0) {
		rc = create_error(path, error);
		store_file_free(file);
		return rc;
	}
	file->directory = store_file_directory_open(path);
	rc = store_file_identify(file) ? env_open_writer(file) : EINVAL;
	if (rc) {
		rc = store_file_failed(file, "create", rc, error);
		unlink(path);
		store_file_free(file);
		return rc;
	}
	store_file_register(file);
	*file_out = file;
	return 0;
}

int store_file_grow(struct store_file *file, struct error *error)
{
	size_t more = file->map_bytes;
	int rc;

	while (more >= MAP_LEAST_BYTES / 16 && !can_map(2 * more))
		more /= 2;
	if (more < MAP_LEAST_BYTES / 16)
		return error_set(error, ERROR_IO,
			"'%s' cannot grow beyond %zu MiB: the address space is limited; raise `ulimit -v`",
			file->path, file->map_bytes >> 20);
	more = more >> 16 << 16;
	rc = mdb_env_set_mapsize(file->env, file->map_bytes + more);
	if (rc)
		return store_file_failed(file, "enlarge the map of", rc, error);
	file->map_bytes += more;
	return 0;
}

static int copy_into(const struct store_file *file, const char *beside)
{
	int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), rc;

	if (fd < 0)
		return errno;
	rc = mdb_env_copyfd2(file->env, fd, MDB_CP_COMPACT);
	if (!rc && fsync(fd) != 0)
		rc = errno;
	if (close(fd) != 0 && !rc)
		rc = errno;
	return rc;
}

int store_file_copy(const struct store_file *file, const char *path, struct error *error)
{
	const char *slash = strrchr(path, '/');
	int directory = slash ? (int)(slash - path) + 1 : 0, rc;
	char *beside;

	if (asprintf(&beside, "%.*s.%s", directory, path, path + directory) < 0)
		return error_memory(error);
	rc = copy_into(file, beside);
	if (!rc && rename(beside, path) != 0)
		rc = errno;
	if (rc) {
		unlink(beside);
		rc = error_set(
			error, ERROR_IO, "cannot copy '%s' to '%s': %s", file->path, path, mdb_strerror(rc));
	}
	free(beside);
	return rc;
}
