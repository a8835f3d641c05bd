/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - the LMDB files that this process has open, and opening them for reading. Checks a file before
 * LMDB opens it, because LMDB trusts its first pages.
 */
#include "store/file/file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/base/filesystem.h"
#include "store/store.h"

#define READERS_MAX 510u
#define HEAD_BYTES (2u * 65536u)
#define OPEN_TRIES 16
#define REPLACED 1 /* while it was opened; no code of an error */

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static struct store_file *files;

static const char *const tree_names[] = {
#define X(name, text) text,
	STORE_TREES(X)
#undef X
};

const char *store_tree_name(enum store_tree_id tree)
{
	return tree_names[tree];
}

MDB_env *store_file_env(const struct store_file *file)
{
	return file->env;
}

const char *store_file_path(const struct store_file *file)
{
	return file->path;
}

struct store_archive_pages *store_file_packed(const struct store_file *file)
{
	return file->packed;
}

int store_file_failed(const struct store_file *file, const char *doing, int code, struct error *error)
{
	bool is_place = code > 0 && code != ENOLCK && code != ENOTSUP && !strcmp(doing, "create");

	return error_set(error, ERROR_IO, "cannot %s '%s': %s%s", doing, file->path, mdb_strerror(code),
		is_place ? error_place(code) : error_growth(code));
}

struct store_file *store_file_new(const char *path)
{
	struct store_file *file = calloc(1, sizeof *file);

	if (!file)
		return NULL;
	file->fd = file->directory = -1;
	file->users = 1;
	file->owner = getpid();
	file->path = strdup(path);
	if (file->path)
		return file;
	free(file);
	return NULL;
}

void store_file_free(struct store_file *file)
{
	if (file->env)
		mdb_env_close(file->env);
	if (file->slow.slots)
		munmap(file->slow.slots, file->slow.slot_bytes);
	store_archive_pages_close(file->packed);
	if (file->fd >= 0)
		close(file->fd);
	if (file->directory >= 0)
		close(file->directory);
	free(file->path);
	free(file);
}

bool store_file_identify(struct store_file *file)
{
	struct stat facts;

	if (fstat(file->fd, &facts) != 0 || !S_ISREG(facts.st_mode))
		return false;
	file->device = facts.st_dev;
	file->inode = facts.st_ino;
	return true;
}

static void list(struct store_file *file)
{
	file->next = files;
	files = file;
}

void store_file_register(struct store_file *file)
{
	pthread_mutex_lock(&files_lock);
	list(file);
	pthread_mutex_unlock(&files_lock);
}

void store_file_close(struct store_file *file)
{
	struct store_file **link = &files;

	pthread_mutex_lock(&files_lock);
	if (--file->users == 0) {
		while (*link != file)
			link = &(*link)->next;
		*link = file->next;
		store_file_free(file);
	}
	pthread_mutex_unlock(&files_lock);
}

/* LMDB maps its lock file and writes to it: on a full disk that would be a signal. So a new one gets its
 * bytes first. One that is there is not touched: closing it would drop the locks that this process has on it.
 */
int store_file_lock_reserve(const char *path)
{
	char *lock;
	int fd, rc = 0;

	if (asprintf(&lock, "%s-lock", path) < 0)
		return ENOMEM;
	fd = open(lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0) {
		rc = posix_fallocate(fd, 0, STORE_LOCK_BYTES);
		if (rc == ENOSPC || rc == EDQUOT)
			unlink(lock);
		else
			rc = 0; /* LMDB makes it as long as it needs */
		close(fd);
	}
	free(lock);
	return rc;
}

int store_file_env_open(struct store_file *file, size_t map_bytes, unsigned flags)
{
	int rc = flags & MDB_NOLOCK ? 0 : store_file_lock_reserve(file->path);

	rc = rc ? rc : mdb_env_create(&file->env);
	if (rc) {
		file->env = NULL;
		return rc;
	}
	mdb_env_set_maxdbs(file->env, STORE_TREE_COUNT + 7);
	mdb_env_set_maxreaders(file->env, READERS_MAX);
	mdb_env_set_mapsize(file->env, map_bytes);
	rc = mdb_env_open(file->env, file->path, MDB_NOSUBDIR | MDB_NOTLS | flags, 0600);
	if (rc) {
		mdb_env_close(file->env);
		file->env = NULL;
	}
	return rc;
}

/* ---- the readers' side ---- */

static int look_at_head(struct store_file *file, struct error *error)
{
	uint8_t *head = malloc(HEAD_BYTES);
	struct stat facts;
	ssize_t size;
	int rc;

	if (!head)
		return error_memory(error);
	size = pread(file->fd, head, HEAD_BYTES, 0);
	if (size < 0 || fstat(file->fd, &facts) != 0)
		rc = error_set(error, ERROR_RUN, "cannot read '%s': %s", file->path, strerror(errno));
	else
		rc = store_archive_pages_is(head, (size_t)size)
			     ? 0
			     : store_pages_check(
				       head, (size_t)size, (uint64_t)facts.st_size, file->path, error);
	file->is_packed = size > 0 && store_archive_pages_is(head, (size_t)size);
	free(head);
	return rc;
}

bool store_file_is_replaced(const struct store_file *file)
{
	struct stat facts;

	return stat(file->path, &facts) == 0 && (facts.st_dev != file->device || facts.st_ino != file->inode);
}

uint64_t store_file_bytes(const struct store_file *file)
{
	struct stat facts;

	return fstat(file->fd, &facts) == 0 ? (uint64_t)facts.st_size : 0;
}

/* Checks the first pages like those of any other file. */
static int open_packed(struct store_file *file, struct error *error)
{
	uint64_t size;
	int rc = store_archive_pages_open(&file->packed, file->fd, file->path, error);

	if (rc)
		return rc;
	size = store_archive_pages_size(file->packed);
	if (!store_archive_pages_need(file->packed, 0, size < HEAD_BYTES ? size : HEAD_BYTES))
		return error_set(
			error, ERROR_RUN, "'%s': %s", file->path, store_archive_pages_why(file->packed));
	return store_pages_check(store_archive_pages_bytes(file->packed),
		size < HEAD_BYTES ? size : HEAD_BYTES, size, file->path, error);
}

/* A fact's text, "" when it is not there. */
static void fact_get(const struct store_pages *pages, const char *key, char *text, size_t room)
{
	struct store_tree meta;
	struct store_slice value;
	struct store_input input;

	text[0] = '\0';
	if (store_tree_open(&meta, pages, tree_names[STORE_TREE_META], NULL) ||
		store_tree_get(pages, &meta, key, strlen(key), &value, NULL) != 1)
		return;
	input = store_input_sealed(value, key, strlen(key));
	if (!input.bad && (size_t)(input.end - input.at) < room)
		snprintf(text, room, "%.*s", (int)(input.end - input.at), (const char *)input.at);
}

static bool is_at(const struct store_file *file, const char *path)
{
	struct stat facts;

	return stat(path, &facts) == 0 && facts.st_dev == file->device && facts.st_ino == file->inode;
}

/* True when no writer exists and the lock file beside the store belongs to an older file: for a copy of a
 * store elsewhere, and for a compacted store. On a file system of several machines locks may not work; a
 * finished store there needs none either. */
static bool needs_no_lock(const struct store_file *file)
{
	char text[PATH_MAX + 512];
	struct store_pages pages;
	size_t bytes = store_file_bytes(file);
	void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file->fd, 0);
	bool is_settled = false, is_remote;

	if (map == MAP_FAILED)
		return false;
	madvise(map, bytes, MADV_RANDOM); /* some pages, far apart */
	store_filesystem_of(file->fd, &is_remote);
	if (store_pages_open(&pages, map, bytes, UINT64_MAX, file->path, NULL, NULL) == 0) {
		fact_get(&pages, STORE_META_COPIED, text, sizeof text);
		is_settled = text[0] && !is_at(file, text);
		fact_get(&pages, STORE_META_SETTLED, text, sizeof text);
		is_settled |= text[0] != '\0';
		fact_get(&pages, "state", text, sizeof text);
		is_settled |= is_remote && strcmp(text, "complete") == 0;
	}
	munmap(map, bytes);
	return is_settled;
}

bool store_file_is_in_env(const struct store_file *file)
{
	struct stat facts;
	int fd;

	return mdb_env_get_fd(file->env, &fd) == 0 && fstat(fd, &facts) == 0 &&
	       facts.st_dev == file->device && facts.st_ino == file->inode;
}

static int open_failed(const struct store_file *file, int code, struct error *error)
{
	bool is_ours = code == EMFILE || code == ENFILE || code == ENOMEM; /* the run may be sound */
	const char *name = strrchr(file->path, '/');

	if (code == EACCES)
		return error_set(error, ERROR_RUN,
			"cannot open '%s': %s; its owner can let others read it: chmod -R go+rX %.*s",
			file->path, strerror(code), (int)(name ? name - file->path : 1),
			name ? file->path : ".");
	return error_set(error, is_ours ? ERROR_IO : ERROR_RUN, "cannot open '%s': %s%s", file->path,
		mdb_strerror(code), is_ours ? error_place(code) : "");
}

/* Where the lock file cannot be written, the store is opened without, too: it is finished, or damage will be
 * seen by the checksums. */
static int env_open_reader(struct store_file *file, struct error *error)
{
	unsigned flags;
	int rc;

	if (file->is_packed)
		return open_packed(file, error);
	flags = MDB_RDONLY | (needs_no_lock(file) ? MDB_NOLOCK : 0);
	rc = store_file_env_open(file, store_file_bytes(file), flags);
	if (rc == ENOSPC || rc == EDQUOT || rc == EACCES || rc == EPERM || rc == EROFS || rc == ENOENT ||
		rc == ENOLCK || rc == ENOTSUP)
		rc = store_file_env_open(file, store_file_bytes(file), MDB_RDONLY | MDB_NOLOCK);
	if (rc)
		return open_failed(file, rc, error);
	return store_file_is_in_env(file) ? 0 : REPLACED;
}

static struct store_file *find_shared(const struct store_file *same)
{
	for (struct store_file *file = files; file; file = file->next)
		if (file->device == same->device && file->inode == same->inode && file->owner == same->owner)
			return file;
	return NULL;
}

static int open_or_share(struct store_file **file, struct error *error)
{
	struct store_file *shared;
	int rc = 0;

	pthread_mutex_lock(&files_lock);
	shared = find_shared(*file);
	if (shared) {
		shared->users++;
		store_file_free(*file);
		*file = shared;
	} else {
		rc = env_open_reader(*file, error);
		if (!rc)
			list(*file);
	}
	pthread_mutex_unlock(&files_lock);
	return rc;
}

static int try_open(struct store_file **file_out, const char *path, struct error *error)
{
	struct store_file *file = store_file_new(path);
	int rc;

	if (!file)
		return error_memory(error);
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0) {
		rc = open_failed(file, errno, error);
		goto free_file;
	}
	if (!store_file_identify(file)) {
		rc = error_set(error, ERROR_RUN,
			"'%s' is not a store of hpct (not a file); take it out of the run", path);
		goto free_file;
	}
	rc = look_at_head(file, error);
	rc = rc ? rc : open_or_share(&file, error);
	if (rc)
		goto free_file;
	*file_out = file;
	return 0;
free_file:
	store_file_free(file);
	return rc;
}

int store_file_open(struct store_file **file, const char *path, struct error *error)
{
	int rc = REPLACED;

	for (int i = 0; i < OPEN_TRIES && rc == REPLACED; i++)
		rc = try_open(file, path, error);
	if (rc == REPLACED)
		return error_set(
			error, ERROR_RUN, "cannot open '%s': it is replaced all the time; ask again", path);
	return rc;
}

/* Nobody reads through the map: only its limit matters. */
void store_file_raise_limit(struct store_file *file)
{
	pthread_mutex_lock(&files_lock);
	mdb_env_set_mapsize(file->env, 2 * store_file_bytes(file));
	pthread_mutex_unlock(&files_lock);
}

/* By its directory's descriptor: the run may have been moved, or removed and another one made in its place.
 */
int store_file_directory_open(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = directory ? open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	free(directory);
	return fd;
}
