/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - opens LMDB files and takes snapshots. A file is looked at before LMDB is, because LMDB
 * believes what its first pages say.
 */
#include "store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/place.h"
#include "store/store.h"

#define MAP_WRITER_BYTES ((size_t)1 << 40)
#define MAP_LEAST_BYTES ((size_t)1 << 24)
#define READERS_MAX 510u
#define LOCK_BYTES 32768 /* that many readers */
#define HEAD_BYTES (2u * 65536u)
#define RENEW_TRIES 64
#define UNHELD_COMMITS 2 /* LMDB gives out what the last commit but one freed */

struct store_file {
	MDB_env *env; /* NULL: archived */
	struct store_packed *packed;
	char *path;
	int fd; /* for mapping; LMDB has its own */
	dev_t device;
	ino_t inode;
	pid_t owner; /* LMDB's environments do not survive a fork: a child opens its own */
	unsigned users;
	bool is_packed;	  /* known before it is opened */
	size_t map_bytes; /* of the writer */
	struct store_slow slow;
	struct store_file *next;
};

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

struct store_packed *store_file_packed(const struct store_file *file)
{
	return file->packed;
}

int store_file_failed(const struct store_file *file, const char *doing, int code, struct error *error)
{
	const char *advice = "";

	if (code == ENOSPC || code == EDQUOT || code == EFBIG)
		advice = "; make room on the disk, what was committed before is safe";
	else if (code == EIO) /* LMDB's word for a write that was cut short, too */
		advice = "; the disk is full or fails: make room, what was committed before is safe";
	else if (code == ENOLCK || code == ENOTSUP)
		advice = "; put the run on a local disk";
	return error_set(
		error, ERROR_IO, "cannot %s '%s': %s%s", doing, file->path, mdb_strerror(code), advice);
}

static struct store_file *file_new(const char *path)
{
	struct store_file *file = calloc(1, sizeof *file);

	if (!file)
		return NULL;
	file->fd = -1;
	file->users = 1;
	file->owner = getpid();
	file->path = strdup(path);
	if (file->path)
		return file;
	free(file);
	return NULL;
}

static void file_free(struct store_file *file)
{
	if (file->env)
		mdb_env_close(file->env);
	if (file->slow.slots)
		munmap(file->slow.slots, file->slow.slot_bytes);
	store_packed_close(file->packed);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file);
}

static bool file_identify(struct store_file *file)
{
	struct stat facts;

	if (fstat(file->fd, &facts) != 0 || !S_ISREG(facts.st_mode))
		return false;
	file->device = facts.st_dev;
	file->inode = facts.st_ino;
	return true;
}

static void file_register(struct store_file *file)
{
	file->next = files;
	files = file;
}

void store_file_close(struct store_file *file)
{
	struct store_file **link = &files;

	pthread_mutex_lock(&files_lock);
	if (--file->users == 0) {
		while (*link != file)
			link = &(*link)->next;
		*link = file->next;
		file_free(file);
	}
	pthread_mutex_unlock(&files_lock);
}

/* LMDB maps its lock file and writes to it: on a full disk that would be a signal. So a new one gets its
 * bytes first. One that is there is not touched: closing it would drop the locks that this process has on it.
 */
static int lock_reserve(const char *path)
{
	char *lock;
	int fd, rc = 0;

	if (asprintf(&lock, "%s-lock", path) < 0)
		return ENOMEM;
	fd = open(lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0) {
		rc = posix_fallocate(fd, 0, LOCK_BYTES);
		if (rc == ENOSPC || rc == EDQUOT)
			unlink(lock);
		else
			rc = 0; /* LMDB makes it as long as it needs */
		close(fd);
	}
	free(lock);
	return rc;
}

/* The writer's view of its readers' slots. Mapped before LMDB opens the file: no descriptor of it may be
 * closed later. Where it cannot be had, sleeping readers make the file grow, and that is all. */
static void lock_map(struct store_file *file)
{
	char *lock;
	void *map;
	int fd;

	if (file->slow.slots || lock_reserve(file->path) || asprintf(&lock, "%s-lock", file->path) < 0)
		return;
	fd = open(lock, O_RDWR | O_CLOEXEC);
	free(lock);
	if (fd < 0)
		return;
	map = mmap(NULL, LOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map != MAP_FAILED)
		file->slow = (struct store_slow){.slots = map, .slot_bytes = LOCK_BYTES};
}

unsigned store_file_give_up(struct store_file *file, uint64_t patience_ns)
{
	return store_slow_give_up(&file->slow, file->env, patience_ns);
}

/* A new environment; LMDB wants a fresh one after each failed open. */
static int env_open(struct store_file *file, size_t map_bytes, unsigned flags)
{
	int rc = flags & MDB_NOLOCK ? 0 : lock_reserve(file->path);

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

/* ---- the writer's side ---- */

/* The map is address space, not memory; where `ulimit -v` forbids so much, a smaller one will grow. */
static int env_open_writer(struct store_file *file)
{
	int rc = ENOMEM;

	lock_map(file);
	for (size_t bytes = MAP_WRITER_BYTES; rc == ENOMEM && bytes >= MAP_LEAST_BYTES; bytes /= 2) {
		rc = env_open(file, bytes, MDB_NOMETASYNC);
		file->map_bytes = bytes;
	}
	return rc;
}

static int create_error(const char *path, struct error *error)
{
	if (errno == EEXIST)
		return error_set(
			error, ERROR_IO, "'%s' is already there; give another name or remove it", path);
	return error_set(error, ERROR_IO, "cannot create '%s': %s", path, strerror(errno));
}

int store_file_create(struct store_file **file_out, const char *path, struct error *error)
{
	struct store_file *file = file_new(path);
	int rc;

	if (!file)
		return error_memory(error);
	file->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file->fd < 0) {
		rc = create_error(path, error);
		file_free(file);
		return rc;
	}
	rc = file_identify(file) ? env_open_writer(file) : EINVAL;
	if (rc) {
		rc = store_file_failed(file, "create", rc, error);
		unlink(path);
		file_free(file);
		return rc;
	}
	pthread_mutex_lock(&files_lock);
	file_register(file);
	pthread_mutex_unlock(&files_lock);
	*file_out = file;
	return 0;
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

int store_file_grow(struct store_file *file, struct error *error)
{
	size_t more = file->map_bytes;
	int rc;

	while (more >= MAP_LEAST_BYTES / 16 && !can_map(more))
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
		rc = store_packed_is(head, (size_t)size)
			     ? 0
			     : store_pages_check(
				       head, (size_t)size, (uint64_t)facts.st_size, file->path, error);
	file->is_packed = size > 0 && store_packed_is(head, (size_t)size);
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

/* The first pages are looked at as those of any other. */
static int open_packed(struct store_file *file, struct error *error)
{
	uint64_t size;
	int rc = store_packed_open(&file->packed, file->fd, file->path, error);

	if (rc)
		return rc;
	size = store_packed_size(file->packed);
	if (!store_packed_need(file->packed, 0, size < HEAD_BYTES ? size : HEAD_BYTES))
		return error_set(error, ERROR_RUN, "'%s': %s", file->path, store_packed_why(file->packed));
	return store_pages_check(store_packed_bytes(file->packed), size < HEAD_BYTES ? size : HEAD_BYTES,
		size, file->path, error);
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

/* Will nobody write this file any more? `is_copy`: of a store that lies elsewhere. */
static bool is_settled(const struct store_file *file, bool *is_copy)
{
	char text[PATH_MAX + 512];
	struct store_pages pages;
	size_t bytes = store_file_bytes(file);
	void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file->fd, 0);
	bool is_settled = false;

	*is_copy = false;
	if (map == MAP_FAILED)
		return false;
	if (store_pages_open(&pages, map, bytes, UINT64_MAX, file->path, NULL, NULL) == 0) {
		fact_get(&pages, STORE_META_COPIED, text, sizeof text);
		*is_copy = text[0] && !is_at(file, text);
		fact_get(&pages, "state", text, sizeof text);
		is_settled = *is_copy || strcmp(text, "complete") == 0;
	}
	munmap(map, bytes);
	return is_settled;
}

/* On a file system of several machines a finished store is opened without locks, which need not work there;
 * so is a copy, whose lock file may be that of the copy before it. So it is where the lock file cannot be
 * written: the store is finished, or damage will be seen by the checksums. */
static int env_open_reader(struct store_file *file, struct error *error)
{
	bool is_remote, is_copy;
	unsigned flags = 0;
	int rc;

	if (file->is_packed)
		return open_packed(file, error);
	store_place_of(file->fd, &is_remote);
	if (is_settled(file, &is_copy) && (is_remote || is_copy))
		flags = MDB_NOLOCK;
	rc = env_open(file, store_file_bytes(file), MDB_RDONLY | flags);
	if (rc == ENOSPC || rc == EDQUOT || rc == EACCES || rc == EPERM || rc == EROFS || rc == ENOENT ||
		rc == ENOLCK || rc == ENOTSUP)
		rc = env_open(file, store_file_bytes(file), MDB_RDONLY | MDB_NOLOCK);
	if (rc)
		return error_set(error, ERROR_RUN, "cannot open '%s': %s", file->path, mdb_strerror(rc));
	return 0;
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
		file_free(*file);
		*file = shared;
	} else {
		rc = env_open_reader(*file, error);
		if (!rc)
			file_register(*file);
	}
	pthread_mutex_unlock(&files_lock);
	return rc;
}

int store_file_open(struct store_file **file_out, const char *path, struct error *error)
{
	struct store_file *file = file_new(path);
	int rc;

	if (!file)
		return error_memory(error);
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0) {
		rc = error_set(error, ERROR_RUN, "cannot open '%s': %s%s", path, strerror(errno),
			errno == EACCES ? "; its owner can let others read it: chmod -R go+rX" : "");
		goto free_file;
	}
	if (!file_identify(file)) {
		rc = error_set(error, ERROR_RUN, "'%s' is not a store of hpct (not a file)", path);
		goto free_file;
	}
	rc = look_at_head(file, error);
	rc = rc ? rc : open_or_share(&file, error);
	if (rc)
		goto free_file;
	*file_out = file;
	return 0;
free_file:
	file_free(file);
	return rc;
}

/* ---- snapshots ---- */

static int txn_renew(struct store_snapshot *snapshot)
{
	MDB_env *env = snapshot->file->env;
	int rc;

	if (snapshot->txn) {
		mdb_txn_reset(snapshot->txn);
		rc = mdb_txn_renew(snapshot->txn);
	} else {
		rc = mdb_txn_begin(env, NULL, MDB_RDONLY, &snapshot->txn);
	}
	if (rc == MDB_MAP_RESIZED) {
		/* The file has outgrown LMDB's map, which nobody reads through: only its limit matters. */
		pthread_mutex_lock(&files_lock);
		mdb_env_set_mapsize(env, 2 * store_file_bytes(snapshot->file));
		pthread_mutex_unlock(&files_lock);
		return EAGAIN;
	}
	return rc;
}

static int map_file(struct store_snapshot *snapshot, struct error *error)
{
	size_t bytes = store_file_bytes(snapshot->file);
	void *map;

	if (bytes <= snapshot->map_bytes)
		return 0;
	map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, snapshot->file->fd, 0);
	if (map == MAP_FAILED)
		return error_set(
			error, ERROR_IO, "cannot map '%s': %s", snapshot->file->path, strerror(errno));
	if (snapshot->map)
		munmap(snapshot->map, snapshot->map_bytes);
	snapshot->map = map;
	snapshot->map_bytes = bytes;
	return 0;
}

/* Forked children (timeline/share.h) look on what their parent holds. */
static bool moment_is_held(void *holder, uint64_t transaction)
{
	const struct store_file *file = holder;

	return store_slow_is_held(file->env, file->owner, transaction);
}

static int open_pages(struct store_snapshot *snapshot, struct error *error)
{
	int rc = map_file(snapshot, error);
	unsigned flags = 0;

	if (rc)
		return rc;
	rc = store_pages_open(&snapshot->pages, snapshot->map, snapshot->map_bytes, mdb_txn_id(snapshot->txn),
		snapshot->file->path, NULL, error);
	mdb_env_get_flags(snapshot->file->env, &flags);
	snapshot->pages.is_held = moment_is_held;
	snapshot->pages.holder = snapshot->file;
	snapshot->pages.sure = flags & MDB_NOLOCK ? UNHELD_COMMITS : STORE_MOMENT_COMMITS;
	return rc;
}

/* The first word of the format is looked at before anything that another version may have changed. */
static int check_version(struct store_snapshot *snapshot, struct error *error)
{
	const char *path = snapshot->file->path;
	char text[32] = "";
	struct store_slice value;
	struct store_input input;
	unsigned major;
	int rc = store_tree_get(&snapshot->pages, &snapshot->trees[STORE_TREE_META], STORE_FORMAT_KEY,
		strlen(STORE_FORMAT_KEY), &value, error);

	if (rc < 0)
		return rc;
	if (rc == 0)
		return error_set(
			error, ERROR_RUN, "'%s' is not a store of hpct (it has no format version)", path);
	input = store_input_sealed(value, STORE_FORMAT_KEY, strlen(STORE_FORMAT_KEY));
	if (input.bad || input.end - input.at >= (ptrdiff_t)sizeof text)
		return error_set(error, ERROR_RUN, "'%s' is damaged (its format version)", path);
	memcpy(text, input.at, (size_t)(input.end - input.at));
	if (sscanf(text, "%u.", &major) != 1)
		return error_set(error, ERROR_RUN, "'%s' is damaged (its format version)", path);
	if (major <= STORE_FORMAT_MAJOR)
		return 0;
	return error_set(error, ERROR_RUN,
		"'%s' was written by a newer hpct (format %s, this one reads up to %u.x); install a newer "
		"hpct",
		path, text, STORE_FORMAT_MAJOR);
}

static int open_trees(struct store_snapshot *snapshot, struct error *error)
{
	int rc = store_tree_open(
		&snapshot->trees[STORE_TREE_META], &snapshot->pages, tree_names[STORE_TREE_META], error);

	rc = rc ? rc : check_version(snapshot, error);
	for (unsigned tree = 0; tree < STORE_TREE_ROLL && !rc; tree++)
		rc = store_tree_open(&snapshot->trees[tree], &snapshot->pages, tree_names[tree], error);
	for (unsigned tree = STORE_TREE_ROLL; tree < STORE_TREE_COUNT && !rc; tree++)
		rc = store_tree_open_optional(
			&snapshot->trees[tree], &snapshot->pages, tree_names[tree], error);
	return rc;
}

/* An archive has one moment: its last. */
static int packed_renew(struct store_snapshot *snapshot, struct error *error)
{
	struct store_packed *packed = snapshot->file->packed;

	if (snapshot->pages.packed)
		return 0;
	if (store_pages_open(&snapshot->pages, store_packed_bytes(packed), store_packed_size(packed),
		    UINT64_MAX, snapshot->file->path, packed, error))
		return error_set(error, ERROR_RUN,
			"'%s' is damaged (its first pages); restore it from a copy", snapshot->file->path);
	return open_trees(snapshot, error);
}

int store_snapshot_renew(struct store_snapshot *snapshot, struct error *error)
{
	int rc = 1;

	if (snapshot->file->packed)
		return packed_renew(snapshot, error);
	for (int i = 0; i < RENEW_TRIES && rc == 1; i++) {
		rc = txn_renew(snapshot);
		if (rc == EAGAIN)
			rc = 1;
		else if (rc)
			return error_set(error, ERROR_IO, "cannot read '%s': %s", snapshot->file->path,
				rc == MDB_READERS_FULL ? "too many readers at once; close some"
						       : mdb_strerror(rc));
		else
			rc = open_pages(snapshot, error);
	}
	if (rc == 1)
		return error_set(error, ERROR_RUN, "'%s' is damaged (its transactions do not fit its pages)",
			snapshot->file->path);
	return rc ? rc : open_trees(snapshot, error);
}

void store_snapshot_end(struct store_snapshot *snapshot)
{
	if (snapshot->txn)
		mdb_txn_abort(snapshot->txn);
	if (snapshot->map)
		munmap(snapshot->map, snapshot->map_bytes);
	*snapshot = (struct store_snapshot){0};
}
